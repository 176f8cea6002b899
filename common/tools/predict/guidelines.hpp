// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Self-consistency of measured collectives: what a program can do by other calls, or by a call of another size, should
// not be faster than the call made for it. Rules: Traff, Gropp, Thakur, "Self-Consistent MPI Performance Guidelines",
// 2010; Hunold, Carpen-Amarie, "Tuning MPI Collectives by Verifying Performance Guidelines", 2018. A call that breaks
// one is slow without a reference machine or library to compare with.
#pragma once

#include "common/tools/predict/schedule.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dlmb::predict {

/// A time and the interval that holds it, us. Without an interval, low and high are the time.
struct TimeRange {
    double time = 0;
    double low = 0;
    double high = 0;
    bool has_interval = true;
};

struct TimedCall {
    std::string setting;  // what calls must share to be compared: machine, library, ranks, memory, method, ...
    Collective collective = Collective::allreduce;
    std::uint64_t bytes =
        0;  // of the full vector: what all ranks give, or get, together; alltoall: what one rank sends
    TimeRange us;
};

/// T(call) <= sum of T(mock), all of the same full vector.
struct Guideline {
    Collective call = Collective::allreduce;
    std::vector<Collective> mock;
};
[[nodiscard]] std::vector<Guideline> const& pattern_guidelines();

/// What was found slower than it should be, and what does the same faster.
struct Violation {
    std::string guideline;  // "allreduce <= reduce + bcast", "allreduce: a larger vector is not faster"
    std::string setting;
    Collective collective = Collective::allreduce;
    std::uint64_t bytes = 0;
    std::uint64_t mock_bytes = 0;  // of the faster calls; the largest where they differ
    TimeRange us;
    TimeRange mock_us;  // of the faster calls together

    /// By which share of the mock's time the call is slower; low: what the intervals leave sure.
    [[nodiscard]] double excess() const { return us.time / mock_us.time - 1; }
    [[nodiscard]] double excess_low() const { return us.low / mock_us.high - 1; }
    [[nodiscard]] double excess_high() const { return us.high / mock_us.low - 1; }
    [[nodiscard]] bool has_interval() const { return us.has_interval && mock_us.has_interval; }
};

struct GuidelineCheck {
    std::uint64_t checks = 0;           // pairs of a call and a guideline that the measurements could answer
    std::vector<Violation> violations;  // largest sure excess first
};

/// Three kinds of rule, for each call of `calls`:
///   pattern  against each of pattern_guidelines(); where the mock was not measured at the same size, at the next
///   larger
///            one below twice of it, which can only be slower
///   size     T(S) <= T(S') for S' > S
///   split    T(k S) <= k T(S) for whole k > 1
/// Of each kind the mock with the largest sure excess is kept. A violation is one with excess_low > `least_excess`.
/// `calls` holds each (setting, collective, bytes) once.
[[nodiscard]] GuidelineCheck check_guidelines(std::vector<TimedCall> const& calls, double least_excess);

}  // namespace dlmb::predict
