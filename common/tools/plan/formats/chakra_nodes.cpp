// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/plan/formats/chakra_nodes.hpp"

#include "common/base/digits.hpp"
#include "common/tools/plan/formats/protobuf.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

namespace dlmb::trace::chakra {
namespace {

constexpr Bytes most_record = Bytes{64} << 20;

AttributeValue whole_value(std::uint64_t number) {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return number <= most ? AttributeValue(static_cast<std::int64_t>(number))
                          : AttributeValue(static_cast<double>(number));
}

/// The alternatives of AttributeProto (et_def.proto) that are one number or text; nothing for lists, and for what is
/// not written as its type.
std::optional<AttributeValue> attribute_value(Field const& field) {
    constexpr unsigned varint = 0;
    constexpr unsigned eight_bytes = 1;
    constexpr unsigned bytes = 2;
    constexpr unsigned four_bytes = 5;
    auto const written = [&](unsigned wire, auto const& value) {
        return field.wire == wire ? std::optional<AttributeValue>(value()) : std::nullopt;
    };
    auto const low = static_cast<std::uint32_t>(field.value);
    switch (field.number) {
    case double_val:
        return written(eight_bytes, [&] { return AttributeValue(std::bit_cast<double>(field.value)); });
    case float_val:
        return written(four_bytes, [&] { return AttributeValue(static_cast<double>(std::bit_cast<float>(low))); });
    case int32_val:
    case int64_val:
        return written(varint, [&] { return AttributeValue(static_cast<std::int64_t>(field.value)); });
    case uint32_val:
    case uint64_val:
    case bool_val:
        return written(varint, [&] { return whole_value(field.value); });
    case sint32_val:
    case sint64_val:
        return written(varint, [&] {
            return AttributeValue(static_cast<std::int64_t>((field.value >> 1U) ^ (~(field.value & 1U) + 1)));
        });
    case fixed32_val:
        return written(four_bytes, [&] { return whole_value(low); });
    case fixed64_val:
        return written(eight_bytes, [&] { return whole_value(field.value); });
    case sfixed32_val:
        return written(four_bytes, [&] { return AttributeValue(std::int64_t{static_cast<std::int32_t>(low)}); });
    case sfixed64_val:
        return written(eight_bytes, [&] { return AttributeValue(static_cast<std::int64_t>(field.value)); });
    case string_val:
        return written(bytes, [&] { return AttributeValue(std::string(field.bytes)); });
    default:
        return std::nullopt;
    }
}

std::string attribute_text(AttributeValue const& value) {
    return std::visit([](auto const& each) { return fmt::format("{}", each); }, value);
}

/// The fields of a node in eg_def.proto that are numbers.
std::string_view old_field(std::uint64_t number) {
    switch (number) {
    case 13:
        return "comm_type";
    case 15:
        return "communicator";
    case 16:
        return "comm_src";
    case 17:
        return "comm_dst";
    case 18:
        return "comm_size";
    case 19:
        return "comm_tag";
    default:
        return "";
    }
}

/// The next record; false at the end. A record without bytes is metadata at the begin, and ends the file elsewhere.
bool next_record(Input& input, std::uint64_t index, std::string& text) {
    std::uint64_t length = 0;
    constexpr unsigned most_shift = 28;
    for (unsigned shift = 0;; shift += 7) {
        std::string_view const held = input.peek(1);
        if (held.empty()) {
            if (shift == 0) {
                return false;
            }
            input.refuse("cut off in the length of a record");
        }
        auto const byte = static_cast<unsigned char>(held[0]);
        input.skip(1);
        length |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
        if ((byte & 0x80U) == 0) {
            break;
        }
        if (shift >= most_shift) {
            input.refuse("no Chakra trace: the length of a record has more than 5 bytes");
        }
    }
    if (length > most_record) {
        input.refuse(fmt::format("no Chakra trace: a record of {} bytes; the most is {}", length, most_record));
    }
    std::string_view const held = input.peek(length);
    if (held.size() < length) {
        input.refuse(fmt::format("cut off: record {} has {} bytes, but {} follow", index, length, held.size()));
    }
    text = held.substr(0, length);
    input.skip(text.size());
    return index == 0 || !text.empty();
}

/// GlobalMetadata begins with a text or a message, a node of the old schema with its number.
bool is_metadata(Input const& input, std::string_view text) {
    Field field;
    ProtobufMessage message(input, text);
    return !message.next(field) || field.is_bytes;
}

/// Repeated numbers stand alone or packed.
void dependencies(Input const& input, Field const& field, Node& node) {
    if (!field.is_bytes) {
        node.dependencies.push_back(field.value);
        return;
    }
    for (ProtobufMessage packed(input, field.bytes); !packed.at_end();) {
        node.dependencies.push_back(packed.varint());
    }
}

/// Repeated bools stand alone or packed.
bool leaves_out(Field const& field) {
    return field.is_bytes ? field.bytes.find('\0') != std::string_view::npos : field.value == 0;
}

bool has_false(Input const& input, std::string_view list) {
    Field field;
    for (ProtobufMessage message(input, list); message.next(field);) {
        if (leaves_out(field)) {
            return true;
        }
    }
    return false;
}

/// Some writers give numbers as another alternative than the feeder of Chakra takes, so each is read.
void attribute(Input const& input, std::string_view text, Node& node) {
    std::string name;
    Field field;
    for (ProtobufMessage message(input, text); message.next(field);) {
        constexpr std::uint64_t bool_list = 28;
        if (field.number == 1 && field.is_bytes) {
            name = field.bytes;
        } else if (field.number == bool_list && field.is_bytes && name == "involved_dim") {
            node.part_of_dimensions |= has_false(input, field.bytes);
        } else if (auto const value = attribute_value(field); value && name == "pg_name") {
            node.group = attribute_text(*value);
        } else if (value) {
            node.values[name] = *value;
        }
    }
}

Node old_node(Input const& input, std::string_view text) {
    Node node;
    Field field;
    for (ProtobufMessage message(input, text); message.next(field);) {
        if (field.number == 1 && !field.is_bytes) {
            node.id = field.value;
        } else if (field.number == 2 && field.is_bytes) {
            node.name = field.bytes;
        } else if (field.number == 4) {
            dependencies(input, field, node);
        } else if (field.number == 3 && !field.is_bytes) {
            node.type = field.value + 1;  // eg_def.proto has no METADATA_NODE
        } else if (field.number == 14) {
            node.part_of_dimensions |= leaves_out(field);
        } else if (field.number == 15 && !field.is_bytes) {
            node.group = std::to_string(field.value);
        } else if (auto const name = old_field(field.number); !name.empty() && !field.is_bytes) {
            node.values[std::string(name)] = whole_value(field.value);
        }
    }
    return node;
}

Node new_node(Input const& input, std::string_view text) {
    Node node;
    Field field;
    for (ProtobufMessage message(input, text); message.next(field);) {
        switch (field.number) {
        case 1:
            node.id = field.value;
            break;
        case 2:
            node.name = field.bytes;
            break;
        case 3:
            node.type = field.value;
            break;
        case 4:
        case 5:
            dependencies(input, field, node);
            break;
        case 6:
            node.start_us = field.value;
            break;
        case 7:
            node.duration_us = field.value;
            break;
        case 10:
            if (field.is_bytes) {
                attribute(input, field.bytes, node);
            }
            break;
        default:
            break;
        }
    }
    return node;
}

}  // namespace

std::string Node::where() const {
    return fmt::format("record {} ('{}')", record, name);
}

Nodes read_nodes(Input& input) {
    Nodes all;
    std::string text;
    for (std::uint64_t index = 0; next_record(input, index, text); ++index) {
        if (index == 0) {
            all.old = !is_metadata(input, text);
        }
        if (index > 0 || all.old) {
            all.nodes.push_back(all.old ? old_node(input, text) : new_node(input, text));
            all.nodes.back().record = index;
        }
    }
    return all;
}

std::optional<std::int64_t> attribute_number(Input const& input, Node const& node, std::string_view name) {
    auto const found = node.values.find(name);
    if (found == node.values.end()) {
        return std::nullopt;
    }
    std::optional<std::int64_t> number;
    if (auto const* const integer = std::get_if<std::int64_t>(&found->second)) {
        number = *integer;
    } else if (auto const* const real = std::get_if<double>(&found->second)) {
        constexpr double beyond = 0x1p63;
        number = *real > -beyond && *real < beyond && std::floor(*real) == *real
                     ? std::optional(static_cast<std::int64_t>(*real))
                     : std::nullopt;
    } else {
        number = parse_whole<std::int64_t>(std::get<std::string>(found->second));
    }
    if (!number) {
        input.refuse(fmt::format("{}: {} is {}, which is no whole number below 2^63", node.where(), name,
                                 attribute_text(found->second).substr(0, 64)));
    }
    return number;
}

}  // namespace dlmb::trace::chakra
