// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The backends that a launch measures, and the memory they measure in.
#pragma once

#include "common/app/options/options.hpp"
#include "common/backend_kit/chooser.hpp"
#include "common/record/environment.hpp"

#include <memory>
#include <string>
#include <vector>

namespace dlmb::app {

/// A backend that the launch was asked for: open, or the reason why it is not.
struct OpenedBackend {
    std::string name;
    std::shared_ptr<Backend> backend;  // nullptr: `why_not` says it
    std::string why_not;
};

/// Collective. nullptr with a reason unless every rank has this memory.
[[nodiscard]] std::unique_ptr<MemorySpace> memory_on_all_ranks(Bootstrap& bootstrap, MemoryKind kind,
                                                               std::string& why_not);

/// Collective. What --use-table chooses by; nullptr: the option was not given. Throws UsageError, on all ranks, where
/// the file cannot be read on one of them or the table holds for another system than this one.
[[nodiscard]] std::unique_ptr<Chooser> open_chooser(Bootstrap& bootstrap, Options const& options,
                                                    record::Environment const& environment);

/// Collective. Without --backend: every backend that this launch can use. With it: those, usable or not. `chooser`
/// outlives them.
[[nodiscard]] std::vector<OpenedBackend> open_backends(Bootstrap& bootstrap, Options const& options,
                                                       Chooser const* chooser);

/// Rank 0 prints it on standard error, where there is a device, its memory is asked for and mpi runs.
void note_device_path(Bootstrap const& bootstrap, std::span<OpenedBackend const> backends, Options const& options);

}  // namespace dlmb::app
