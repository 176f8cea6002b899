// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/algorithms/algorithms.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>

namespace dlmb::algorithms {
namespace {

constexpr Bytes scratch_alignment = 64;  // areas of scratch memory do not share one

/// Which earlier micro-steps one must wait for: the writers of what it reads, and the readers and writers of what it
/// overwrites.
class DataFlow {
public:
    /// Adds to `waits` what the access of `step` must wait for. Steps come in order; a step reads before it writes.
    void read(std::uint32_t step, Area area, Bytes bytes, std::vector<std::uint32_t>& waits) {
        auto const [begin, end] = stretches(area, bytes, waits);
        for (auto each = begin; each != end; ++each) {
            each->second.readers.push_back(step);
        }
    }
    void write(std::uint32_t step, Area area, Bytes bytes, std::vector<std::uint32_t>& waits) {
        auto const [begin, end] = stretches(area, bytes, waits);
        for (auto each = begin; each != end; ++each) {
            std::remove_copy(each->second.readers.begin(), each->second.readers.end(), std::back_inserter(waits), step);
        }
        begin->second = {step, {}};
        spaces_.at(static_cast<std::size_t>(area.space)).erase(std::next(begin), end);
    }

private:
    /// Bytes from its key in the map up to the next key.
    struct Stretch {
        std::optional<std::uint32_t> writer;
        std::vector<std::uint32_t> readers;  // since the writer
    };
    using Stretches = std::map<Bytes, Stretch>;

    /// Those that make up the area. Whoever touches them waits for their writers.
    std::pair<Stretches::iterator, Stretches::iterator> stretches(Area area, Bytes bytes,
                                                                  std::vector<std::uint32_t>& waits) {
        Stretches& all = spaces_.at(static_cast<std::size_t>(area.space));
        auto const begin = cut(all, area.offset);
        auto const end = cut(all, area.offset + bytes);
        for (auto each = begin; each != end; ++each) {
            if (each->second.writer) {
                waits.push_back(*each->second.writer);
            }
        }
        return {begin, end};
    }

    /// The stretch that begins at `at`, which is made where there is none.
    static Stretches::iterator cut(Stretches& stretches, Bytes at) {
        auto const behind = stretches.upper_bound(at);
        return stretches.try_emplace(behind, at, std::prev(behind)->second);
    }

    std::array<Stretches, 3> spaces_{{{{0, {}}}, {{0, {}}}, {{0, {}}}}};  // by Space
};

}  // namespace

Area MicroPlanner::scratch(Bytes bytes) {
    Area const fresh{Space::scratch, plan_.scratch_bytes};
    plan_.scratch_bytes += (bytes + scratch_alignment - 1) / scratch_alignment * scratch_alignment;
    return fresh;
}

MicroPlan MicroPlanner::finish() && {
    DataFlow flow;
    for (std::uint32_t number = 0; number < plan_.steps.size(); ++number) {
        MicroStep& step = plan_.steps[number];
        if (step.action != Action::receive) {
            flow.read(number, step.left, step.bytes, step.after);
        }
        if (step.action == Action::reduce) {
            flow.read(number, step.right, step.bytes, step.after);
        }
        if (step.action != Action::send) {
            flow.write(number, step.to, step.bytes, step.after);
        }
        std::sort(step.after.begin(), step.after.end());
        step.after.erase(std::unique(step.after.begin(), step.after.end()), step.after.end());
    }
    return std::move(plan_);
}

}  // namespace dlmb::algorithms
