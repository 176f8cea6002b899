// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The wire format of protobuf, field by field. Three versions of Chakra's package cannot be linked into one program,
// and few of their fields are needed.
#pragma once

#include "common/formats/input/input.hpp"

#include <cstdint>
#include <string_view>

namespace dlmb::trace {

using input::Input;

/// A field of a message: a number, or the bytes of a text or of an inner message.
struct Field {
    std::uint64_t number = 0;
    std::uint64_t value = 0;
    std::string_view bytes;
    bool is_bytes = false;
    unsigned wire = 0;  // how it is written: 0 varint, 1 eight bytes, 2 bytes, 5 four bytes
};

/// Goes through the fields of one message. Refuses what is no protobuf.
class ProtobufMessage {
public:
    ProtobufMessage(Input const& input, std::string_view text) : input_(input), rest_(text) {}

    [[nodiscard]] bool next(Field& field);
    [[nodiscard]] bool at_end() const { return rest_.empty(); }
    std::uint64_t varint();

private:
    std::uint64_t fixed(std::size_t bytes);
    std::string_view take(std::uint64_t bytes);

    Input const& input_;
    std::string_view rest_;
};

}  // namespace dlmb::trace
