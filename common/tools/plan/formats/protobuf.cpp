// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/plan/formats/protobuf.hpp"

namespace dlmb::trace {

bool ProtobufMessage::next(Field& field) {
    if (rest_.empty()) {
        return false;
    }
    constexpr unsigned kind_bits = 3;
    std::uint64_t const key = varint();
    field = {key >> kind_bits, 0, {}, false, static_cast<unsigned>(key & 7U)};
    switch (field.wire) {
    case 0:
        field.value = varint();
        break;
    case 1:
        field.value = fixed(8);
        break;
    case 2:
        field.is_bytes = true;
        field.bytes = take(varint());
        break;
    case 5:
        field.value = fixed(4);
        break;
    default:
        input_.refuse("no Chakra trace: a field of a kind that protobuf does not have");
    }
    return true;
}

std::uint64_t ProtobufMessage::varint() {
    std::uint64_t value = 0;
    constexpr unsigned most_shift = 63;
    for (unsigned shift = 0; shift <= most_shift; shift += 7) {
        auto const byte = static_cast<unsigned char>(take(1)[0]);
        value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
        if ((byte & 0x80U) == 0) {
            return value;
        }
    }
    input_.refuse("no Chakra trace: a number of more than 10 bytes");
}

std::uint64_t ProtobufMessage::fixed(std::size_t bytes) {
    std::uint64_t value = 0;
    std::string_view const text = take(bytes);
    for (std::size_t place = 0; place < bytes; ++place) {
        value |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[place])) << (8 * place);
    }
    return value;
}

std::string_view ProtobufMessage::take(std::uint64_t bytes) {
    if (bytes > rest_.size()) {
        input_.refuse("no Chakra trace, or a damaged one: a field is longer than its record");
    }
    std::string_view const taken = rest_.substr(0, bytes);
    rest_.remove_prefix(taken.size());
    return taken;
}

}  // namespace dlmb::trace
