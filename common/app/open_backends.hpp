// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The backends that a launch measures.
#pragma once

#include "common/app/launch_context.hpp"
#include "common/app/options.hpp"
#include "common/backend_kit/chooser.hpp"
#include "common/record/environment.hpp"

#include <memory>
#include <vector>

namespace dlmb::app {

/// Collective. What --use-table chooses by; nullptr: the option was not given. Throws UsageError, on all ranks, where
/// the file cannot be read on one of them or the table holds for another system than this one.
[[nodiscard]] std::unique_ptr<Chooser> open_chooser(Bootstrap& bootstrap, Options const& options,
                                                    record::Environment const& environment);

/// Collective. Without --backend: every backend that this launch can use. With it: those, usable or not. `chooser`
/// outlives them.
[[nodiscard]] std::vector<RequestedBackend> open_backends(Bootstrap& bootstrap, Options const& options,
                                                          Chooser const* chooser);

}  // namespace dlmb::app
