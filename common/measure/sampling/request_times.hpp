// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How long requests take that arrive while an iteration runs (formats/plan/arrivals.hpp): from the arrival, planned or
// seen, to the last end of their steps on any rank, and of those of a phase. A planned arrival counts from when it was
// planned, also where a busy host noticed it later: no request waits without being counted.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/bootstrap/bootstrap.hpp"
#include "common/formats/record/cell_result.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dlmb::measure {

class RequestMap {
public:
    /// Collective. `phases`: the labels of PhaseMap, alike on all ranks.
    RequestMap(Bootstrap& bootstrap, std::span<Plan const> plans, std::span<std::string const> phases);

    /// Labels of the phases that requests have, in plan order, without arrivals and computations.
    [[nodiscard]] std::vector<std::string> const& phases() const { return phases_; }
    /// The words of times() for one iteration; 0: no request arrives in any of the plans.
    [[nodiscard]] std::size_t words() const { return requests_ * (1 + phases_.size()); }
    /// For each request: its arrival, negative, and the ends of its phases, of this rank in an iteration of draw `draw`
    /// that it began at `enter` and ended at `done`. Their maxima over ranks are what latencies are made of. Marks and
    /// these two are of the rank's clock, which the common one is `ahead` of. Allocates nothing.
    void times(std::size_t draw, std::span<PhaseMark const> marks, Nanoseconds enter, Nanoseconds done,
               Nanoseconds ahead, std::span<Nanoseconds> words) const;

private:
    struct StepOfRequest {
        std::optional<std::size_t> word;     // of times(); nothing: the step counts for no request
        std::optional<Nanoseconds> planned;  // of arrivals
        bool arrives = false;
    };

    std::size_t requests_ = 0;
    std::vector<std::string> phases_;
    std::vector<std::vector<StepOfRequest>> steps_;  // [draw][step]
};

/// The latencies of all requests of all marked iterations.
class RequestLatencies {
public:
    explicit RequestLatencies(RequestMap const& map) : map_(map), of_phase_(map.phases().size()) {}

    /// `words`: RequestMap::times() of some iterations, the maxima over ranks.
    void add(std::span<Nanoseconds const> words);
    /// "request_latency_p50" and others, and "first_layer_latency_p50" of each phase but the last one, with which a
    /// request ends. Percentiles as statistics::percentile() has them, absent for too few requests.
    [[nodiscard]] std::vector<record::Figure> figures() const;

private:
    RequestMap const& map_;
    std::vector<Nanoseconds> whole_;
    std::vector<std::vector<Nanoseconds>> of_phase_;
};

}  // namespace dlmb::measure
