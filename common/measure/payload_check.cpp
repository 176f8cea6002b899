// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/payload_check.hpp"

#include "common/backend/plan_payload.hpp"
#include "common/measure/agree.hpp"
#include "common/plan/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace dlmb::measure {
namespace {

constexpr Bytes small_world_payload = Bytes{256} << 20;

// The largest draw counts.
Bytes world_payload(Bootstrap& bootstrap, std::span<Plan const> plans) {
    std::vector<std::int64_t> payload;
    payload.reserve(plans.size());
    for (Plan const& plan : plans) {
        payload.push_back(static_cast<std::int64_t>(traffic_of(plan).payload));
    }
    bootstrap.all_reduce(payload, Fold::sum);
    return payload.empty() ? 0 : static_cast<Bytes>(*std::max_element(payload.begin(), payload.end()));
}

}  // namespace

void touch_buffers(MemorySpace& memory, Buffers const& buffers, std::span<Plan const> plans) {
    std::vector<Bytes> largest(buffers.base.size(), 0);
    for (Plan const& plan : plans) {
        for (BufferId id = 0; id < plan.buffers.size(); ++id) {
            largest.at(id) = std::max(largest.at(id), plan.buffers[id].bytes);
        }
    }
    for (BufferId id = 0; id < largest.size(); ++id) {
        if (largest[id] > 0) {
            memory.fill(buffers.base[id], largest[id], guard_key);
        }
    }
}

PayloadCheck::PayloadCheck(Bootstrap& bootstrap, MemorySpace& memory, Buffers const& buffers,
                           std::span<Plan const> plans)
    : bootstrap_(bootstrap), memory_(memory), buffers_(buffers), plans_(plans),
      all_draws_(world_payload(bootstrap, plans) < small_world_payload) {}

std::vector<std::uint32_t> PayloadCheck::before() const {
    std::vector<std::uint32_t> draws(all_draws_ ? plans_.size() : 1);
    std::iota(draws.begin(), draws.end(), 0U);
    return draws;
}

std::vector<std::uint32_t> PayloadCheck::after() const {
    return all_draws_ ? before() : std::vector<std::uint32_t>{plans_.size() > 1 ? 1U : 0U};
}

Nanoseconds PayloadCheck::run(std::uint32_t draw, CompiledPlan& compiled, Validation& validation) {
    std::uint32_t const iteration = iteration_++;
    PlanPayload payload(memory_, buffers_, plans_[draw]);
    payload.prepare(iteration);

    bootstrap_.barrier();  // a peer that is ahead must not write into memory that is still being prepared here
    Nanoseconds const t_enter = now_ns();
    compiled.launch();
    compiled.finish();
    Nanoseconds const duration = now_ns() - t_enter;

    std::vector<std::string> const mismatches = payload.verify(iteration);
    agree(draw, mismatches, payload.blocks_checked(), validation);
    return folded(bootstrap_, duration, Fold::max);
}

void PayloadCheck::agree(std::uint32_t draw, std::vector<std::string> const& mismatches, std::uint64_t blocks,
                         Validation& validation) {
    validation.blocks_checked +=
        static_cast<std::uint64_t>(folded(bootstrap_, static_cast<std::int64_t>(blocks), Fold::sum));
    auto const checked = std::lower_bound(validation.draws_checked.begin(), validation.draws_checked.end(), draw);
    if (checked == validation.draws_checked.end() || *checked != draw) {
        validation.draws_checked.insert(checked, draw);
    }
    int const ranks = bootstrap_.size();
    auto const first = static_cast<Rank>(folded(bootstrap_, mismatches.empty() ? ranks : bootstrap_.rank(), Fold::min));
    if (first == ranks) {
        return;
    }
    std::string const text = text_from_rank(bootstrap_, mismatches.empty() ? "" : mismatches.front(), first);
    if (validation.verdict != Verdict::failed) {
        validation.first_mismatch = fmt::format("draw {}, rank {}: {}", draw, first, text);
    }
    validation.verdict = Verdict::failed;
}

}  // namespace dlmb::measure
