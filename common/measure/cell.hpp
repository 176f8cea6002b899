// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A cell is one point of a sweep on one backend with one method: what is measured, and what a result line is about.
#pragma once

#include "common/base/philox.hpp"
#include "common/formats/plan/osu_program.hpp"
#include "common/formats/plan/world.hpp"
#include "common/measure/buffers/buffer_pool.hpp"
#include "common/measure/buffers/plain_copies.hpp"
#include "common/measure/sampling/phases.hpp"
#include "common/measure/sampling/request_times.hpp"
#include "common/measure/validation/payload_check.hpp"
#include "common/memory/throttling.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dlmb::measure {

struct PointSetup {
    std::uint64_t slots = 1;  // sets of buffers that iterations take in turn
    record::Fill fill = record::Fill::random;
    Bytes flushed_cache = 0;          // swept before each sample; 0: nothing is
    Throttling const* gpu = nullptr;  // that this rank's cells use; nullptr: none
    OsuProgram osu = {};              // for Mode::osu
    /// Processors of its cells' backends for its memory, each once (Backend::computes_in()).
    std::vector<std::optional<Processor>> computed_by = {Processor::host};
    std::function<void()> touch = [] {};  // called as buffers are filled, slot by slot
};

/// Shared by the cells of one point: the plans of this rank, and filled buffers for them.
class PreparedPoint {
public:
    /// Collective. `plans`: one per draw. `bootstrap` and `memory` must outlive it. Throws Error when there is not
    /// enough memory.
    PreparedPoint(Bootstrap& bootstrap, MemorySpace& memory, std::vector<Plan> plans, PointSetup const& setup = {});
    PreparedPoint(PreparedPoint const&) = delete;
    PreparedPoint(PreparedPoint&&) = delete;
    PreparedPoint& operator=(PreparedPoint const&) = delete;
    PreparedPoint& operator=(PreparedPoint&&) = delete;
    ~PreparedPoint() = default;

    [[nodiscard]] std::span<Plan const> plans() const { return plans_; }
    [[nodiscard]] std::span<Allocation const> allocations() const { return pool_.allocations(); }
    [[nodiscard]] MemoryKind memory() const { return pool_.slots().front().kind; }
    [[nodiscard]] Throttling const* gpu() const { return gpu_; }
    [[nodiscard]] OsuProgram const& osu() const { return osu_; }
    [[nodiscard]] PhaseMap const& phases() const { return phases_; }
    [[nodiscard]] RequestMap const& requests() const { return requests_; }
    /// By label, as phases(), for a backend whose answer is `by`.
    [[nodiscard]] std::span<std::optional<record::PlainCopy> const> plain_copies(std::optional<Processor> by) const {
        return plain_copies_.at(by);
    }
    [[nodiscard]] PayloadCheck& check() { return check_; }
    [[nodiscard]] MemorySpace& space() const { return space_; }
    [[nodiscard]] CacheFlush* flush() { return flush_ ? &*flush_ : nullptr; }

    [[nodiscard]] std::uint64_t slots() const { return pool_.slots().size(); }
    /// Iterations take the positions in turn (buffer_pool.hpp).
    [[nodiscard]] std::uint64_t positions() const;
    [[nodiscard]] Plan const& plan_at(std::uint64_t position) const { return plans_[position % plans_.size()]; }
    [[nodiscard]] Buffers const& slot_at(std::uint64_t position) const {
        return pool_.slots()[position % pool_.slots().size()];
    }

private:
    MemorySpace& space_;
    std::vector<Plan> plans_;
    BufferPool pool_;
    std::optional<CacheFlush> flush_;
    Throttling const* gpu_;
    OsuProgram osu_;
    PhaseMap phases_;
    RequestMap requests_;
    std::map<std::optional<Processor>, std::vector<std::optional<record::PlainCopy>>> plain_copies_;
    PayloadCheck check_;
};

struct Cell {
    record::CellIdentity identity;
    std::string id;    // record::cell_id() of the identity
    std::string name;  // "deepseek-v3 tokens=128 ucx pairwise host": for messages
    Backend* backend = nullptr;
    MethodChoice method;
    bool is_default = false;  // the backend's: what its others are compared with, and never dropped
    bool is_named = false;    // by --method, and never dropped
    PreparedPoint* point = nullptr;
    std::vector<std::unique_ptr<CompiledPlan>> positions;  // of the point, compiled
    Nanoseconds setup_ns = 0;                              // what that took on this rank

    /// Collective. Compiles the plans of all positions of the point; `each` is called after each. Returns why this
    /// method cannot run them, alike on all ranks; empty: it can.
    [[nodiscard]] std::string compile(
        Bootstrap& bootstrap, std::function<void()> const& each = [] {});
};

}  // namespace dlmb::measure
