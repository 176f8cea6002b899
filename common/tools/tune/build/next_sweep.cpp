// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/tune/build/next_sweep.hpp"

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

std::uint64_t messages(Conditions const& conditions) {
    bool const per_rank =
        conditions.operation == TunedOperation::allgather || conditions.operation == TunedOperation::exchange;
    return per_rank ? conditions.ranks : 1;
}

/// --message-size for `bytes` of the table (patterns/collective/README.md).
Bytes message_size(Conditions const& conditions, Bytes bytes) {
    return bytes / messages(conditions);
}

/// A size near `bytes` whose messages are whole elements.
Bytes rounded(Conditions const& conditions, Bytes bytes) {
    Bytes const message = message_size(conditions, bytes);
    Bytes const step = message >= coarse_from ? coarse_step : fine_step;
    return std::max(message / step * step, fine_step) * messages(conditions);
}

std::string operation_option(Conditions const& conditions) {
    if (conditions.operation == TunedOperation::exchange) {
        return conditions.uniform.value_or(true) ? "alltoall" : "alltoallv";
    }
    return conditions.operation == TunedOperation::reduce_scatter ? "reduce_scatter_block"
                                                                  : std::string(name_of(conditions.operation));
}

/// What makes exchanges as uneven as these. Where nobody says what did: a rank that gets R times as much as each other,
/// which is x = R * ranks / (R + ranks - 1) times the mean. Empty: what --skew is when left out, or it is not possible.
std::string skew_option(Conditions const& conditions) {
    if (!conditions.skew.empty() || !conditions.imbalance || conditions.imbalance->min <= 1) {
        return conditions.skew;
    }
    auto const ranks = static_cast<double>(conditions.ranks);
    double const wanted = std::sqrt(conditions.imbalance->min * std::min(conditions.imbalance->max, ranks));
    return wanted < ranks ? fmt::format("hot_rank:{:.2f}", wanted * (ranks - 1) / (ranks - wanted)) : "";
}

/// Adds the default that others are compared with (Observations::is_default). Its --method is the word default.
std::vector<std::string> with_default(Series const& series, std::set<std::string> methods) {
    methods.erase(default_method);
    std::vector<std::string> all{default_method};
    if (series.scope == "mpi" && series.conditions.operation == TunedOperation::exchange &&
        series.conditions.uniform.value_or(true)) {
        methods.insert(mpi_alltoall);
    }
    all.insert(all.end(), methods.begin(), methods.end());
    return all;
}

}  // namespace

bool can_be_made(Conditions const& conditions) {
    return !conditions.skew.empty() || !conditions.imbalance ||
           conditions.imbalance->min < static_cast<double>(conditions.ranks);
}

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
                job.conditions = series.conditions;
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

std::vector<NextJob> refinements(Built const& built, Policy const& policy, bool accept_unconfirmed) {
    std::vector<NextJob> jobs;
    for (Series const& series : built.series) {
        std::set<Bytes> between;
        for (Bytes const bytes : sizes_between(series.points, policy, accept_unconfirmed)) {
            between.insert(rounded(series.conditions, bytes));
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
        jobs.push_back({series.conditions, sizes, with_default(series, methods), series.scope});
    }
    return jobs;
}

std::string sweep_file(std::string const& name, std::vector<NextJob> const& jobs, NextLaunches const& how) {
    if (jobs.empty()) {
        return {};
    }
    std::string text = fmt::format("name = \"{}\"\nlaunches = {}\n\n[options]\ntiming = \"{}\"\ntime-limit = {}\n",
                                   name, how.launches, how.timing, how.time_limit.empty() ? "1" : how.time_limit);
    if (!how.cache.empty()) {
        text += fmt::format("cache = \"{}\"\n", how.cache);
    }
    std::set<std::pair<std::uint64_t, std::uint64_t>> worlds;
    for (NextJob const& job : jobs) {
        worlds.emplace(job.conditions.ranks, job.conditions.nodes);
    }
    for (auto const& [ranks, nodes] : worlds) {
        text += fmt::format("\n[[world]]\nranks = {}\nnodes = {}\n", ranks, nodes);
    }
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        NextJob const& job = jobs[i];
        std::vector<std::string> sizes;
        for (Bytes const bytes : job.bytes) {
            Bytes const size = message_size(job.conditions, bytes);
            sizes.push_back(fmt::format("{}:{}", size, size));
        }
        text += fmt::format("\n[[program]]\nname = \"{}-{}\"\nprogram = \"collective\"\noperation = \"{}\"\n",
                            operation_option(job.conditions), i + 1, operation_option(job.conditions));
        text += fmt::format("backend = \"{}\"\nmethod = \"{}\"\nmemory = \"{}\"\nmessage-size = \"{}\"\n", job.backend,
                            fmt::join(job.methods, ","), job.conditions.memory, fmt::join(sizes, ","));
        if (!job.conditions.dtype.empty()) {
            text +=
                fmt::format("element = \"{}\"\nreduction = \"{}\"\n", job.conditions.dtype, job.conditions.reduction);
        }
        if (std::string const skew = skew_option(job.conditions); !skew.empty()) {
            text += fmt::format("skew = \"{}\"\n", skew);
        }
        if (job.conditions.in_place) {
            text += "in-place = \"on\"\n";
        }
    }
    return text;
}

}  // namespace dlmb::tuning
