// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The nodes of a Chakra file. Three schemas are in the field: eg_def.proto of 2023, where a node has a field for each
// property; and et_def.proto, where it has a list of attributes, with GlobalMetadata of two layouts in front, of which
// nothing is needed here. A file is of records with their length in front.
#pragma once

#include "common/formats/input/input.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dlmb::trace::chakra {

using input::Input;

// NodeType of et_def.proto.
inline constexpr std::uint64_t type_metadata = 1;
inline constexpr std::uint64_t type_computation = 4;
inline constexpr std::uint64_t type_send = 5;
inline constexpr std::uint64_t type_recv = 6;
inline constexpr std::uint64_t type_collective = 7;

/// The alternatives of AttributeProto that are one number or text.
enum Alternative : std::uint64_t {
    double_val = 3,
    float_val = 5,
    int32_val = 7,
    int64_val = 9,
    uint32_val = 11,
    uint64_val = 13,
    sint32_val = 15,
    sint64_val = 17,
    fixed32_val = 19,
    fixed64_val = 21,
    sfixed32_val = 23,
    sfixed64_val = 25,
    bool_val = 27,
    string_val = 29
};

/// The value of an attribute, by its type. Beyond 2^63 - 1 there is no size, rank or tag.
using AttributeValue = std::variant<std::int64_t, double, std::string>;

struct Node {
    std::uint64_t record = 0;
    std::uint64_t id = 0;
    std::vector<std::uint64_t> dependencies;  // nodes that end before it begins
    std::string name;
    std::uint64_t type = 0;
    std::uint64_t start_us = 0;
    std::uint64_t duration_us = 0;
    std::map<std::string, AttributeValue, std::less<>> values;  // attributes and old fields
    std::string group;
    bool part_of_dimensions = false;  // involved_dim leaves some out

    [[nodiscard]] std::string where() const;
};

struct Nodes {
    bool old = false;         // of eg_def.proto, whose types are given as those of et_def.proto
    std::vector<Node> nodes;  // as they stand in the file
};
[[nodiscard]] Nodes read_nodes(Input& input);

/// An attribute that is a whole number, in whichever type it is written; nothing where it is missing.
[[nodiscard]] std::optional<std::int64_t> attribute_number(Input const& input, Node const& node, std::string_view name);

}  // namespace dlmb::trace::chakra
