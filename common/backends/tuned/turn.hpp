// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Whose turn it is to communicate: never two backends at once. Two libraries in flight starve each other's peers, which
// hangs (docs/design.md, "Quiesce").
#pragma once

#include "common/backend_kit/backend.hpp"

namespace dlmb::tuned {

class Turn {
public:
    /// Collective where true: the backend that had the turn was quiesced. Allocates nothing.
    bool pass_to(Backend& next);
    /// Collective where a backend has the turn.
    void end();

private:
    Backend* active_ = nullptr;
};

}  // namespace dlmb::tuned
