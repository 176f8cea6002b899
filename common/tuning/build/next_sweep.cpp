// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/build/next_sweep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace dlmb::tuning {
namespace {

constexpr Bytes fine_step = 8;     // every element type divides it
constexpr Bytes coarse_step = 64;  // and packed blocks of an exchange
constexpr Bytes coarse_from = 4096;

std::uint64_t messages(Place const& place) {
    bool const per_rank = place.operation == TunedOperation::allgather || place.operation == TunedOperation::exchange;
    return per_rank ? place.ranks : 1;
}

/// What --message-size counts for `bytes` of the table (patterns/collective/README.md).
Bytes message_size(Place const& place, Bytes bytes) {
    return bytes / messages(place);
}

/// A size near `bytes` whose messages are whole elements.
Bytes rounded(Place const& place, Bytes bytes) {
    Bytes const message = message_size(place, bytes);
    Bytes const step = message >= coarse_from ? coarse_step : fine_step;
    return std::max(message / step * step, fine_step) * messages(place);
}

std::string operation_option(Place const& place) {
    if (place.operation == TunedOperation::exchange) {
        return place.uniform.value_or(true) ? "alltoall" : "alltoallv";
    }
    return std::string(name_of(place.operation));
}

/// What makes exchanges as uneven as these. Where nobody says what did: a rank that gets R times as much as each other,
/// which is x = R * ranks / (R + ranks - 1) times the mean. Empty: what --skew is when left out, or it is not possible.
std::string skew_option(Place const& place) {
    if (!place.skew.empty() || !place.imbalance || place.imbalance->min <= 1) {
        return place.skew;
    }
    auto const ranks = static_cast<double>(place.ranks);
    double const wanted = std::sqrt(place.imbalance->min * std::min(place.imbalance->max, ranks));
    return wanted < ranks ? fmt::format("hot_rank:{:.2f}", wanted * (ranks - 1) / (ranks - wanted)) : "";
}

/// What others are compared with (Observations::is_default). --method of a backend's default is the word default.
std::vector<std::string> with_default(Series const& series, std::set<std::string> methods) {
    methods.erase(default_method);
    std::vector<std::string> all{default_method};
    if (series.scope == "mpi" && series.place.operation == TunedOperation::exchange &&
        series.place.uniform.value_or(true)) {
        methods.insert(mpi_alltoall);
    }
    all.insert(all.end(), methods.begin(), methods.end());
    return all;
}

/// The winners that stand so, each against the default at its sizes.
std::vector<NextJob> winners_again(Built const& built, Outcome outcome) {
    std::vector<NextJob> jobs;
    for (Series const& series : built.series) {
        if (series.scope == select_scope) {
            continue;
        }
        std::map<std::string, NextJob> by_winner;
        for (Point const& point : series.points) {
            if (point.decision.outcome == outcome) {
                std::string const& method = point.decision.winner->method;
                NextJob& job = by_winner[method];
                job.place = series.place;
                job.backend = series.scope;
                job.methods = with_default(series, {method});
                job.bytes.push_back(point.bytes);
            }
        }
        for (auto& [method, job] : by_winner) {
            jobs.push_back(std::move(job));
        }
    }
    return jobs;
}

}  // namespace

bool can_be_made(Place const& place) {
    return !place.skew.empty() || !place.imbalance || place.imbalance->min < static_cast<double>(place.ranks);
}

std::vector<NextJob> confirmations(Built const& built) {
    return winners_again(built, Outcome::unconfirmed);
}

std::vector<NextJob> repetitions(Built const& built) {
    return winners_again(built, Outcome::undecided);
}

std::vector<NextJob> refinements(Built const& built, Policy const& policy, bool accept_unconfirmed) {
    std::vector<NextJob> jobs;
    for (Series const& series : built.series) {
        std::set<Bytes> between;
        for (Bytes const bytes : sizes_between(series.points, policy, accept_unconfirmed)) {
            between.insert(rounded(series.place, bytes));
        }
        for (Point const& point : series.points) {
            between.erase(point.bytes);  // no finer by whole elements
        }
        std::vector<Bytes> const sizes(between.begin(), between.end());
        if (series.scope == select_scope || sizes.empty()) {
            continue;
        }
        std::set<std::string> methods;
        for (Point const& point : series.points) {
            Outcome const outcome = point.decision.outcome;
            if (outcome == Outcome::chosen || outcome == Outcome::unconfirmed) {
                methods.insert(point.decision.winner->method);
            }
        }
        jobs.push_back({series.place, sizes, with_default(series, methods), series.scope});
    }
    return jobs;
}

std::string sweep_file(std::string const& name, std::vector<NextJob> const& jobs, NextLaunches const& how) {
    if (jobs.empty()) {
        return {};
    }
    std::string text = fmt::format("name = \"{}\"\nlaunches = {}\n\n[options]\ntiming = \"{}\"\ntime-limit = 1\n", name,
                                   how.launches, how.timing);
    if (!how.cache.empty()) {
        text += fmt::format("cache = \"{}\"\n", how.cache);
    }
    std::set<std::pair<std::uint64_t, std::uint64_t>> worlds;
    for (NextJob const& job : jobs) {
        worlds.emplace(job.place.ranks, job.place.nodes);
    }
    for (auto const& [ranks, nodes] : worlds) {
        text += fmt::format("\n[[world]]\nranks = {}\nnodes = {}\n", ranks, nodes);
    }
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        NextJob const& job = jobs[i];
        std::vector<std::string> sizes;
        for (Bytes const bytes : job.bytes) {
            Bytes const size = message_size(job.place, bytes);
            sizes.push_back(fmt::format("{}:{}", size, size));
        }
        text += fmt::format("\n[[program]]\nname = \"{}-{}\"\nprogram = \"collective\"\noperation = \"{}\"\n",
                            operation_option(job.place), i + 1, operation_option(job.place));
        text += fmt::format("backend = \"{}\"\nmethod = \"{}\"\nmemory = \"{}\"\nmessage-size = \"{}\"\n", job.backend,
                            fmt::join(job.methods, ","), job.place.memory, fmt::join(sizes, ","));
        if (!job.place.dtype.empty()) {
            text += fmt::format("element = \"{}\"\nreduction = \"{}\"\n", job.place.dtype, job.place.reduction);
        }
        if (std::string const skew = skew_option(job.place); !skew.empty()) {
            text += fmt::format("skew = \"{}\"\n", skew);
        }
        if (job.place.in_place) {
            text += "in-place = \"on\"\n";
        }
    }
    return text;
}

}  // namespace dlmb::tuning
