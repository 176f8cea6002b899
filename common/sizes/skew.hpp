// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How unevenly bins (experts, tables ...) are chosen, as a plain value and as the text of an option. What the families
// mean is in weights.hpp.
#pragma once

#include <string>
#include <string_view>

namespace dlmb {

struct Skew {
    enum class Family { balanced, lognormal, zipf, hot_rank, power_law, uniform, file };
    Family family = Family::lognormal;
    double parameter = 0.24;  // Gini, exponent, factor or alpha; unused by balanced, uniform and file
    std::string path;         // of file
    double intra_host = 1;    // bins on the source's own node weigh this many times more
    bool operator==(Skew const&) const = default;
};

/// Reads balanced, lognormal:GINI, zipf:S, hot_rank:R, power_law:ALPHA, file:PATH or intra_host:R (otherwise uniform);
/// "+intra_host:R" may follow any of them but balanced. Throws UsageError that names --skew and value. `more`: what the
/// caller lets follow besides, for the text of a refusal: ", +rotating:PERIOD".
[[nodiscard]] Skew parse_skew(std::string_view text, std::string_view more = "");

}  // namespace dlmb
