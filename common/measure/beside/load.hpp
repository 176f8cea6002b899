// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Work of a program that communicates (--beside): a thread beside each rank multiplies matrices or copies memory while
// cells are measured. The times of cells say how much it slows the traffic; the figures here say how much the traffic
// slows it. It makes no call of a transport, and the rank's thread neither waits for it nor shares a lock with it.
#pragma once

#include "common/bootstrap/bootstrap.hpp"
#include "common/formats/record/cell_identity.hpp"
#include "common/formats/record/cell_result.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string_view>
#include <thread>
#include <vector>

namespace dlmb::measure {

/// One thread that works from start() to stop(). It takes no signals.
class BackgroundLoad {
public:
    /// `units`: processing units that the thread may run on; empty: those of the caller. `cache_bytes`: the largest
    /// cache; 0: not known.
    BackgroundLoad(record::Load kind, std::vector<int> units, Bytes cache_bytes);

    /// Returns when the thread works: the memory that it copies is written. Throws Error where there is none.
    void start();
    void stop() noexcept;
    /// Since it was made: multiply-adds, or bytes copied.
    [[nodiscard]] std::uint64_t done() const { return done_.load(std::memory_order_relaxed); }
    [[nodiscard]] record::Load kind() const { return kind_; }

private:
    void work(std::stop_token const& stop);
    void multiply(std::stop_token const& stop);
    void copy(std::stop_token const& stop);
    void add(std::uint64_t more) { done_.store(done() + more, std::memory_order_relaxed); }  // of its thread alone

    record::Load kind_;
    std::vector<int> units_;
    Bytes half_bytes_;                     // of `memory_`, which is copied from one half to the other and back
    std::unique_ptr<std::byte[]> memory_;  // from the first start on
    bool written_ = false;                 // by the thread
    static constexpr std::size_t line_bytes = 64;
    alignas(line_bytes) std::atomic<std::uint64_t> done_{0};
    std::atomic<bool> works_{false};
    std::jthread thread_;  // ends before what it uses
};

/// The loads that the cells of a launch may have, of one rank.
class BackgroundLoads {
public:
    /// Collective. A load runs where its rank may run, but on no processing unit on which a rank of the node is now; or
    /// where that leaves nothing on another one than its own rank, or on the same.
    BackgroundLoads(Bootstrap& bootstrap, Bytes cache_bytes);

    [[nodiscard]] BackgroundLoad& of(record::Load kind) { return kind == record::Load::compute ? compute_ : memory_; }
    /// Whether the loads of this rank run where a rank does.
    [[nodiscard]] bool shares_units() const { return choice_.shared; }

    struct Choice {
        std::vector<int> units;
        bool shared = false;  // with a rank
    };
    /// `allowed`: to this rank. `own`: where it is. `taken`: where the ranks of its node are.
    [[nodiscard]] static Choice choose(std::vector<int> const& allowed, int own, std::vector<int> const& taken);

private:
    Choice choice_;
    BackgroundLoad compute_;
    BackgroundLoad memory_;
};

/// A load works while this lives; nullptr: none does.
class LoadVisit {
public:
    explicit LoadVisit(BackgroundLoad* load) : load_(load) {
        if (load_ != nullptr) {
            load_->start();
        }
    }
    LoadVisit(LoadVisit const&) = delete;
    LoadVisit(LoadVisit&&) = delete;
    LoadVisit& operator=(LoadVisit const&) = delete;
    LoadVisit& operator=(LoadVisit&&) = delete;
    ~LoadVisit() {
        if (load_ != nullptr) {
            load_->stop();
        }
    }

private:
    BackgroundLoad* load_;
};

/// The rate of the load of one cell.
class LoadLog {
public:
    /// `beside`: of the identity of the cell.
    LoadLog(BackgroundLoads* loads, std::string_view beside);

    [[nodiscard]] BackgroundLoad* load() const { return load_; }
    /// Collective. Without traffic: all ranks sleep meanwhile.
    void measure_alone(Bootstrap& bootstrap);
    /// Outside the timed region, right before and right behind samples.
    void begin() { beside_.begin(load_); }
    void end() { beside_.end(load_); }

    /// Collective. Rates are means over ranks. Empty without a load; without a slowdown where it did nothing
    /// beside samples.
    [[nodiscard]] std::vector<record::Figure> over_ranks(Bootstrap& bootstrap) const;

private:
    struct Spell {
        std::uint64_t done = 0;
        Nanoseconds lasted_ns = 0;
        void begin(BackgroundLoad const* load);
        void end(BackgroundLoad const* load);
        [[nodiscard]] double per_second() const;
    };

    BackgroundLoad* load_ = nullptr;
    bool shared_ = false;
    Spell alone_;
    Spell beside_;
};

}  // namespace dlmb::measure
