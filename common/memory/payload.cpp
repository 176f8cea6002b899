// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/payload.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace dlmb {
namespace {

static_assert(std::endian::native == std::endian::little, "payload words are little-endian in memory");

constexpr std::size_t word = sizeof(std::uint64_t);
constexpr std::size_t lanes = 8;
using Words = std::array<std::uint64_t, lanes>;

/// `lanes` words at once, in a loop of fixed length: what compilers turn into vector code.
inline Words words_at(PayloadKey key, std::uint64_t index) {
    Words words;  // NOLINT(cppcoreguidelines-pro-type-member-init): every element is written below
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        words[lane] = payload_word(key, index + lane);
    }
    return words;
}

std::optional<Mismatch> first_difference(std::byte const* data, Words const& expected, Bytes bytes, Bytes offset) {
    std::array<std::byte, sizeof(Words)> want;  // NOLINT(cppcoreguidelines-pro-type-member-init): copied below
    std::memcpy(want.data(), expected.data(), want.size());
    auto const [found, wanted] = std::mismatch(data, data + bytes, want.begin());
    if (found == data + bytes) {
        return std::nullopt;
    }
    return Mismatch{offset + static_cast<Bytes>(found - data), std::to_integer<std::uint8_t>(*wanted),
                    std::to_integer<std::uint8_t>(*found)};
}

}  // namespace

void fill_payload(std::byte* data, Bytes bytes, PayloadKey key, Bytes start) {
    for (Bytes offset = 0; offset < bytes; offset += sizeof(Words)) {
        Words const words = words_at(key, start + offset / word);
        std::memcpy(data + offset, words.data(), std::min<Bytes>(sizeof words, bytes - offset));
    }
}

std::optional<Mismatch> check_payload(std::byte const* data, Bytes bytes, PayloadKey key, Bytes start) {
    Bytes offset = 0;
    for (; offset + sizeof(Words) <= bytes; offset += sizeof(Words)) {
        Words const expected = words_at(key, start + offset / word);
        Words found;  // NOLINT(cppcoreguidelines-pro-type-member-init): copied in the next line
        std::memcpy(found.data(), data + offset, sizeof found);
        std::uint64_t difference = 0;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            difference |= expected[lane] ^ found[lane];
        }
        if (difference != 0) {
            return first_difference(data + offset, expected, sizeof(Words), offset);
        }
    }
    return offset == bytes
               ? std::nullopt
               : first_difference(data + offset, words_at(key, start + offset / word), bytes - offset, offset);
}

}  // namespace dlmb
