// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The points of a sweep: every preset with every combination of the listed parameter values, in every kind of memory.
// Message sizes are ranges that double, "[MIN:]MAX".
#pragma once

#include "common/base/units.hpp"
#include "common/run/options/options.hpp"
#include "patterns/pattern.hpp"

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::run {

/// MIN, 2 MIN, 4 MIN ... up to and including MAX, which is the last even where doubling passes it. "N:N" is one size.
/// A MIN of 0 is followed by 8. A lone MAX starts at 8 B, or is alone below that: 8 is the smallest size that holds
/// whole elements of every type (OSU starts at 1 because it sends chars). Throws UsageError whose text starts with
/// `option`.
[[nodiscard]] std::vector<Bytes> expand_sizes(std::string_view text, std::string_view option);

/// "8 B", "64 K" or "1536 B": exact, in the largest unit that divides it.
[[nodiscard]] std::string exact_size(Bytes bytes);

/// One combination of preset and parameter values, in one kind of memory.
struct SweepPoint {
    std::string preset;        // empty: none
    Parameters parameters;     // resolved, all of them; a size is in bytes without a suffix
    Parameters preset_values;  // what the preset alone resolves to: the cell id leaves these out
    std::string title;         // "deepseek-v3 tokens=128", "operation=allreduce 64 K": preset, swept values, size
    MemoryKind memory = MemoryKind::host;
    std::string derived{};  // what follows from --model, and what of --parallel does not count; empty: no model
};

/// By the parameters' names, the last one fastest; ranges of sizes (ParameterKind::sizes) are expanded and run faster
/// than these, kinds of memory fastest of all. Throws UsageError. Under --cli the sizes are those that the suite would
/// measure with that many ranks; what it leaves out is counted in `left_out`, by the reason.
[[nodiscard]] std::vector<SweepPoint> expand_sweep(PatternType const& type, Options const& options, int ranks = 1,
                                                   std::map<std::string, std::size_t>* left_out = nullptr);

/// type.make(), whose UsageError says of a value in its text that the preset gave it.
[[nodiscard]] std::unique_ptr<Pattern> make_pattern(PatternType const& type, SweepPoint const& point,
                                                    WorldShape const& world);

/// The points with what their parameters are in this world (Pattern::resolved()); of points that become equal the
/// first. Throws UsageError as make_pattern(). `each` is called after each point.
[[nodiscard]] std::vector<SweepPoint> resolved_in(
    PatternType const& type, std::vector<SweepPoint> points, WorldShape const& world,
    std::function<void()> const& each = [] {});

/// Behind each point the same one in place, where its operation has that form.
[[nodiscard]] std::vector<SweepPoint> with_points_in_place(PatternType const& type, std::span<SweepPoint const> points,
                                                           WorldShape const& world);

/// First the points that tell what the communication of others takes alone, where these need to know
/// (PatternType::set_by_communication).
[[nodiscard]] std::vector<SweepPoint> with_communication_first(PatternType const& type, std::vector<SweepPoint> points);

}  // namespace dlmb::run
