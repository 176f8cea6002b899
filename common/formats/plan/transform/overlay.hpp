// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Two plans of a rank as one: neither waits for a step of the other.
#pragma once

#include "common/formats/plan/plan.hpp"

#include <string>
#include <string_view>

namespace dlmb {

/// The phase of what runs beside a plan, unless another one is named.
inline constexpr std::string_view beside_phase = "beside";

/// The parameter of plans that are an overlay, and its text: the names of the two files.
inline constexpr char const* overlay_parameter = "overlay";
struct OverlayNames {
    std::string main;
    std::string beside;
};
[[nodiscard]] std::string to_string(OverlayNames const& names);
[[nodiscard]] OverlayNames overlay_names(std::string_view text);

/// The plan of rank `plan.me + by`, among ranks that are all moved by so many.
[[nodiscard]] Plan moved(Plan plan, Rank by);

/// The first channel that no send or receive of the plan uses.
[[nodiscard]] int channels_of(Plan const& plan);

/// The steps of `beside`, then those of `main`, of one rank; both plans have buffers. Each keeps its order and what it
/// waits for. Labels of `beside` become "LABEL.<its label>", so that its steps are the phase LABEL. Channels of `main`
/// begin at `channels`, which is channels_of() of the largest plan of `beside`: no message of one is taken for one of
/// the other. A library pairs the collectives of one group by their order, so those of `main` start when the last one
/// of `beside` on the same ranks has started.
[[nodiscard]] Plan overlaid(Plan const& main, Plan const& beside, std::string_view label, int channels);

}  // namespace dlmb
