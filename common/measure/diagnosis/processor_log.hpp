// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How a rank used its processor while samples were taken. Involuntary context switches say that other work was in the
// way of the communication that was measured. Processor time says what the communication leaves to computation.
#pragma once

#include "common/bootstrap/over_ranks.hpp"
#include "common/formats/record/cell_result.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <sys/resource.h>

namespace dlmb::measure {

class ProcessorLog {
public:
    explicit ProcessorLog(clockid_t clock) : clock_(clock) {}
    /// Counts all threads of a rank that is a process, and only its own thread where ranks share one.
    explicit ProcessorLog(Bootstrap const& bootstrap)
        : ProcessorLog(bootstrap.kind() == "in_process" ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID) {}

    /// Outside the timed region, right before and right behind samples.
    void begin() {
        switches_ -= switches();
        used_ns_ -= used_ns();
        lasted_ -= now();
    }
    void end() {
        switches_ += switches();
        used_ns_ += used_ns();
        lasted_ += now();
    }

    /// Collective. Between begin() and end(), of the rank with most.
    [[nodiscard]] std::array<record::Figure, 2> over_ranks(Bootstrap& bootstrap) const {
        double const seconds = std::chrono::duration<double>(lasted_).count();
        auto const per_second = [seconds](double count) { return seconds > 0 ? count / seconds : 0; };
        auto const most = static_cast<double>(reduce_over_ranks(bootstrap, switches_, Fold::max));
        double const processors = per_second(static_cast<double>(used_ns_) / ns_per_second);
        return {{{"involuntary_switches", per_second(most), "per second", record::Better::lower, "samples"},
                 {"processors_used", max_over_ranks(bootstrap, processors), "processors", record::Better::lower,
                  "samples"}}};
    }

private:
    using Duration = std::chrono::steady_clock::duration;
    static constexpr std::int64_t ns_per_second = 1'000'000'000;

    // Neither call fails: the thread and the clocks exist.
    [[nodiscard]] static std::int64_t switches() {
        rusage usage{};
        getrusage(RUSAGE_THREAD, &usage);
        return usage.ru_nivcsw;
    }
    [[nodiscard]] std::int64_t used_ns() const {
        timespec used{};
        clock_gettime(clock_, &used);
        return used.tv_sec * ns_per_second + used.tv_nsec;
    }
    [[nodiscard]] static Duration now() { return std::chrono::steady_clock::now().time_since_epoch(); }

    clockid_t clock_;
    std::int64_t switches_ = 0;
    std::int64_t used_ns_ = 0;
    Duration lasted_{};
};

}  // namespace dlmb::measure
