// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/kv_transfer/split.hpp"

#include <algorithm>

namespace dlmb::kv_transfer {
namespace {

/// The ranks that hold any of `units`, which are in a row.
Range holders_of_any(Division const& division, Range const& units) {
    Range const first = division.holders_of(units.first);
    Range const last = division.holders_of(units.end() - 1);
    return {first.first, last.end() - first.first};
}

}  // namespace

Range Division::held_by(std::uint64_t rank) const {
    std::uint64_t const first = rank * units / ranks;
    std::uint64_t const end = (rank + 1) * units / ranks;
    return {first, std::max(end, first + 1) - first};
}

Range Division::holders_of(std::uint64_t unit) const {
    // The ranks r with floor(r U / P) <= u < floor((r + 1) U / P), or = u where there are more ranks than units.
    std::uint64_t const last = ((unit + 1) * ranks - 1) / units;
    std::uint64_t const first = std::min((unit * ranks + units - 1) / units, last);
    return {first, last - first + 1};
}

Range Split::share(std::uint64_t from, std::uint64_t to) const {
    Range const sent = prefill.held_by(from);
    Range const wanted = decode.held_by(to);
    std::uint64_t const first = std::max(sent.first, wanted.first);
    std::uint64_t const end = std::min(sent.end(), wanted.end());
    if (first >= end) {
        return {};
    }
    Range const from_ranks = prefill.holders_of(first);
    if (from_ranks.count > 1) {  // then a rank has one unit
        Range const to_ranks = decode.holders_of(first);
        if (from != from_ranks.first + (to - to_ranks.first) * from_ranks.count / to_ranks.count) {
            return {};
        }
    }
    return {first, end - first};
}

Range Split::receivers(std::uint64_t from) const {
    return holders_of_any(decode, prefill.held_by(from));
}

Range Split::senders(std::uint64_t to) const {
    return holders_of_any(prefill, decode.held_by(to));
}

std::uint64_t Split::most_units() const {
    std::uint64_t most = 0;
    for (std::uint64_t from = 0; from < prefill.ranks; ++from) {
        std::uint64_t sent = 0;
        Range const to = receivers(from);
        for (std::uint64_t rank = to.first; rank < to.end(); ++rank) {
            sent += share(from, rank).count;
        }
        most = std::max(most, sent);
    }
    for (std::uint64_t to = 0; to < decode.ranks; ++to) {
        most = std::max(most, decode.held_by(to).count);
    }
    return most;
}

}  // namespace dlmb::kv_transfer
