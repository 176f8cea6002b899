// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/conformance/corpus.hpp"

#include <algorithm>
#include <map>
#include <type_traits>

namespace dlmb::conformance {
namespace {

bool is_uniform(Plan const& plan, Operation const& operation) {
    return std::visit(
        [&plan](auto const& step) {
            if constexpr (std::is_same_v<std::decay_t<decltype(step)>, Exchange>) {
                std::size_t const members = plan.groups.at(step.group).members.size();
                return packed(step.send, members) && packed(step.recv, members);
            } else if constexpr (requires { step.shares; }) {
                return step.shares.empty();
            } else {
                return true;
            }
        },
        operation);
}

}  // namespace

std::vector<CorpusEntry> corpus(int ranks) {
    std::vector<CorpusEntry> entries;
    add_exchanges(ranks, entries);
    add_collectives(ranks, entries);
    add_messages(ranks, entries);
    add_signals(ranks, entries);
    return entries;
}

bool is_required(CorpusEntry const& entry) {
    return std::all_of(entry.plans.begin(), entry.plans.end(), [](Plan const& plan) {
        return std::all_of(plan.steps.begin(), plan.steps.end(), [](Step const& step) {
            OperationKind const kind = kind_of(step.operation);
            return kind == OperationKind::exchange || kind == OperationKind::all_gather ||
                   kind == OperationKind::compute;
        });
    });
}

std::vector<OperationUse> uses_of(CorpusEntry const& entry) {
    std::map<OperationKind, bool> uniform;
    for (Plan const& plan : entry.plans) {
        for (Step const& step : plan.steps) {
            auto const [place, is_first] = uniform.try_emplace(kind_of(step.operation), true);
            place->second = place->second && is_uniform(plan, step.operation);
        }
    }
    std::vector<OperationUse> uses;
    for (auto const& [kind, is_uniform] : uniform) {
        uses.push_back({kind, is_uniform});
    }
    return uses;
}

StepId add_exchange(PlanBuilder& builder, GroupId group, int me, int ranks, Sizes const& sizes, std::string label,
                    std::vector<StepId> after) {
    std::vector<Bytes> sent;
    std::vector<Bytes> received;
    for (int peer = 0; peer < ranks; ++peer) {
        sent.push_back(sizes(me, peer));
        received.push_back(sizes(peer, me));
    }
    return builder.exchange(group, sent, received, std::move(label), std::move(after));
}

Group parity_group(Rank me, int ranks) {
    Group group;
    for (Rank rank = 0; rank < ranks; ++rank) {
        Rank const member = me % 2 == 0 ? rank : ranks - 1 - rank;
        if (member % 2 == me % 2) {
            group.members.push_back(member);
        }
    }
    return group;
}

}  // namespace dlmb::conformance
