// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/conformance/alternating_table.hpp"

#include <fmt/core.h>

#include <array>

namespace dlmb::conformance {
namespace {

using tuning::TunedOperation;

/// The methods that are not the default one.
struct Methods {
    TunedOperation operation;
    std::string mpi;
    std::string ucx;
};

Methods const table[] = {
    {TunedOperation::allreduce, "nonblocking", "ring"},
    {TunedOperation::reduce_scatter, "nonblocking", "ring"},
    {TunedOperation::allgather, "nonblocking", "neighbor"},
    {TunedOperation::broadcast, "nonblocking", "knomial"},
    {TunedOperation::exchange, "pairwise:max_outstanding=2", "pairwise:rndv_thresh=1"},
    {TunedOperation::sendrecv, "persistent", "linear:rndv_thresh=inf"},
};

}  // namespace

tuning::TuningTable alternating_table(std::string const& other) {
    tuning::TuningTable result;
    result.system = {"a test", "a test", ""};
    result.policy.baseline = {{"host", "mpi"}};
    for (Methods const& methods : table) {
        struct Band {
            tuning::ByteInterval bytes;
            std::string backend;
            std::string method;
        };
        std::array<Band, 4> const bands{{{{0, 99}, "mpi", "default"},
                                         {{100, 4096}, other, "default"},
                                         {{4097, 40000}, "mpi", methods.mpi},
                                         {{40001, tuning::no_limit}, other, other == "ucx" ? methods.ucx : "default"}}};
        for (Band const& band : bands) {
            tuning::Rule rule;
            rule.id = fmt::format("r{:02}", result.rules.size());
            rule.scope = tuning::select_scope;
            rule.when.operation = methods.operation;
            rule.when.bytes = band.bytes;
            rule.choose = {band.backend, band.method, std::nullopt, {}};
            result.rules.push_back(rule);
        }
    }
    return result;
}

}  // namespace dlmb::conformance
