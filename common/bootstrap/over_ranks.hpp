// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Small values that all ranks must hold alike. Every function is collective and untimed.
#pragma once

#include "common/base/error.hpp"
#include "common/bootstrap/bootstrap.hpp"

#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>

namespace dlmb {

/// The rank whose value counts where one rank decides for all.
inline constexpr Rank deciding_rank = 0;

/// The reduction of `mine` over all ranks.
[[nodiscard]] inline std::int64_t reduce_over_ranks(Bootstrap& bootstrap, std::int64_t mine, Fold fold) {
    bootstrap.all_reduce(std::span(&mine, 1), fold);
    return mine;
}

/// The largest over ranks, rounded to picoseconds: the bootstrap reduces integers only.
[[nodiscard]] inline double max_over_ranks(Bootstrap& bootstrap, double ns) {
    constexpr double picoseconds = 1000;
    return static_cast<double>(reduce_over_ranks(bootstrap, std::llround(ns * picoseconds), Fold::max)) / picoseconds;
}

/// Whether it is so on any rank.
[[nodiscard]] inline bool any_rank(Bootstrap& bootstrap, bool here) {
    return reduce_over_ranks(bootstrap, here ? 1 : 0, Fold::max) != 0;
}

/// The text of the lowest rank whose text is not empty, on every rank; empty when all are. A rank that refuses alone
/// would leave the others waiting for it.
[[nodiscard]] std::string first_refusal(Bootstrap& bootstrap, std::string const& mine);

/// The value whose bytes another rank sent.
template <class Value>
[[nodiscard]] Value value_in(Blob const& blob) {
    static_assert(std::is_trivially_copyable_v<Value>);
    if (blob.size() != sizeof(Value)) {
        throw Error("another rank sent a value of another size");
    }
    Value value{};
    std::memcpy(&value, blob.data(), sizeof(Value));
    return value;
}

/// The value that each rank passed, by rank, on every rank.
template <class Value>
[[nodiscard]] std::vector<Value> from_every_rank(Bootstrap& bootstrap, Value const& mine) {
    static_assert(std::is_trivially_copyable_v<Value>);
    std::vector<Value> values;
    for (Blob const& blob : bootstrap.all_gather(std::as_bytes(std::span(&mine, 1)))) {
        std::memcpy(&values.emplace_back(), blob.data(), sizeof(Value));
    }
    return values;
}

/// The value that `root` passed, on every rank.
template <class Value>
[[nodiscard]] Value from_rank(Bootstrap& bootstrap, Value const& mine, Rank root = deciding_rank) {
    auto const bytes = std::as_bytes(std::span(&mine, 1));
    Blob blob(bytes.begin(), bytes.end());
    bootstrap.broadcast(blob, root);
    return value_in<Value>(blob);
}

/// The text that `root` passed, on every rank.
[[nodiscard]] std::string text_from_rank(Bootstrap& bootstrap, std::string const& mine, Rank root);

/// Whether on any node the ranks outnumber the processing units that at least one of them may run on, so that they have
/// to take turns, which decides how they may wait for each other. Ranks bound to a unit each are not oversubscribed.
[[nodiscard]] bool oversubscribed(Bootstrap& bootstrap);

/// All ranks have the same policy. automatic: yield where the ranks are oversubscribed.
[[nodiscard]] bool should_yield(YieldPolicy policy, Bootstrap& bootstrap);

}  // namespace dlmb
