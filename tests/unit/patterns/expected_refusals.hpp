// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The layouts that patterns refuse: presets on few ranks, defaults (preset "") on many. A refusal that is not listed
// here fails every_pattern_test, and so does a listed one that does not come.
#pragma once

#include <array>
#include <string_view>
#include <vector>

namespace dlmb {

inline constexpr std::array few_ranks{1, 2, 3, 4, 6, 8};
inline constexpr std::array many_ranks{64, 512};

struct ExpectedRefusal {
    std::string_view pattern;
    std::string_view preset;
    std::vector<int> ranks;
    std::string_view words;  // part of the reason
};

inline std::vector<ExpectedRefusal> const expected_refusals{
    {"pipeline_p2p", "gpt3-175b", {3, 6}, "fewer than the"},
    {"pipeline_p2p", "llama3-405b", {3, 6}, "fewer than the"},
    {"pipeline_p2p", "bert-large-chimera", {1, 3}, "pipes do not divide the"},
    {"pipeline_p2p", "deepseek-v3-dualpipe", {1, 3}, "needs an even number of pipeline ranks"},
    {"sequence_parallel", "ulysses-64k", {3, 6}, "--sequence 65536: does not divide over"},
    {"sequence_parallel", "ulysses-128k", {3, 6}, "--sequence 131072: does not divide over"},
    {"sequence_parallel", "llama3-8b-ulysses-128k", {3, 6}, "--sequence 131072: does not divide over"},
    {"sequence_parallel", "llama3-8b-ring-128k", {3, 6}, "--sequence 131072: does not divide over"},
    {"sequence_parallel", "llama3-70b-ulysses-128k", {3, 6}, "--sequence 131072: does not divide over"},
    {"sequence_parallel", "llama3-70b-ring-128k", {3, 6}, "--sequence 131072: does not divide over"},
    {"sequence_parallel", "llama-7b-ring-64k", {3, 6}, "--sequence 65536: does not divide over"},
    {"tp_allreduce", "gpt-13b-sp", {3, 6}, "--sequence 2048 does not divide over"},
    {"tp_allreduce", "gpt3-175b-sp", {3, 6}, "--sequence 2048 does not divide over"},
    {"reshard", "llama3-8b", {1, 2, 3, 4}, "--senders 4: leaves none of"},
    {"reshard", "llama3-70b", {1, 2, 3, 4, 6}, "together do not divide the"},
    {"reshard", "qwen3-235b-a22b", {1, 2, 3, 4, 6}, "together do not divide the"},
    {"reshard", "deepseek-v3", {1, 2, 3, 4, 6, 8}, "together do not divide the"},
    {"reshard", "kimi-k2", {1, 2, 3, 4, 6, 8}, "together do not divide the"},
    {"sequence_parallel", "", {64, 512}, "--heads 32 do not divide over"},
};

}  // namespace dlmb
