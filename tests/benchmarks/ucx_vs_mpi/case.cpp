// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/benchmarks/ucx_vs_mpi/case.hpp"

#include "common/base/error.hpp"
#include "common/plan/builder.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <numeric>

namespace dlmb::benchmark {

Bytes Case::at(Rank from, Rank to) const {
    return bytes[static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks) + static_cast<std::size_t>(to)];
}

Bytes Case::largest_row() const {
    Bytes largest = 0;
    for (Rank from = 0; from < ranks; ++from) {
        Bytes row = 0;
        for (Rank to = 0; to < ranks; ++to) {
            row += at(from, to);
        }
        largest = std::max(largest, row);
    }
    return largest;
}

Case read_case(std::string const& text, int ranks) {
    std::size_t const cells = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks);
    constexpr std::string_view file_prefix = "file:";
    if (text.rfind(file_prefix, 0) != 0) {
        return {text, ranks, std::vector<Bytes>(cells, parse_bytes(text, "size"))};
    }
    std::ifstream file(text.substr(file_prefix.size()));
    Case traffic{text, ranks, {}};
    for (Bytes cell = 0; file >> cell;) {
        traffic.bytes.push_back(cell);
    }
    if (traffic.bytes.size() != cells) {
        throw UsageError(
            fmt::format("{}: {} numbers, expected {} for {} ranks", text, traffic.bytes.size(), cells, ranks));
    }
    return traffic;
}

Plan plan_of(Case const& traffic, Rank me) {
    Group world;
    std::vector<Bytes> to;
    std::vector<Bytes> from;
    for (Rank peer = 0; peer < traffic.ranks; ++peer) {
        world.members.push_back(peer);
        to.push_back(traffic.at(me, peer));
        from.push_back(traffic.at(peer, me));
    }
    PlanBuilder builder(me);
    builder.exchange(builder.group(world), to, from, "exchange");
    return std::move(builder).finish();
}

}  // namespace dlmb::benchmark
