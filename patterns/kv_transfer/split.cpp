// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/kv_transfer/split.hpp"

#include <algorithm>

namespace dlmb::kv_transfer {
namespace {

/// The ranks that hold any of `units`, which are in a row.
UnitRange holders_of_any(UnitDivision const& division, UnitRange const& units) {
    UnitRange const first = division.holders_of(units.first);
    UnitRange const last = division.holders_of(units.end() - 1);
    return {first.first, last.end() - first.first};
}

}  // namespace

UnitRange UnitDivision::held_by(std::uint64_t rank) const {
    std::uint64_t const first = rank * units / ranks;
    std::uint64_t const end = (rank + 1) * units / ranks;
    return {first, std::max(end, first + 1) - first};
}

UnitRange UnitDivision::holders_of(std::uint64_t unit) const {
    // The ranks r with floor(r U / P) <= u < floor((r + 1) U / P), or = u where there are more ranks than units.
    std::uint64_t const last = ((unit + 1) * ranks - 1) / units;
    std::uint64_t const first = std::min((unit * ranks + units - 1) / units, last);
    return {first, last - first + 1};
}

UnitRange CacheSplit::share(std::uint64_t from, std::uint64_t to) const {
    UnitRange const sent = prefill.held_by(from);
    UnitRange const wanted = decode.held_by(to);
    std::uint64_t const first = std::max(sent.first, wanted.first);
    std::uint64_t const end = std::min(sent.end(), wanted.end());
    if (first >= end) {
        return {};
    }
    UnitRange const from_ranks = prefill.holders_of(first);
    if (from_ranks.count > 1) {  // then a rank has one unit
        UnitRange const to_ranks = decode.holders_of(first);
        if (from != from_ranks.first + (to - to_ranks.first) * from_ranks.count / to_ranks.count) {
            return {};
        }
    }
    return {first, end - first};
}

UnitRange CacheSplit::receivers(std::uint64_t from) const {
    return holders_of_any(decode, prefill.held_by(from));
}

UnitRange CacheSplit::senders(std::uint64_t to) const {
    return holders_of_any(prefill, decode.held_by(to));
}

std::uint64_t CacheSplit::most_units() const {
    std::uint64_t most = 0;
    for (std::uint64_t from = 0; from < prefill.ranks; ++from) {
        std::uint64_t sent = 0;
        UnitRange const to = receivers(from);
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
