// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/conformance/corpus.hpp"

#include <algorithm>
#include <numeric>

namespace dlmb::conformance {

std::vector<CorpusEntry> corpus(int ranks) {
    std::vector<CorpusEntry> entries;
    add_exchanges(ranks, entries);
    add_collectives(ranks, entries);
    add_messages(ranks, entries);
    return entries;
}

bool is_required(CorpusEntry const& entry) {
    return std::all_of(entry.plans.begin(), entry.plans.end(), [](Plan const& plan) {
        return std::all_of(plan.steps.begin(), plan.steps.end(), [](Step const& step) {
            return std::holds_alternative<Exchange>(step.operation) ||
                   std::holds_alternative<AllGather>(step.operation) || std::holds_alternative<Compute>(step.operation);
        });
    });
}

std::vector<Bytes> sent_by(int me, int ranks, Sizes const& sizes) {
    std::vector<Bytes> bytes;
    for (int to = 0; to < ranks; ++to) {
        bytes.push_back(sizes(me, to));
    }
    return bytes;
}

std::vector<Bytes> received_by(int me, int ranks, Sizes const& sizes) {
    std::vector<Bytes> bytes;
    for (int from = 0; from < ranks; ++from) {
        bytes.push_back(sizes(from, me));
    }
    return bytes;
}

Group world_group(int ranks) {
    Group group;
    group.members.resize(static_cast<std::size_t>(ranks));
    std::iota(group.members.begin(), group.members.end(), 0);
    return group;
}

}  // namespace dlmb::conformance
