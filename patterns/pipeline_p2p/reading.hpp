// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Two more strict readers of parameters.
#pragma once

#include "patterns/pattern.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dlmb::pipeline_p2p {

/// The place of the value among the words.
template <std::size_t Count>
[[nodiscard]] std::size_t read_word(Parameters const& parameters, std::string_view name,
                                    std::array<std::string_view, Count> const& words) {
    std::string const& text = read_choice(parameters, name, words);
    return static_cast<std::size_t>(std::find(words.begin(), words.end(), text) - words.begin());
}

[[nodiscard]] inline int read_int(Parameters const& parameters, std::string_view name, std::uint64_t min,
                                  std::uint64_t max) {
    return static_cast<int>(read_unsigned(parameters, name, min, max));
}

}  // namespace dlmb::pipeline_p2p
