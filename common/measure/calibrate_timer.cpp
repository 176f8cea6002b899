// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/clock.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/measure/calibrate.hpp"
#include "common/measure/statistics.hpp"

#include <algorithm>
#include <limits>

namespace dlmb::measure {
namespace {

constexpr int batches = 100;  // the median over batches: a batch that was interrupted says nothing of the clock
constexpr int reads_per_batch = 1000;
constexpr int regions = 1000;

class NothingToDo final : public CompiledPlan {
public:
    NothingToDo() : CompiledPlan(0) {}
    void launch() override {}
    void finish() override {}
};

struct Reads {
    double cost_ns = 0;
    Nanoseconds step_ns = std::numeric_limits<Nanoseconds>::max();
};

Reads read_repeatedly() {
    Reads reads;
    std::vector<double> costs;
    for (int batch = 0; batch < batches; ++batch) {
        Nanoseconds const begin = now_ns();
        Nanoseconds last = begin;
        for (int i = 0; i < reads_per_batch; ++i) {
            Nanoseconds const now = now_ns();
            reads.step_ns = now > last ? std::min(reads.step_ns, now - last) : reads.step_ns;
            last = now;
        }
        costs.push_back(static_cast<double>(last - begin) / reads_per_batch);
    }
    reads.cost_ns = median(costs);
    return reads;
}

/// What Sampler times, with a plan behind the two virtual calls that does nothing.
double empty_region() {
    std::unique_ptr<CompiledPlan> const plan = std::make_unique<NothingToDo>();
    CompiledPlan* const volatile opaque = plan.get();  // calls through it stay virtual
    std::vector<Nanoseconds> durations;
    for (int i = 0; i < regions; ++i) {
        CompiledPlan* const compiled = opaque;
        Nanoseconds const t_enter = now_ns();
        compiled->launch();
        compiled->finish();
        durations.push_back(now_ns() - t_enter);
    }
    return median(durations);
}

}  // namespace

TimerFloor calibrate_timer(Bootstrap& bootstrap) {
    Reads const reads = read_repeatedly();
    return {max_over_ranks(bootstrap, reads.cost_ns), max_over_ranks(bootstrap, static_cast<double>(reads.step_ns)),
            max_over_ranks(bootstrap, empty_region())};
}

}  // namespace dlmb::measure
