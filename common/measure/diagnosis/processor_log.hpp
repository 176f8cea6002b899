// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How a rank used its processor while samples were taken. Involuntary context switches say that other work was in the way
// of the communication that was measured.
#pragma once

#include "common/bootstrap/over_ranks.hpp"
#include "common/formats/record/cell_result.hpp"

#include <chrono>
#include <cstdint>
#include <sys/resource.h>

namespace dlmb::measure {

class ProcessorLog {
public:
    /// Outside the timed region, right before and right behind samples.
    void begin() {
        switches_ -= count();
        lasted_ -= now();
    }
    void end() {
        switches_ += count();
        lasted_ += now();
    }

    /// Collective. Between begin() and end(), of the rank with most.
    [[nodiscard]] record::Figure over_ranks(Bootstrap& bootstrap) const {
        double const seconds = std::chrono::duration<double>(lasted_).count();
        auto const most = static_cast<double>(reduce_over_ranks(bootstrap, switches_, Fold::max));
        return {"involuntary_switches", seconds > 0 ? most / seconds : 0, "per second", record::Better::lower,
                "samples"};
    }

private:
    using Duration = std::chrono::steady_clock::duration;

    [[nodiscard]] static std::int64_t count() {
        rusage usage{};
        getrusage(RUSAGE_THREAD, &usage);  // fails for no thread of ours
        return usage.ru_nivcsw;
    }
    [[nodiscard]] static Duration now() { return std::chrono::steady_clock::now().time_since_epoch(); }

    std::int64_t switches_ = 0;
    Duration lasted_{};
};

}  // namespace dlmb::measure
