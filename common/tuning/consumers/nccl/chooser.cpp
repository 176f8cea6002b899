// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/consumers/nccl/chooser.hpp"

#include "common/tuning/consumers/nccl/force.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <string>

namespace dlmb::nccl_tuner {
namespace {

void count(std::atomic<std::uint64_t>& counter) {
    counter.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

Chooser::Chooser(std::size_t ranks, std::size_t nodes, Logger logger)
    : ranks_(static_cast<std::int64_t>(ranks)), nodes_(static_cast<std::int64_t>(nodes)) {
    auto const say = [&](int level, char const* what, char const* path, char const* why) {
        if (logger != nullptr) {
            logger(level, log_tuning, __FILE__, __LINE__, "DLMB tuner: %s %s: %s", what, path, why);
        }
    };
    char const* const path = std::getenv("DLMB_NCCL_TABLE");
    if (path == nullptr) {
        say(log_information, "no rules", "", "DLMB_NCCL_TABLE is not set");
        return;
    }
    try {
        rules_ = read_rules(path);
        say(log_information, "table", path, (std::to_string(rules_.size()) + " rules").c_str());
    } catch (std::exception const& error) {
        say(log_warning, "no rules from", path, error.what());
    }
}

Chooser::Choice Chooser::choose(Call& call) const {
    count(calls);
    if (forcing.load(std::memory_order_acquire)) {
        bool const known = call.function >= 0 && call.function < function_count;
        Forced const now = known ? forced[static_cast<std::size_t>(call.function)].load() : Forced{};
        return {now.algorithm, now.protocol, now.channels};
    }
    call.ranks = ranks_;
    call.nodes = nodes_;
    auto const found = std::find_if(rules_.begin(), rules_.end(), [&](Rule const& rule) { return rule.matches(call); });
    return found == rules_.end() ? Choice{} : Choice{found->algorithm, found->protocol, std::max(found->channels, 0)};
}

void Chooser::write(Call call, float* costs, int algorithms, int protocols, int* channels) const {
    Choice const choice = choose(call);
    if (choice.algorithm < 0) {
        return;
    }
    if (choice.algorithm >= algorithms || choice.protocol >= protocols) {
        return count(refused);
    }
    float& cost = costs[choice.algorithm * protocols + choice.protocol];
    if (cost == forbidden) {
        return count(refused);
    }
    cost = 0.0F;
    // Whatever is not 0 here overrides NCCL's own number.
    if (choice.channels > 0) {
        *channels = choice.channels;
    }
    count(honoured);
}

void Chooser::write(Call call, bool has_collnet, bool has_nvls, int* algorithm, int* protocol, int* channels) const {
    Choice const choice = choose(call);
    if (choice.algorithm < 0) {
        return;
    }
    bool const needs_collnet = choice.algorithm == collnet_direct || choice.algorithm == collnet_chain;
    bool const needs_nvls = choice.algorithm == nvls || choice.algorithm == nvls_tree;
    // pat came with version 3.
    if ((needs_collnet && !has_collnet) || (needs_nvls && !has_nvls) || choice.algorithm > nvls_tree) {
        return count(refused);
    }
    *algorithm = choice.algorithm;
    *protocol = choice.protocol;
    if (choice.channels > 0) {
        *channels = choice.channels;
    }
    count(honoured);
}

}  // namespace dlmb::nccl_tuner
