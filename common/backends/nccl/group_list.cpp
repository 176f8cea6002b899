// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/group_list.hpp"

#include <algorithm>
#include <cstring>
#include <set>

namespace dlmb::nccl {

std::size_t place_of(Rank rank, Group const& group) {
    return static_cast<std::size_t>(std::find(group.members.begin(), group.members.end(), rank) -
                                    group.members.begin());
}

/// Per group its size and its members.
Blob pack_groups(std::span<Group const> groups) {
    std::vector<Rank> numbers;
    for (Group const& group : groups) {
        numbers.push_back(static_cast<Rank>(group.members.size()));
        numbers.insert(numbers.end(), group.members.begin(), group.members.end());
    }
    auto const bytes = std::as_bytes(std::span(numbers));
    return {bytes.begin(), bytes.end()};
}

std::vector<Group> unpack_groups(std::span<Blob const> blobs) {
    std::set<std::vector<Rank>> found;
    for (Blob const& blob : blobs) {
        std::vector<Rank> numbers(blob.size() / sizeof(Rank));
        if (!blob.empty()) {
            std::memcpy(numbers.data(), blob.data(), blob.size());
        }
        for (auto next = numbers.begin(); next != numbers.end();) {
            auto const end = next + 1 + *next;
            found.emplace(next + 1, end);
            next = end;
        }
    }
    std::vector<Group> groups;
    for (std::vector<Rank> const& members : found) {
        groups.push_back({members});
    }
    return groups;
}

std::vector<std::vector<Group>> disjoint_batches(std::vector<Group> const& groups) {
    std::vector<std::vector<Group>> batches;
    std::vector<std::set<Rank>> taken;  // by batch
    for (Group const& group : groups) {
        auto const free = [&](std::set<Rank> const& ranks) {
            return std::none_of(group.members.begin(), group.members.end(),
                                [&](Rank member) { return ranks.count(member) > 0; });
        };
        auto const batch = static_cast<std::size_t>(std::find_if(taken.begin(), taken.end(), free) - taken.begin());
        if (batch == taken.size()) {
            taken.emplace_back();
            batches.emplace_back();
        }
        taken[batch].insert(group.members.begin(), group.members.end());
        batches[batch].push_back(group);
    }
    return batches;
}

}  // namespace dlmb::nccl
