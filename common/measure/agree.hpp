// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Small values that all ranks must hold alike. Collective, untimed; the Bootstrap does the talking.
#pragma once

#include "common/base/error.hpp"
#include "common/bootstrap/bootstrap.hpp"

#include <cstring>
#include <string>
#include <type_traits>

namespace dlmb::measure {

inline constexpr Rank deciding_rank = 0;

/// The value that `root` passed, on every rank.
template <class Value>
[[nodiscard]] Value from_rank(Bootstrap& bootstrap, Value const& mine, Rank root = deciding_rank) {
    static_assert(std::is_trivially_copyable_v<Value>);
    Blob blob(sizeof(Value));
    std::memcpy(blob.data(), &mine, sizeof(Value));
    bootstrap.broadcast(blob, root);
    if (blob.size() != sizeof(Value)) {
        throw Error("broadcast delivered a value of another size");
    }
    Value value{};
    std::memcpy(&value, blob.data(), sizeof(Value));
    return value;
}

[[nodiscard]] inline std::string text_from_rank(Bootstrap& bootstrap, std::string const& mine, Rank root) {
    auto const bytes = std::as_bytes(std::span(mine));
    Blob blob(bytes.begin(), bytes.end());
    bootstrap.broadcast(blob, root);
    std::string text(blob.size(), '\0');
    std::memcpy(text.data(), blob.data(), blob.size());
    return text;
}

[[nodiscard]] inline std::int64_t folded(Bootstrap& bootstrap, std::int64_t mine, Fold fold) {
    bootstrap.all_reduce(std::span(&mine, 1), fold);
    return mine;
}

}  // namespace dlmb::measure
