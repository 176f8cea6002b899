// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/block_format.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <utility>

namespace dlmb {
namespace {

constexpr std::array<std::string_view, 5> code_names{"int4", "int8", "fp4", "fp8", "fp8_e5m2"};
constexpr std::array<std::string_view, 2> scale_names{"fp32", "e8m0"};

/// OCP Microscaling Formats (MX) 1.0, table 1: blocks of 32, E8M0 scales.
constexpr std::array<std::pair<std::string_view, Code>, 4> microscaling{
    {{"mxfp4", Code::fp4}, {"mxfp8", Code::fp8}, {"mxfp8_e5m2", Code::fp8_e5m2}, {"mxint8", Code::int8}}};

template <class Names>
std::optional<std::size_t> place_in(Names const& names, std::string_view name) {
    auto const found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? std::nullopt
                                : std::optional<std::size_t>(static_cast<std::size_t>(found - names.begin()));
}

std::optional<std::uint32_t> read_block(std::string_view text) {
    std::uint32_t block = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), block);
    bool const whole = error == std::errc{} && end == text.data() + text.size() && text.front() != '0';
    bool const known =
        block >= BlockFormat::smallest_block && block <= BlockFormat::largest_block && std::has_single_bit(block);
    return whole && known ? std::optional(block) : std::nullopt;
}

}  // namespace

std::string_view name_of(Code code) {
    return code_names.at(static_cast<std::size_t>(code));
}

std::string to_string(BlockFormat const& format) {
    return fmt::format("{}:{}:{}", name_of(format.code), format.block,
                       scale_names.at(static_cast<std::size_t>(format.scale)));
}

std::optional<BlockFormat> block_format_named(std::string_view name) {
    for (auto const& [own, code] : microscaling) {
        if (own == name) {
            return BlockFormat{code, 32, ScaleType::e8m0};
        }
    }
    std::size_t const first = name.find(':');
    std::size_t const second = first == name.npos ? name.npos : name.find(':', first + 1);
    if (second == name.npos) {
        return std::nullopt;
    }
    auto const code = place_in(code_names, name.substr(0, first));
    auto const block = read_block(name.substr(first + 1, second - first - 1));
    auto const scale = place_in(scale_names, name.substr(second + 1));
    if (!code || !block || !scale) {
        return std::nullopt;
    }
    return BlockFormat{static_cast<Code>(*code), *block, static_cast<ScaleType>(*scale)};
}

}  // namespace dlmb
