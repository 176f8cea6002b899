// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The plans of a file for one launch: read, fitted to its ranks and its computing, and proved to fit together.
#pragma once

#include "common/formats/plan/world.hpp"
#include "patterns/pattern.hpp"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace dlmb::run::replay {

struct Request {
    std::filesystem::path path;  // a document, or a folder or archive with one per iteration
    double compute_scale = 1;    // of the time of compute steps; 0: they are left out
    Bytes own_bytes = 0;         // of buffers per rank that steps have for themselves; later steps share buffers
};

/// Plans of up to some million steps and blocks are held and checked against each other. Of more than that each is
/// checked on its own, and read again when it is asked for.
class RecordedPlans {
public:
    /// Throws UsageError that names the file and what is wrong.
    RecordedPlans(Request request, int ranks);

    [[nodiscard]] Plan of(Rank rank, std::uint32_t iteration) const;
    [[nodiscard]] std::uint32_t iterations() const { return iterations_; }
    [[nodiscard]] int recorded_ranks() const { return recorded_ranks_; }
    /// Operations in the plans of any rank, most bytes first.
    [[nodiscard]] std::vector<OperationUse> operations() const;
    /// The mark that dlmb_plan overlay leaves in the plans; empty: they are not from it.
    [[nodiscard]] std::string const& overlay() const { return overlay_; }
    /// Whether some steps are of the phase beside_phase.
    [[nodiscard]] bool runs_beside() const { return runs_beside_; }
    /// False: too large to compare the plans of the ranks with each other.
    [[nodiscard]] bool compared() const { return held_; }

private:
    struct Use {
        bool uniform = true;
        bool scattered = false;
        double bytes = 0;
    };

    [[nodiscard]] Plan fitted(Plan plan) const;
    /// With the buffers of the file, where all ranks have them and they fit; else with new ones.
    [[nodiscard]] Plan laid_out(Plan const& plan) const;
    void hold(Plan plan);
    void note(Plan const& plan);
    void prove() const;

    Request request_;
    int recorded_ranks_ = 0;
    std::uint32_t iterations_ = 0;
    bool held_ = true;
    std::string overlay_;
    bool runs_beside_ = false;
    bool fits_ = true;        // the buffers of the file
    std::size_t weight_ = 0;  // of what is held
    std::size_t own_places_ = SIZE_MAX;
    std::vector<std::vector<Plan>> plans_;  // [iteration][rank]
    std::map<OperationKind, Use> uses_;
};

}  // namespace dlmb::run::replay
