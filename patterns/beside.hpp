// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The parameter "beside": traffic that no step of the pattern waits for and that waits for none, such as the gradients
// of one layer while tokens of another are exchanged. It begins with the iteration and may run on another backend.
#pragma once

#include "patterns/pattern.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace dlmb {

/// Its name is also the phase of the steps.
inline constexpr ParameterInfo beside_parameter{
    "beside",
    "traffic at the same time as the rest: none or allreduce:BYTES (fp32, all ranks). Each is measured alone, too; "
    "allreduce:BYTES:alone is without the rest",
    "none"};

/// Whether the pattern has the parameter.
[[nodiscard]] bool has_beside(PatternType const& type);

enum class Beside { none, together, alone };
/// Reads the parameter; none for patterns that do not have it.
[[nodiscard]] Beside beside_of(Parameters const& parameters);
/// "allreduce:4M" -> "allreduce:4M:alone".
[[nodiscard]] std::string beside_alone(std::string_view value);

/// The pattern itself for "none". Throws UsageError for a value that is none of those above.
[[nodiscard]] std::unique_ptr<Pattern> with_beside(Parameters const& parameters, WorldShape const& world,
                                                   std::unique_ptr<Pattern> pattern);

}  // namespace dlmb
