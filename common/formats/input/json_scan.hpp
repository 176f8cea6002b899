// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// JSON of any length, cut into pieces that fit in memory: the members of a top-level object, the elements of a long
// list in it, or the objects of a JSON Lines file. The pieces are found by brackets and quotes alone; who needs one has
// it parsed. So a gigabyte of events is read at the speed of memory, and only what communicates costs more.
#pragma once

#include "common/formats/input/input.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <string_view>

namespace dlmb::input {

using Json = nlohmann::json;

/// What to do with the pieces of a document. `name` is that of the member of the top-level object.
struct JsonPieces {
    /// True: this member is a long list, of which each element is one piece. Asked of "NAME[]": the elements of that
    /// list are objects whose members are pieces, called "NAME[].MEMBER"; behind its members comes the element, without
    /// text.
    std::function<bool(std::string_view name)> is_long;
    /// `index` counts from 0; a top-level list is a long one without a name.
    std::function<void(std::string_view name, std::uint64_t index, std::string_view text)> element;
    std::function<void(std::string_view name, std::string_view text)> member;
};

/// One document, with nothing but blanks behind it. Throws UsageError, also for a piece of more than 64 MiB and for
/// more than 1000 nested brackets.
void scan_json(Input& input, JsonPieces const& pieces);

/// Each of the objects that stand one behind the other, as in JSON Lines.
void scan_json_lines(Input& input, std::function<void(std::uint64_t index, std::string_view text)> const& object);

/// Parses a piece; `where` says which it is.
[[nodiscard]] Json parse_piece(Input const& input, std::string_view where, std::string_view text);

/// A whole number from 0 to 2^63 - 1, also as a text or as a number without a fraction; throws UsageError.
[[nodiscard]] Bytes whole_number(Input const& input, std::string_view where, Json const& value);

}  // namespace dlmb::input
