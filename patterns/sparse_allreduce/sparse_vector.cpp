// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/sparse_allreduce/sparse_vector.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace dlmb::sparse_allreduce {
namespace {

bool lower_index(SparseEntry const& a, SparseEntry const& b) {
    return a.index < b.index;
}

bool larger(SparseEntry const& a, SparseEntry const& b) {
    float const of_a = std::fabs(a.value);
    float const of_b = std::fabs(b.value);
    return of_a > of_b || (of_a == of_b && a.index < b.index);
}

}  // namespace

SparseVector sum_of(std::span<std::span<SparseEntry const> const> terms) {
    SparseVector all;
    std::vector<std::size_t> ends;
    for (std::span<SparseEntry const> const term : terms) {
        all.insert(all.end(), term.begin(), term.end());
        ends.push_back(all.size());
    }
    // Neighbours are merged, then neighbours of those: terms keep their order at equal indices.
    while (ends.size() > 1) {
        std::vector<std::size_t> merged;
        std::size_t begin = 0;
        for (std::size_t i = 0; i < ends.size(); i += 2) {
            std::size_t const last = std::min(i + 1, ends.size() - 1);
            auto const at = [&](std::size_t place) { return all.begin() + static_cast<std::ptrdiff_t>(place); };
            std::inplace_merge(at(begin), at(ends[i]), at(ends[last]), lower_index);
            begin = ends[last];
            merged.push_back(begin);
        }
        ends = std::move(merged);
    }
    SparseVector sum;
    for (SparseEntry const& entry : all) {
        if (!sum.empty() && sum.back().index == entry.index) {
            sum.back().value += entry.value;
        } else {
            sum.push_back(entry);
        }
    }
    return sum;
}

SparseVector sum_of(std::span<SparseVector const> terms) {
    std::vector<std::span<SparseEntry const>> const spans(terms.begin(), terms.end());
    return sum_of(spans);
}

SparseVector largest(std::span<SparseEntry const> entries, std::size_t count) {
    SparseVector chosen(entries.begin(), entries.end());
    if (count < chosen.size()) {
        auto const end = chosen.begin() + static_cast<std::ptrdiff_t>(count);
        std::nth_element(chosen.begin(), end, chosen.end(), larger);
        chosen.erase(end, chosen.end());
        std::sort(chosen.begin(), chosen.end(), lower_index);
    }
    return chosen;
}

double least_magnitude(std::span<SparseEntry const> entries) {
    double least = entries.empty() ? 0 : std::fabs(static_cast<double>(entries.front().value));
    for (SparseEntry const& entry : entries) {
        least = std::min(least, std::fabs(static_cast<double>(entry.value)));
    }
    return least;
}

SparseVector at_least(std::span<SparseEntry const> entries, double threshold) {
    SparseVector chosen;
    std::copy_if(entries.begin(), entries.end(), std::back_inserter(chosen), [threshold](SparseEntry const& entry) {
        return std::fabs(static_cast<double>(entry.value)) >= threshold;
    });
    return chosen;
}

std::span<SparseEntry const> part_of(std::span<SparseEntry const> entries, std::uint64_t begin, std::uint64_t end) {
    auto const at = [&](std::uint64_t index) {
        return std::lower_bound(entries.begin(), entries.end(), index,
                                [](SparseEntry const& entry, std::uint64_t bound) { return entry.index < bound; });
    };
    return {at(begin), at(end)};
}

}  // namespace dlmb::sparse_allreduce
