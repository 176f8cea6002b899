// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A test double: a real bootstrap, of which a test changes some calls.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

#include <cstdlib>

namespace dlmb {

class ForwardingBootstrap : public Bootstrap {
public:
    explicit ForwardingBootstrap(Bootstrap& real) : real_(real) {}

    [[nodiscard]] std::string_view kind() const override { return real_.kind(); }
    [[nodiscard]] Rank rank() const override { return real_.rank(); }
    [[nodiscard]] int size() const override { return real_.size(); }
    [[nodiscard]] int local_rank() const override { return real_.local_rank(); }
    [[nodiscard]] int local_size() const override { return real_.local_size(); }
    [[nodiscard]] Rank node_leader() const override { return real_.node_leader(); }
    [[nodiscard]] std::string const& host() const override { return real_.host(); }
    [[nodiscard]] std::map<std::string, std::string, std::less<>> facts() const override { return real_.facts(); }
    [[nodiscard]] std::int64_t barrier_max(std::int64_t mine) override { return real_.barrier_max(mine); }
    [[nodiscard]] std::vector<Blob> all_gather(std::span<std::byte const> mine) override {
        return real_.all_gather(mine);
    }
    [[nodiscard]] std::vector<PeerBlob> exchange(std::vector<PeerBlob> outgoing) override {
        return real_.exchange(std::move(outgoing));
    }
    void all_reduce(std::span<std::int64_t> values, Fold fold) override { real_.all_reduce(values, fold); }
    void broadcast(Blob& blob, Rank root) override { real_.broadcast(blob, root); }
    void send(Rank peer, std::span<std::byte const> bytes) override { real_.send(peer, bytes); }
    void receive(Rank peer, std::span<std::byte> bytes) override { real_.receive(peer, bytes); }
    [[noreturn]] void abort(int exit_code) override { std::_Exit(exit_code); }

private:
    Bootstrap& real_;
};

}  // namespace dlmb
