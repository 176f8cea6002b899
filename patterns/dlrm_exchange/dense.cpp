// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dlrm_exchange/dense.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

namespace dlmb::dlrm_exchange {
namespace {

constexpr std::uint64_t max_width = std::uint64_t{1} << 24;
constexpr std::uint64_t max_parameters = std::uint64_t{1} << 48;
constexpr std::size_t max_layers = 1024;

/// Numbers from `min` to `max` between separators; empty when the text is anything else.
std::vector<std::uint64_t> split(std::string_view text, char separator, std::uint64_t min, std::uint64_t max) {
    std::vector<std::uint64_t> numbers;
    while (true) {
        auto const end = std::min(text.find(separator), text.size());
        std::uint64_t number = 0;
        auto const [rest, error] = std::from_chars(text.data(), text.data() + end, number);
        if (end == 0 || error != std::errc{} || rest != text.data() + end || number < min || number > max) {
            return {};
        }
        numbers.push_back(number);
        if (end == text.size()) {
            return numbers;
        }
        text.remove_prefix(end + 1);
    }
}

bool is_chain(std::string_view text) {
    return text.find('-') != std::string_view::npos;
}

std::vector<std::uint64_t> read_mlp(std::string_view text, std::string_view option) {
    std::vector<std::uint64_t> numbers =
        is_chain(text) ? split(text, '-', 1, max_width) : split(text, '-', 0, max_parameters);
    if (numbers.empty() || numbers.size() > max_layers) {
        throw UsageError(fmt::format("{} '{}': expected layer widths up to {} from the input on (13-512-256-64), or a "
                                     "number of parameters",
                                     option, text, max_width));
    }
    return numbers;
}

}  // namespace

std::uint64_t mlp_parameters(std::string_view text, std::string_view option) {
    std::vector<std::uint64_t> const widths = read_mlp(text, option);
    if (!is_chain(text)) {
        return widths.front();
    }
    std::uint64_t parameters = 0;
    for (std::size_t layer = 1; layer < widths.size(); ++layer) {
        parameters += (widths[layer - 1] + 1) * widths[layer];
    }
    return parameters;
}

std::uint64_t cross_parameters(std::string_view text, std::uint64_t width) {
    if (text == "0") {
        return 0;
    }
    std::vector<std::uint64_t> const numbers = split(text, 'x', 1, max_width);
    if (numbers.size() != 2 || numbers[0] > max_layers) {
        throw UsageError(fmt::format("--cross '{}': expected LAYERSxRANK (3x512), or 0 for none", text));
    }
    if (width == 0) {
        throw UsageError(fmt::format(
            "--cross '{}': needs the input width of the top MLP; give --top as widths, not as a count", text));
    }
    return numbers[0] * (2 * width * numbers[1] + width);
}

std::uint64_t input_width(std::string_view mlp, std::string_view option) {
    return is_chain(mlp) ? read_mlp(mlp, option).front() : 0;
}

}  // namespace dlmb::dlrm_exchange
