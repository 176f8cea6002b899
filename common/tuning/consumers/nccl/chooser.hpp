// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What the plugin answers, whatever version of the interface asks: the forced choice, else the first matching rule. A
// pure function of what all ranks know, so that they agree.
#pragma once

#include "common/tuning/consumers/nccl/rules.hpp"
#include "common/tuning/consumers/nccl/tuner_abi.hpp"

#include <cstddef>
#include <vector>

namespace dlmb::nccl_tuner {

/// One communicator's view. NCCL may ask from a thread of its own: const after it is made.
class Chooser {
public:
    /// Reads the file that DLMB_NCCL_TABLE names. Without one, or with one that is not right, it has no rules and says
    /// so in NCCL's log.
    Chooser(std::size_t ranks, std::size_t nodes, Logger logger);

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

}  // namespace dlmb::nccl_tuner
