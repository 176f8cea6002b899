// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// What part of the copy bandwidth packing and unpacking reach: bytes read and written per second next to those of a
// memcpy of the numbers. Copy, pack and unpack take turns of a mebibyte or less, each elsewhere in its memory, and the
// table has the ratio of their median times: other load on the machine slows all three alike. One thread. The first
// size stays in the L2 cache, the second in none.
#include "common/backend_kit/block_codec.hpp"
#include "common/base/clock.hpp"
#include "common/base/statistics/order_statistics.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace dlmb::benchmark {
namespace {

using statistics::median;

constexpr double wanted = 0.6;

template <class Work>
double time_of(Work const& work) {
    Nanoseconds const start = now_ns();
    work();
    return static_cast<double>(std::max<Nanoseconds>(1, now_ns() - start));
}

/// bf16 numbers of either sign between 2^-4 and 2^4.
std::vector<std::uint16_t> some_numbers(std::uint64_t count) {
    std::vector<std::uint16_t> numbers(count);
    std::uint32_t state = 1;
    for (std::uint16_t& number : numbers) {
        state = state * 1664525U + 1013904223U;
        number = static_cast<std::uint16_t>((state >> 31 << 15) + (123U << 7) + ((state >> 16) & 0x3FFU));
    }
    return numbers;
}

/// True: both directions reach what is wanted.
bool print_row(BlockFormat const& format, std::uint64_t count) {
    constexpr std::uint64_t most_numbers_per_turn = std::uint64_t{512} << 10;
    constexpr std::size_t turns = 240;
    std::uint64_t const part = std::min(count, most_numbers_per_turn);
    std::uint64_t const parts = count / part;
    std::vector<std::uint16_t> const numbers = some_numbers(count);
    std::vector<std::uint16_t> back(count, 1);
    std::vector<std::byte> packed(parts * format.row_bytes(part), std::byte{1});
    auto const row = [&](std::size_t index) {
        return PackedRow::at(packed.data() + index % parts * format.row_bytes(part), format, part);
    };
    auto const from = [&](std::size_t index) {
        return reinterpret_cast<std::byte const*>(numbers.data() + index % parts * part);
    };
    auto const to = [&](std::size_t index) { return reinterpret_cast<std::byte*>(back.data() + index % parts * part); };
    for (std::size_t index = 0; index < parts; ++index) {
        host_pack(row(index), from(index), part, Element::bf16, format);
    }
    Bytes const number_bytes = part * sizeof(std::uint16_t);
    std::vector<double> copies;
    std::vector<double> packs;
    std::vector<double> unpacks;
    for (std::size_t turn = 0; turn < turns; ++turn) {
        std::size_t const elsewhere = turn + parts / 3;
        std::size_t const further = turn + 2 * parts / 3;
        copies.push_back(time_of([&] { std::memcpy(to(turn), from(turn), number_bytes); }));
        packs.push_back(time_of([&] { host_pack(row(elsewhere), from(elsewhere), part, Element::bf16, format); }));
        unpacks.push_back(time_of([&] { host_unpack(to(further), row(further), part, Element::bf16, format); }));
    }
    double const copy = static_cast<double>(2 * number_bytes) / median(copies);
    auto const moved = static_cast<double>(number_bytes + format.row_bytes(part));
    double const pack = moved / median(packs) / copy;
    double const unpack = moved / median(unpacks) / copy;
    fmt::print("{:<18}{:>12.1f}{:>12.2f}{:>12.2f}\n", to_string(format), copy, pack, unpack);
    return pack >= wanted && unpack >= wanted;
}

bool print_table(std::uint64_t count) {
    fmt::print("{} bf16 numbers\n{:<18}{:>12}{:>12}{:>12}\n", count, "format", "copy GB/s", "pack/copy", "unpack/copy");
    bool reached = true;
    for (Code const code : {Code::int4, Code::int8, Code::fp4, Code::fp8, Code::fp8_e5m2}) {
        reached = print_row({code, 32, ScaleType::e8m0}, count) && reached;
        reached = print_row({code, 128, ScaleType::fp32}, count) && reached;
    }
    return reached;
}

}  // namespace
}  // namespace dlmb::benchmark

int main() {
    using dlmb::benchmark::print_table;
    print_table(std::uint64_t{64} << 10);
    bool const reached = print_table(std::uint64_t{64} << 20);
    fmt::print("{} of copy bandwidth where no cache holds the numbers: {}\n", dlmb::benchmark::wanted,
               reached ? "reached by all" : "not reached by all");
    return reached ? 0 : 1;
}
