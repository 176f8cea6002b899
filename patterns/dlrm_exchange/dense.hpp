// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How many parameters the dense layers have: one gradient element each in the allreduces.
#pragma once

#include <cstdint>
#include <string_view>

namespace dlmb::dlrm_exchange {

/// Reads "13-512-256-128", the widths of an MLP from its input on: every layer has inputs * outputs weights and outputs
/// biases (facebookresearch/dlrm, create_mlp). A single number is the number of parameters itself; 0: no such layers.
/// Throws UsageError naming `option`.
[[nodiscard]] std::uint64_t mlp_parameters(std::string_view text, std::string_view option);

/// Reads "LAYERSxRANK", the low-rank cross layers of DCN v2 over vectors of `width` values: each has two
/// width * rank matrices and width biases (torchrec, LowRankCrossNet). "0": none. Throws UsageError naming --cross.
[[nodiscard]] std::uint64_t cross_parameters(std::string_view text, std::uint64_t width);

/// The first width of an MLP; 0 when the text is a number of parameters.
[[nodiscard]] std::uint64_t input_width(std::string_view mlp, std::string_view option);

}  // namespace dlmb::dlrm_exchange
