// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/cell.hpp"

#include "common/backend_kit/compute.hpp"
#include "common/base/clock.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/over_ranks.hpp"

#include <algorithm>

namespace dlmb::measure {
namespace {

BufferPool filled_pool(Bootstrap& bootstrap, MemorySpace& memory, std::span<Plan const> plans,
                       PointSetup const& setup) {
    if (plans.empty() || setup.slots == 0) {
        throw Error("a point without plans or without buffers");
    }
    BufferPool pool(memory, allocated_sizes(bootstrap, memory.kind(), plans), setup.slots, buffer_leads(plans.front()));
    fill_slots(memory, pool.slots(), plans, setup.fill, setup.touch);
    return pool;
}

}  // namespace

PreparedPoint::PreparedPoint(Bootstrap& bootstrap, MemorySpace& memory, std::vector<Plan> plans,
                             PointSetup const& setup)
    : space_(memory), plans_(std::move(plans)), pool_(filled_pool(bootstrap, memory, plans_, setup)), gpu_(setup.gpu),
      osu_(setup.osu), phases_(bootstrap, plans_), requests_(bootstrap, plans_, phases_.labels()),
      check_(bootstrap, memory, pool_.slots(), plans_, setup.fill) {
    if (setup.flushed_cache > 0) {
        flush_.emplace(memory, setup.flushed_cache);
    }
    bool overwritten = false;
    for (auto const by : setup.computed_by) {
        auto copies = time_plain_copies(bootstrap, pool_.slots(), plans_, phases_.labels(), by, flush());
        overwritten = overwritten || std::any_of(copies.begin(), copies.end(), [](auto const& copy) { return copy; });
        plain_copies_.emplace(by, std::move(copies));
    }
    if (overwritten) {
        fill_slots(memory, pool_.slots(), plans_, setup.fill, setup.touch);
    }
}

std::uint64_t PreparedPoint::positions() const {
    return positions_of(plans_.size(), pool_.slots().size());
}

std::string Cell::compile(Bootstrap& bootstrap, std::function<void()> const& each) {
    Nanoseconds const start = now_ns();
    std::string why_not =
        first_refusal(bootstrap, why_no_rearrangement(point->plans().front(), *backend, point->memory()));
    for (std::uint64_t position = 0; position < point->positions() && why_not.empty(); ++position) {
        auto compiled = backend->compile(point->plan_at(position), point->slot_at(position), method);
        why_not = first_refusal(bootstrap, compiled ? "" : compiled.error().reason);
        if (why_not.empty()) {
            positions.push_back(std::move(compiled).value());
        }
        each();
    }
    if (!why_not.empty()) {
        positions.clear();
    }
    setup_ns = now_ns() - start;
    backend->quiesce();
    return why_not;
}

}  // namespace dlmb::measure
