// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/algorithms/micro_plan.hpp"

#include <algorithm>
#include <iterator>

namespace dlmb::algorithms {
namespace {

constexpr Bytes scratch_alignment = 64;  // areas of scratch memory do not share one

}  // namespace

/// The stretch that begins at `at`, which is made where there is none.
DataFlow::Stretches::iterator DataFlow::cut(Stretches& stretches, Bytes at) {
    auto const next = stretches.lower_bound(at);
    if (next != stretches.end() && next->first == at) {
        return next;
    }
    return stretches.emplace_hint(next, at, std::prev(next)->second);
}

void DataFlow::read(std::uint32_t step, Area area, Bytes bytes, std::vector<std::uint32_t>& waits) {
    Stretches& stretches = spaces_.at(static_cast<std::size_t>(area.space));
    auto const begin = cut(stretches, area.offset);
    auto const end = cut(stretches, area.offset + bytes);
    for (auto each = begin; each != end; ++each) {
        if (each->second.writer) {
            waits.push_back(*each->second.writer);
        }
        each->second.readers.push_back(step);
    }
}

void DataFlow::write(std::uint32_t step, Area area, Bytes bytes, std::vector<std::uint32_t>& waits) {
    Stretches& stretches = spaces_.at(static_cast<std::size_t>(area.space));
    auto const begin = cut(stretches, area.offset);
    auto const end = cut(stretches, area.offset + bytes);
    for (auto each = begin; each != end; ++each) {
        if (each->second.writer) {
            waits.push_back(*each->second.writer);
        }
        std::copy_if(each->second.readers.begin(), each->second.readers.end(), std::back_inserter(waits),
                     [step](std::uint32_t reader) { return reader != step; });
    }
    begin->second = {step, {}};
    stretches.erase(std::next(begin), end);
}

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
