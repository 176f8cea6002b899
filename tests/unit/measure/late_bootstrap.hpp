// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A test double: a real bootstrap whose barrier returns late on this rank when a script says so, as if the system had
// taken the processor away just then.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>
#include <utility>

namespace dlmb::measure::testing {

class LateBootstrap final : public Bootstrap {
public:
    /// `lateness(n)`: how much later the n-th barrier_max returns here.
    LateBootstrap(Bootstrap& inner, std::function<std::chrono::nanoseconds(std::uint64_t)> lateness)
        : inner_(inner), lateness_(std::move(lateness)) {}

    [[nodiscard]] std::string_view kind() const override { return inner_.kind(); }
    [[nodiscard]] Rank rank() const override { return inner_.rank(); }
    [[nodiscard]] int size() const override { return inner_.size(); }
    [[nodiscard]] int local_rank() const override { return inner_.local_rank(); }
    [[nodiscard]] int local_size() const override { return inner_.local_size(); }
    [[nodiscard]] Rank node_leader() const override { return inner_.node_leader(); }
    [[nodiscard]] std::string const& host() const override { return inner_.host(); }
    [[nodiscard]] std::map<std::string, std::string, std::less<>> facts() const override { return inner_.facts(); }
    [[nodiscard]] std::int64_t barrier_max(std::int64_t mine) override {
        std::int64_t const largest = inner_.barrier_max(mine);
        std::this_thread::sleep_for(lateness_(barriers_++));
        return largest;
    }
    [[nodiscard]] std::vector<Blob> all_gather(std::span<std::byte const> mine) override {
        return inner_.all_gather(mine);
    }
    [[nodiscard]] std::vector<PeerBlob> exchange(std::vector<PeerBlob> outgoing) override {
        return inner_.exchange(std::move(outgoing));
    }
    void all_reduce(std::span<std::int64_t> values, Fold fold) override { inner_.all_reduce(values, fold); }
    void broadcast(Blob& blob, Rank root) override { inner_.broadcast(blob, root); }
    void send(Rank peer, std::span<std::byte const> bytes) override { inner_.send(peer, bytes); }
    void receive(Rank peer, std::span<std::byte> bytes) override { inner_.receive(peer, bytes); }
    [[noreturn]] void abort(int exit_code) override { std::_Exit(exit_code); }

private:
    Bootstrap& inner_;
    std::function<std::chrono::nanoseconds(std::uint64_t)> lateness_;
    std::uint64_t barriers_ = 0;
};

}  // namespace dlmb::measure::testing
