// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The backends that a launch measures and the memory they measure in, and the cells of one point of a sweep: which
// (backend, method) pairs are asked for.
#pragma once

#include "common/backend_kit/chooser.hpp"
#include "common/formats/record/record.hpp"
#include "common/measure/cell.hpp"
#include "common/measure/environment/capture.hpp"
#include "common/run/sweep.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dlmb::run {

/// Collective. Throws UsageError on every rank where `problem`, of any rank, is not empty.
void require_usable(Bootstrap& bootstrap, std::string const& problem);

/// A backend that the launch was asked for: open, or the reason why it is not.
struct OpenedBackend {
    std::string name;
    std::shared_ptr<Backend> backend;  // nullptr: `why_not` says it
    std::string why_not;
    bool only_beside = false;                // runs nothing but steps of the phase beside_phase
    std::shared_ptr<Backend> with_beside{};  // and --beside-backend; nullptr: it is the same, or not usable
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

/// The cells of a launch are chosen by these.
struct CellSource {
    PatternType const& type;
    Options const& options;
    WorldShape world;
    std::vector<OpenedBackend> const& backends;
    bool assumed_nodes = false;  // `world` has other nodes than this launch
};

/// Draws that a launch compiles of this traffic.
[[nodiscard]] std::uint32_t draws_of(Pattern const& pattern, Options const& options);

/// Throws UsageError for a requested method that none of the usable backends has.
void check_methods(std::span<OpenedBackend const> backends, Options const& options);

/// Cells that may run here; nothing is compiled. `skip` is called with each other one, and why it cannot.
[[nodiscard]] std::vector<measure::Cell>
cells_of(CellSource const& source, SweepPoint const& point, Pattern const& pattern,
         std::function<void(measure::Cell const&, std::string const& reason)> const& skip);

/// The part of a cell's result line that does not depend on measuring it.
[[nodiscard]] record::Record record_of(measure::Cell const& cell);

}  // namespace dlmb::run
