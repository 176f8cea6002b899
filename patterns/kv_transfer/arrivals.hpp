// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// When the requests of an iteration arrive: all at its begin, one at a time, or at times that do not depend on how fast
// earlier ones are served (an open loop, as users are).
#pragma once

#include "common/base/philox.hpp"
#include "common/base/units.hpp"
#include "patterns/kv_transfer/lengths.hpp"

#include <cstdint>
#include <string>

namespace dlmb::kv_transfer {

/// A request of an iteration, by the prefill instance that reads it.
struct RequestPlace {
    std::uint64_t instance = 0;
    std::uint64_t number = 0;     // in that instance
    std::uint64_t instances = 1;  // that prefill
    std::uint64_t requests = 1;   // of each of these

    /// Among those of all instances, in turn.
    [[nodiscard]] std::uint64_t in_draw() const { return number * instances + instance; }
    [[nodiscard]] std::uint64_t of_draw() const { return requests * instances; }
};

class Arrivals {
public:
    enum class Kind : std::uint8_t { together, alone, poisson, recorded };

    /// "together", "alone", "poisson:RATE" (requests per second of each prefill instance), "recorded" or
    /// "recorded:SPEED" (the time stamps of `prompts`, whose distances are divided by SPEED). Throws UsageError that
    /// names --arrivals.
    [[nodiscard]] static Arrivals parse(std::string const& text, PromptLengths const& prompts);

    [[nodiscard]] Kind kind() const { return kind_; }
    [[nodiscard]] bool at_times() const { return kind_ == Kind::poisson || kind_ == Kind::recorded; }
    /// With at_times(): from the arrival of the request before it in its instance to its own; of an instance's first
    /// one: from the begin of the iteration, when the first request of a recorded draw arrives, and that of each
    /// instance otherwise.
    [[nodiscard]] Nanoseconds gap(PromptLengths const& prompts, Draw draw, RequestPlace const& request) const;
    /// How long the arrivals of a draw take: at most, and of random ones on average.
    [[nodiscard]] double duration_ns(PromptLengths const& prompts, std::uint64_t requests,
                                     std::uint64_t instances) const;

private:
    Kind kind_ = Kind::together;
    double number_ = 1;  // RATE or SPEED
};

}  // namespace dlmb::kv_transfer
