// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What the plugin answers, whatever version of the interface asks: the forced choice, else the first matching rule of
// the file that dlmb_tune export --to nccl writes. A pure function of what all ranks know, so that they agree.
#pragma once

#include "common/tuning/consumers/nccl/tuner_abi.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlmb::nccl_tuner {

struct Call {
    int function = 0;  // Function
    std::uint64_t bytes = 0;
    std::int64_t ranks = 0;
    std::int64_t nodes = 0;
};

struct Rule {
    int function = 0;
    std::uint64_t min_bytes = 0;
    std::uint64_t max_bytes = 0;
    int algorithm = 0;
    int protocol = 0;
    int channels = -1;
    std::int64_t nodes = -1;
    std::int64_t ranks = -1;
    [[nodiscard]] bool matches(Call const& call) const;
};

/// One communicator's view. NCCL may ask from a thread of its own: const after it is made.
class Tuner {
public:
    /// Reads the file that DLMB_NCCL_TABLE names. Without one, or with one that is not right, it has no rules and says
    /// so in NCCL's log.
    Tuner(std::size_t ranks, std::size_t nodes, Logger logger);

    /// Versions 3 and later. A cost of 0 is the lowest, so it decides. What NCCL forbids is left, and counted.
    void write(Call call, float* costs, int algorithms, int protocols, int* channels) const;
    /// Version 2: no costs, so what NCCL can run is known only as far as the two flags say.
    void write(Call call, bool has_collnet, bool has_nvls, int* algorithm, int* protocol, int* channels) const;

private:
    struct Choice {
        int algorithm = -1;  // none
        int protocol = 0;
        int channels = 0;
    };
    [[nodiscard]] Choice choose(Call& call) const;

    std::int64_t ranks_;
    std::int64_t nodes_;
    std::vector<Rule> rules_;
};

/// The choice that is forced on all communicators of the process for one function. In one word, so that a thread never
/// sees half of it.
struct Forced {
    std::int16_t algorithm = -1;  // none
    std::int16_t protocol = 0;
    std::int32_t channels = 0;
};
static_assert(std::atomic<Forced>::is_always_lock_free);

inline std::array<std::atomic<Forced>, function_count> forced{};  // by Function
inline std::atomic<bool> forcing{false};                          // any
inline std::atomic<std::uint64_t> calls{0};
inline std::atomic<std::uint64_t> honoured{0};
inline std::atomic<std::uint64_t> refused{0};

}  // namespace dlmb::nccl_tuner
