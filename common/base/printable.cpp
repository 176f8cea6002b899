// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/printable.hpp"

#include <array>

namespace dlmb {

std::size_t printable_bytes(std::string_view text) {
    auto const byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned>(static_cast<unsigned char>(text[i])) : 0U;
    };
    unsigned const first = byte(0);
    if (first < 0x80) {
        return first >= ' ' && first != 0x7f ? 1 : 0;
    }
    std::size_t const bytes = first >> 5 == 0b110 ? 2 : first >> 4 == 0b1110 ? 3 : first >> 3 == 0b11110 ? 4 : 0;
    unsigned point = first & (0xffU >> (bytes + 1));
    for (std::size_t i = 1; i < bytes; ++i) {
        if (byte(i) >> 6 != 0b10) {
            return 0;
        }
        point = point << 6 | (byte(i) & 0x3fU);
    }
    // Not C1 controls, not longer than need be, no halves of UTF-16, no end of a line.
    constexpr std::array<unsigned, 5> least{0, 0, 0xa0, 0x800, 0x10000};
    bool const allowed = point >= least.at(bytes) && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff) &&
                         point != 0x2028 && point != 0x2029;
    return allowed ? bytes : 0;
}

}  // namespace dlmb
