// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/algorithms/micro_planner.hpp"

#include <algorithm>
#include <utility>

namespace dlmb::algorithms {
namespace {

constexpr Bytes scratch_alignment = 64;  // areas of scratch memory do not share one

}  // namespace

void MicroPlanner::send(int peer, Area from, Bytes bytes) {
    add({Action::send, peer, {}, from, {}, bytes, {}});
}

void MicroPlanner::receive(int peer, Area to, Bytes bytes) {
    add({Action::receive, peer, to, {}, {}, bytes, {}});
}

void MicroPlanner::copy(Area to, Area from, Bytes bytes) {
    if (to != from) {
        add({Action::copy, -1, to, from, {}, bytes, {}});
    }
}

void MicroPlanner::reduce(Area to, Area left, Area right, Bytes bytes) {
    add({Action::reduce, -1, to, left, right, bytes, {}});
}

Area MicroPlanner::scratch(Bytes bytes) {
    Area const fresh{Space::scratch, plan_.scratch_bytes};
    plan_.scratch_bytes += (bytes + scratch_alignment - 1) / scratch_alignment * scratch_alignment;
    return fresh;
}

void MicroPlanner::add(MicroStep step) {
    if (step.bytes == 0) {
        return;
    }
    auto const number = static_cast<std::uint32_t>(plan_.steps.size());
    if (step.action != Action::receive) {
        flow_.read(number, step.left, step.bytes, step.after);
    }
    if (step.action == Action::reduce) {
        flow_.read(number, step.right, step.bytes, step.after);
    }
    if (step.action != Action::send) {
        flow_.write(number, step.to, step.bytes, step.after);
    }
    std::sort(step.after.begin(), step.after.end());
    step.after.erase(std::unique(step.after.begin(), step.after.end()), step.after.end());
    plan_.steps.push_back(std::move(step));
}

}  // namespace dlmb::algorithms
