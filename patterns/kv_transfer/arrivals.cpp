// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/kv_transfer/arrivals.hpp"

#include "common/base/error.hpp"
#include "common/base/exact_math.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace dlmb::kv_transfer {
namespace {

constexpr double least_number = 1e-6;
constexpr double most_number = 1e9;
constexpr double ns_per_ms = 1e6;
constexpr double ns_per_s = 1e9;

}  // namespace

Arrivals Arrivals::parse(std::string const& text, PromptLengths const& prompts) {
    std::size_t const colon = std::min(text.find(':'), text.size());
    std::string_view const word = std::string_view(text).substr(0, colon);
    auto const number =
        colon == text.size() ? std::optional<double>() : parse_whole<double>(std::string_view(text).substr(colon + 1));
    bool const in_range = number && *number >= least_number && *number <= most_number;
    Arrivals arrivals;
    if (text == "together") {
        return arrivals;
    }
    if (text == "alone") {
        arrivals.kind_ = Kind::alone;
    } else if (word == "poisson" && in_range) {
        arrivals.kind_ = Kind::poisson;
        arrivals.number_ = *number;
    } else if (text == "recorded" || (word == "recorded" && in_range)) {
        arrivals.kind_ = Kind::recorded;
        arrivals.number_ = number.value_or(1);
    } else {
        throw UsageError(fmt::format("--arrivals '{}': expected together, alone, poisson:RATE, recorded or "
                                     "recorded:SPEED, with a number from 1e-6 to 1e9",
                                     text));
    }
    if (arrivals.kind_ == Kind::recorded && !prompts.has_times()) {
        throw UsageError("--arrivals recorded: not all requests of --tokens have a \"timestamp\" in milliseconds, no "
                         "earlier than that of the line before; give --tokens file:PATH of a trace that has them");
    }
    return arrivals;
}

Nanoseconds Arrivals::gap(PromptLengths const& prompts, Draw draw, RequestPlace const& request) const {
    if (kind_ == Kind::poisson) {
        if (request.number == 0) {
            return 0;
        }
        // Distances of a Poisson process are exponential. Lengths have the stream of layer 0.
        RandomSequence random(draw.seed, draw.index, static_cast<std::uint32_t>(request.in_draw()),
                              stream_id(Purpose::bag_size, 1));
        return std::llround(-exact::log(to_unit(random.next())) * ns_per_s / number_);
    }
    std::uint64_t const first = prompts.first_of(draw, request.of_draw());
    auto const arrival = [&](std::uint64_t in_draw) {
        double const ms = prompts.arrival_ms(first + in_draw) - prompts.arrival_ms(first);
        return std::llround(ms * ns_per_ms / number_);
    };
    return arrival(request.in_draw()) - (request.number == 0 ? 0 : arrival(request.in_draw() - request.instances));
}

double Arrivals::duration_ns(PromptLengths const& prompts, std::uint64_t requests, std::uint64_t instances) const {
    if (kind_ == Kind::poisson) {
        return static_cast<double>(requests - 1) * ns_per_s / number_;
    }
    double most = 0;
    for (std::uint64_t first = 0; kind_ == Kind::recorded && first < prompts.recorded(); ++first) {
        most = std::max(most, prompts.arrival_ms(first + requests * instances - 1) - prompts.arrival_ms(first));
    }
    return most * ns_per_ms / number_;
}

}  // namespace dlmb::kv_transfer
