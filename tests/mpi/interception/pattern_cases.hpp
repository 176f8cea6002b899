// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Small traffic of every pattern, with each of its operations: what the interception tests run.
#pragma once

#include "patterns/registry.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string_view>
#include <vector>

namespace dlmb {

struct PatternCase {
    std::string_view preset;
    Parameters parameters;
    int least_ranks = 1;
};

inline std::map<std::string_view, std::vector<PatternCase>> const& pattern_cases() {
    static std::map<std::string_view, std::vector<PatternCase>> const cases{
        {"moe_alltoall",
         {{"", {{"tokens", "64"}}}, {"", {{"tokens", "64"}, {"wire", "padded"}, {"direction", "both"}}}}},
        {"dlrm_exchange", {{"dlrm-small", {}}, {"dlrm-small", {{"sharding", "row"}}}}},
        {"pipeline_p2p",
         {{"quick", {}},
          {"quick", {{"schedule", "interleaved"}, {"mode", "separate"}}},
          {"quick", {{"mode", "meta_data"}, {"loss", "on"}}}}},
        {"tp_allreduce",
         {{"llama-7b-decode", {}},
          {"", {{"hidden", "64"}, {"layers", "2"}, {"sequence", "32"}}},
          {"", {{"hidden", "64"}, {"layers", "2"}, {"sequence", "32"}, {"sequence-parallel", "on"}}}}},
        {"dp_gradients",
         {{"resnet-50", {}},
          {"resnet-50", {{"scheme", "zero1"}, {"form", "reduce_scatter"}}},
          {"", {{"model", "flat"}, {"parameters", "1000"}, {"scheme", "fsdp"}}}}},
        {"sequence_parallel",
         {{"", {{"sequence", "1024"}, {"heads", "8"}}},
          {"", {{"kind", "ring"}, {"sequence", "1024"}, {"heads", "8"}}}}},
        {"reshard",
         {{"", {{"layers", "1"}, {"mlp", "512"}, {"vocabulary", "512"}}},
          {"", {{"layers", "1"}, {"mlp", "512"}, {"vocabulary", "512"}, {"wire", "bucketed"}, {"bucket", "100K"}}},
          {"", {{"layers", "1"}, {"mlp", "512"}, {"vocabulary", "512"}, {"wire", "broadcast"}, {"bucket", "100K"}}}}},
        {"kv_transfer",
         {{"", {{"layers", "2"}, {"tokens", "64"}, {"kv-heads", "3"}}},
          {"", {{"layers", "2"}, {"tokens", "60"}, {"granularity", "block"}, {"cache-layout", "contiguous"}}}}},
        {"sparse_allreduce",
         {{"", {{"elements", "10000"}}},
          {"", {{"elements", "10000"}, {"balance-above", "1"}}},
          {"", {{"elements", "10000"}, {"algorithm", "dense"}}},
          {"", {{"elements", "10000"}, {"algorithm", "topk_allgather"}}},
          {"", {{"elements", "10000"}, {"algorithm", "gtopk"}}},
          {"", {{"elements", "10000"}, {"algorithm", "recursive_sparse"}}}}},
        {"collective",
         {{"", {{"operation", "allreduce"}, {"message-size", "1000"}}},
          {"", {{"operation", "broadcast"}, {"message-size", "1000"}}},
          {"", {{"operation", "reduce_scatter_block"}, {"message-size", "1000"}}},
          {"", {{"operation", "reduce_scatter"}, {"message-size", "1000"}, {"skew", "zipf:1"}}},
          {"", {{"operation", "allgather"}, {"message-size", "1000"}}},
          {"", {{"operation", "allgatherv"}, {"message-size", "1000"}, {"skew", "zipf:1"}}},
          {"", {{"operation", "reduce"}, {"message-size", "1000"}, {"element", "int8"}}},
          {"", {{"operation", "gather"}, {"message-size", "1000"}}},
          {"", {{"operation", "gatherv"}, {"message-size", "1000"}, {"skew", "zipf:1"}}},
          {"", {{"operation", "scatter"}, {"message-size", "1000"}, {"in-place", "on"}}},
          {"", {{"operation", "scatterv"}, {"message-size", "1000"}, {"skew", "zipf:1"}}},
          {"", {{"operation", "barrier"}, {"message-size", "0"}}},
          {"", {{"operation", "alltoall"}, {"message-size", "1024"}}},
          {"", {{"operation", "alltoallv"}, {"message-size", "1000"}, {"skew", "zipf:1"}}},
          {"", {{"operation", "sendrecv"}, {"message-size", "1000"}}},
          {"", {{"operation", "bandwidth"}, {"message-size", "1000"}}, 2},
          {"", {{"operation", "message_rate"}, {"message-size", "1000"}, {"window-buffers", "multiple"}}, 2},
          {"", {{"operation", "bibandwidth"}, {"message-size", "1000"}, {"window", "5"}}, 2}}},
    };
    return cases;
}

/// The parameters of each case that has so many ranks. Fails the test for a pattern that has no case.
inline std::vector<Parameters> small_traffic_of(PatternType const& type, int ranks) {
    std::vector<Parameters> found;
    auto const cases = pattern_cases().find(type.name);
    if (cases == pattern_cases().end()) {
        ADD_FAILURE() << "give " << type.name << " small traffic in pattern_cases()";
        return found;
    }
    for (PatternCase const& each : cases->second) {
        if (ranks >= each.least_ranks) {
            found.push_back(resolve(type, each.preset, each.parameters));
        }
    }
    return found;
}

}  // namespace dlmb
