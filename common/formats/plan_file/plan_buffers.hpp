// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Buffers for plans that were read from a file, which does not say theirs.
#pragma once

#include "common/formats/plan/plan.hpp"

#include <cstddef>
#include <functional>

namespace dlmb {

/// Bytes of buffers that the steps of a plan without buffers need for themselves; `place`: how many steps there are
/// before in the plan on the same group, or messages on the same channel to or from the same rank. All ranks of a step
/// tell the same `place`.
using PlaceVisitor = std::function<void(std::size_t place, Bytes bytes)>;
void visit_places(Plan const& plan, PlaceVisitor const& visit);

/// The plan with buffers. A step has its own where its place (see above) is below `own_places`; the others share
/// buffers, which are not checked. Throws UsageError where parts are no whole elements.
[[nodiscard]] Plan with_buffers(Plan const& plan, std::size_t own_places);

}  // namespace dlmb
