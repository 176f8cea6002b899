// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Where an export to an MPI library is tried: at the ends of each rule, beside them, and with other numbers of ranks.
#pragma once

#include "common/tuning/exporters/mpi_collective.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dlmb::app::tune {

struct Probe {
    tuning::MpiCollective collective;
    Bytes bytes = 0;  // native basis, a multiple of 4 * ranks
    std::uint64_t ranks = 0;
    std::string algorithm;  // what the table says; empty: the library's own choice
    bool operator==(Probe const&) const = default;
    // NOLINTNEXTLINE(modernize-use-nullptr): false alarm of clang-tidy 14
    auto operator<=>(Probe const&) const = default;
};

/// Rules in `lost` are left out. `ranks`: only rules that hold for this number.
[[nodiscard]] std::vector<Probe> probes(tuning::TuningTable const& table, tuning::Slice const& slice,
                                        std::vector<tuning::Lost> const& lost, std::optional<std::uint64_t> ranks);

}  // namespace dlmb::app::tune
