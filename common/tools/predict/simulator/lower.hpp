// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plans of all ranks as a program of the simulator. Collectives are done by the backends' own algorithms
// (common/formats/plan/algorithms), exchanges by messages in the order in which the backends post them. Computations of
// a rank run one after the other on a processor of their own, beside its messages.
#pragma once

#include "common/formats/plan/algorithms/catalogue.hpp"
#include "common/formats/plan/plan_source.hpp"
#include "common/tools/predict/simulator/program.hpp"

#include <map>
#include <string>

namespace dlmb::predict {

/// How each kind of operation is done, by the names of the methods of backend ucx (algorithms::names). Of an exchange
/// also linear, all messages at once, or pairwise, at most `outstanding` sends and receives at once.
struct LoweringChoice {
    std::map<OperationKind, std::string> algorithms;  // not named: auto, of an exchange linear
    algorithms::Knobs knobs;
    int outstanding = 8;
};

/// The first `period` ranks stand for all (period_of); 0: each for itself. Asks for each of their plans once. Throws
/// UsageError for an algorithm that does not exist or does not do the operation.
[[nodiscard]] Program lower(PlanSource const& plans, LoweringChoice const& choice, int period = 0);

/// How many ranks stand for all; that of the plans where ranks differ. Of a ring, or of an exchange of equal blocks,
/// the program of rank r + q is that of rank r with all peers moved on by q, where every domain of the machine begins
/// at a multiple of q. Then both take the same time: an allreduce by a ring of 16,384 ranks has 5 * 10^8 messages.
/// `domain`: ranks of the largest domain of the machine. Asks for each plan once.
[[nodiscard]] int period_of(PlanSource const& plans, LoweringChoice const& choice, int domain);

}  // namespace dlmb::predict
