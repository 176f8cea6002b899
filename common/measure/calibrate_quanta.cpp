// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/clock.hpp"
#include "common/measure/calibrate.hpp"
#include "common/measure/statistics.hpp"

#include <algorithm>
#include <cstring>

namespace dlmb::measure {
namespace {

constexpr Nanoseconds quantum_ns = 20'000;  // shorter than a scheduler's slice, long beside a read of the clock
constexpr std::uint64_t first_guess = 1000;
constexpr int tries = 5;

/// A chain of shifts in which each needs the one before (Marsaglia's xorshift64): no unit of the processor can do two
/// of them at once, and none touches memory.
std::uint64_t work(std::uint64_t rounds, std::uint64_t state) {
    for (; rounds > 0; --rounds) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    return state;
}

class Quantum {
public:
    Quantum() {
        while (shortest() < quantum_ns) {
            rounds_ *= 2;
        }
    }
    Nanoseconds time_one() {
        Nanoseconds const begin = now_ns();
        state_ = work(rounds_, state_);
        return now_ns() - begin;
    }

private:
    Nanoseconds shortest() {
        Nanoseconds least = time_one();
        for (int i = 1; i < tries; ++i) {
            least = std::min(least, time_one());
        }
        return least;
    }

    std::uint64_t rounds_ = first_guess;
    std::uint64_t volatile state_ = 88172645463325252ULL;  // any but 0; volatile: the work has to be done
};

struct RankQuanta {
    double median_ns = 0;
    double p99_over_min = 0;
    Nanoseconds largest_detour_ns = 0;
};

RankQuanta repeat(Nanoseconds limit_ns) {
    Quantum quantum;
    std::vector<Nanoseconds> lengths(static_cast<std::size_t>(limit_ns / quantum_ns) + 1);  // written to: no page fault
    std::size_t count = 0;
    for (Nanoseconds const end = now_ns() + limit_ns; count == 0 || (count < lengths.size() && now_ns() < end);) {
        lengths[count++] = quantum.time_one();
    }
    lengths.resize(count);
    std::sort(lengths.begin(), lengths.end());
    auto const least = static_cast<double>(std::max<Nanoseconds>(1, lengths.front()));
    return {median(lengths), static_cast<double>(nearest_rank(lengths, 99)) / least, lengths.back() - lengths.front()};
}

}  // namespace

WorkQuanta calibrate_quanta(Bootstrap& bootstrap, Nanoseconds limit_ns) {
    bootstrap.barrier();
    RankQuanta const mine = repeat(limit_ns);
    WorkQuanta quanta;
    for (Blob const& blob : bootstrap.all_gather(std::as_bytes(std::span(&mine, 1)))) {
        RankQuanta rank;
        std::memcpy(&rank, blob.data(), sizeof rank);
        quanta.median_ns = quanta.p99_over_min.empty() ? rank.median_ns : quanta.median_ns;
        quanta.p99_over_min.push_back(rank.p99_over_min);
        quanta.largest_detour_ns.push_back(rank.largest_detour_ns);
    }
    return quanta;
}

}  // namespace dlmb::measure
