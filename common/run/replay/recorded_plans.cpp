// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/replay/recorded_plans.hpp"

#include "common/base/error.hpp"
#include "common/formats/plan/traffic.hpp"
#include "common/formats/plan/validate.hpp"
#include "common/formats/plan_file/plan_buffers.hpp"
#include "common/formats/plan_file/plan_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace dlmb::run::replay {
namespace {

constexpr std::size_t most_held = std::size_t{1} << 23;  // of some 25 B each: 200 MB

std::size_t weight_of(Plan const& plan) {
    constexpr std::size_t of_step = 10;
    std::size_t weight = of_step * plan.steps.size();
    for (Group const& group : plan.groups) {
        weight += group.members.size();
    }
    for (Step const& step : plan.steps) {
        weight += sent_blocks(step.operation).size() + received_blocks(step.operation).size() + step.after.size();
    }
    return weight;
}

/// Whether libraries can take it as equal parts; what they do with several messages does not depend on it.
bool is_uniform(Plan const& plan, Operation const& operation) {
    return std::visit(
        [&](auto const& step) {
            if constexpr (requires { step.recv_buffer; }) {
                auto const equal = [&](std::vector<Block> const& blocks) {
                    return blocks.size() == plan.groups[step.group].members.size() &&
                           std::all_of(blocks.begin(), blocks.end(),
                                       [&](Block const& block) { return block.bytes == blocks.front().bytes; });
                };
                return equal(step.send) && equal(step.recv);
            } else if constexpr (requires { step.signals; }) {
                return false;
            } else if constexpr (requires { step.shares; }) {
                return step.shares.empty();
            } else {
                return !requires {
                    step.window;
                };
            }
        },
        operation);
}

}  // namespace

RecordedPlans::RecordedPlans(Request request, int ranks) : request_(std::move(request)) {
    read_plans(request_.path,
               {[&](Plan plan) {
                    plan = fitted(std::move(plan));
                    auto const problems = validate_rank(with_buffers(plan, SIZE_MAX));
                    if (!problems.empty()) {
                        throw UsageError(fmt::format("{}: {}", request_.path.string(), problems.front().text));
                    }
                    hold(std::move(plan));
                    return true;
                },
                [&](PlanFile const& file) {
                    if (iterations_ > 0 && file.world.ranks != recorded_ranks_) {
                        throw UsageError(
                            fmt::format("{}: has {} ranks, the file before has {}; all iterations are of one run",
                                        file.name, file.world.ranks, recorded_ranks_));
                    }
                    recorded_ranks_ = file.world.ranks;
                    ++iterations_;
                    return true;
                }});
    if (recorded_ranks_ != ranks) {
        rescale_to(ranks);
    }
    if (uses_.empty()) {
        throw UsageError(fmt::format("{}: its plans do not communicate", request_.path.string()));
    }
    if (held_) {
        prove();
    }
}

Plan RecordedPlans::fitted(Plan plan) const {
    if (request_.compute_scale == 0) {
        return without(std::move(plan),
                       [](Step const& step) { return std::holds_alternative<Compute>(step.operation); });
    }
    for (Step& step : plan.steps) {
        if (auto* const compute = std::get_if<Compute>(&step.operation)) {
            compute->busy_ns = std::llround(static_cast<double>(compute->busy_ns) * request_.compute_scale);
        }
    }
    return plan;
}

void RecordedPlans::hold(Plan plan) {
    note(plan);
    weight_ += weight_of(plan);
    held_ = held_ && weight_ <= most_held;
    if (!held_) {
        plans_.clear();
        return;
    }
    plans_.resize(iterations_ + 1);
    plans_.back().push_back(std::move(plan));
}

void RecordedPlans::note(Plan const& plan) {
    std::vector<Bytes> bytes;
    visit_places(plan, [&](std::size_t place, Bytes more) {
        bytes.resize(std::max(bytes.size(), place + 1));
        bytes[place] = std::min(bytes[place] + more, Bytes{1} << 62U);
    });
    Bytes left = request_.own_bytes;
    for (std::size_t place = 0; place < bytes.size(); ++place) {
        if (bytes[place] > left) {
            own_places_ = std::min(own_places_, place);
            break;
        }
        left -= bytes[place];
    }
    for (StepId id = 0; id < plan.steps.size(); ++id) {
        Operation const& operation = plan.steps[id].operation;
        if (std::holds_alternative<Compute>(operation)) {
            computes_ = true;
            continue;
        }
        Use& use = uses_[kind_of(operation)];
        use.uniform = use.uniform && is_uniform(plan, operation);
        use.bytes += static_cast<double>(traffic_of_step(plan, id).payload);
    }
}

void RecordedPlans::rescale_to(int ranks) {
    std::string const file = request_.path.string();
    if (request_.rescale == Rescale::refuse) {
        throw UsageError(fmt::format("--plan {}: is of {} ranks, and the launch has {}; start {}, or give --rescale "
                                     "preserve-skew, uniform or truncate",
                                     file, recorded_ranks_, ranks, recorded_ranks_));
    }
    if (!held_) {
        throw UsageError(fmt::format("--rescale: {} is too large to be rescaled", file));
    }
    uses_.clear();
    own_places_ = SIZE_MAX;
    weight_ = 0;
    for (std::vector<Plan>& plans : plans_) {
        plans = rescaled(plans, ranks, request_.rescale);
        for (Plan const& plan : plans) {
            note(plan);
        }
    }
}

/// A mistake would be a hang: what the import proves of its plans, this proves of a file.
void RecordedPlans::prove() const {
    for (std::uint32_t iteration = 0; iteration < iterations_; ++iteration) {
        std::vector<Plan> all;
        for (std::size_t rank = 0; rank < plans_[iteration].size(); ++rank) {
            all.push_back(of(static_cast<Rank>(rank), iteration));
        }
        if (auto const problems = validate(all); !problems.empty()) {
            throw UsageError(fmt::format("{}: the plans of the ranks do not fit together: {}", request_.path.string(),
                                         problems.front().text));
        }
    }
}

Plan RecordedPlans::of(Rank rank, std::uint32_t iteration) const {
    if (held_) {
        return with_buffers(plans_.at(iteration).at(static_cast<std::size_t>(rank)), own_places_);
    }
    std::optional<Plan> found;
    std::uint32_t document = 0;
    read_plans(request_.path, {[&](Plan plan) {
                                   if (document == iteration && plan.me == rank) {
                                       found = fitted(std::move(plan));
                                   }
                                   return !found;
                               },
                               [&](PlanFile const& /*file*/) { return ++document <= iteration; }});
    if (!found) {
        throw Error(fmt::format("{}: was changed while it was measured", request_.path.string()));
    }
    return with_buffers(*found, own_places_);
}

std::vector<OperationUse> RecordedPlans::operations() const {
    std::vector<std::pair<OperationKind, Use>> sorted(uses_.begin(), uses_.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](auto const& one, auto const& other) { return one.second.bytes > other.second.bytes; });
    std::vector<OperationUse> uses;
    std::transform(sorted.begin(), sorted.end(), std::back_inserter(uses), [](auto const& each) {
        return OperationUse{each.first, each.second.uniform};
    });
    return uses;
}

}  // namespace dlmb::run::replay
