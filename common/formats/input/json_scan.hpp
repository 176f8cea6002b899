// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// JSON of any length, read in pieces that fit in memory: the members of a top-level object, the elements of a long list
// in it, or the lines of a JSON Lines file. JSON for Modern C++ parses, and one piece is held at a time.
#pragma once

#include "common/formats/input/input.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace dlmb::input {

using Json = nlohmann::json;

/// The uses of the pieces of a document. `name` is that of the member of the top-level object.
struct JsonPieces {
    /// True: this member is a long list, of which each element is one piece.
    std::function<bool(std::string_view name)> is_long;
    /// `index` counts from 0; a top-level list is a long one without a name.
    std::function<void(std::string_view name, std::uint64_t index, Json const& value)> element;
    std::function<void(std::string_view name, Json const& value)> member;
};

/// Reads one document, with nothing but blanks behind it. Bytes that are no printable text become '?', as profilers
/// write damaged names. Throws UsageError, also for a piece of more than 64 MiB and for more than 1000 nested brackets.
void scan_json(Input& input, JsonPieces const& pieces);

/// Reads an object from each line that is not blank; `where` is `kind` and its number from 0: "request 3".
void scan_json_lines(Input& input, std::string_view kind,
                     std::function<void(std::string const& where, Json const& object)> const& use);

/// Parses a text of the line that was read; `where` says which it is. Throws UsageError.
[[nodiscard]] Json parse_piece(Input const& input, std::string_view where, std::string_view text);

/// A whole number from 0 to 2^63 - 1, also as a text or as a number without a fraction; throws UsageError.
[[nodiscard]] Bytes whole_number(Input const& input, std::string_view where, Json const& value);

}  // namespace dlmb::input
