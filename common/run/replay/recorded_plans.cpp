// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/replay/recorded_plans.hpp"

#include "common/base/error.hpp"
#include "common/formats/plan/lay_out.hpp"
#include "common/formats/plan/traffic.hpp"
#include "common/formats/plan/transform/overlay.hpp"
#include "common/formats/plan/transform/rescale.hpp"
#include "common/formats/plan/validate.hpp"
#include "common/formats/plan_file/plan_buffers.hpp"
#include "common/formats/plan_file/plan_file.hpp"
#include "patterns/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace dlmb::run::replay {
namespace {

constexpr std::size_t most_held = std::size_t{1} << 23;  // of some 25 B each: 200 MB

/// Entries of the lists that say where rows lie.
std::size_t rows_of(Operation const& operation) {
    if (auto const* exchange = std::get_if<Exchange>(&operation); exchange != nullptr && exchange->scattered) {
        auto const entries = [](ScatteredSide const& side) { return side.runs.size() + side.origins.size(); };
        return entries(exchange->scattered->sent) + entries(exchange->scattered->received);
    }
    auto const* compute = std::get_if<Compute>(&operation);
    if (compute != nullptr && compute->rearrangement) {
        return compute->rearrangement->runs.size() + compute->rearrangement->origins.size();
    }
    return compute != nullptr && compute->conversion
               ? compute->conversion->blocks.size() + compute->conversion->origins.size()
               : 0;
}

std::size_t weight_of(Plan const& plan) {
    constexpr std::size_t of_step = 10;
    std::size_t weight = of_step * plan.steps.size();
    for (Group const& group : plan.groups) {
        weight += group.members.size();
    }
    for (Step const& step : plan.steps) {
        weight += sent_blocks(step.operation).size() + received_blocks(step.operation).size() + step.after.size();
        weight += rows_of(step.operation);
    }
    return weight;
}

/// Whether libraries can take it as equal parts; what they do with several messages does not depend on it.
bool is_uniform(Plan const& plan, Operation const& operation) {
    return std::visit(
        [&](auto const& step) {
            if constexpr (requires { step.recv_buffer; }) {
                std::size_t const ranks = plan.groups[step.group].members.size();
                auto const equal = [&](std::vector<Block> const& blocks) {
                    return blocks.size() == ranks && (plan.buffers.empty() || packed(blocks, ranks)) &&
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
               {[&](PlanHeader const& header) {
                    if (iterations_ > 0 && header.world.ranks != recorded_ranks_) {
                        throw UsageError(
                            fmt::format("{}: has {} ranks, the plans before have {}; all iterations are of one run",
                                        header.file, header.world.ranks, recorded_ranks_));
                    }
                    recorded_ranks_ = header.world.ranks;
                    auto const overlay = header.parameters.find(overlay_parameter);
                    overlay_ = overlay == header.parameters.end() ? "" : overlay->second;
                    ++iterations_;
                    return true;
                },
                [&](Plan plan) {
                    plan = fitted(std::move(plan));
                    if (plan.buffers.empty()) {
                        auto const problems = validate_rank(with_buffers(plan, SIZE_MAX));
                        if (!problems.empty()) {
                            throw UsageError(fmt::format("{}: {}", request_.path.string(), problems.front().text));
                        }
                    }
                    hold(std::move(plan));
                    return true;
                }});
    if (recorded_ranks_ != ranks) {
        throw UsageError(fmt::format("--plan {}: is of {} ranks, and the launch has {}; start {}, or make plans for {} "
                                     "with dlmb_plan rescale",
                                     request_.path.string(), recorded_ranks_, ranks, recorded_ranks_, ranks));
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
        return without(std::move(plan), [](Step const& step) {
            auto const* compute = std::get_if<Compute>(&step.operation);
            return compute != nullptr && !compute->conversion && !compute->rearrangement;
        });
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
    plans_.resize(iterations_);
    plans_.back().push_back(std::move(plan));
}

void RecordedPlans::note(Plan const& plan) {
    std::vector<Bytes> bytes;
    visit_places(plan, [&](std::size_t place, Bytes more) {
        bytes.resize(std::max(bytes.size(), place + 1));
        bytes[place] = std::min(bytes[place] + more, Bytes{1} << 62U);
    });
    Bytes const recorded = std::accumulate(plan.buffers.begin(), plan.buffers.end(), Bytes{0},
                                           [](Bytes sum, Buffer const& buffer) { return sum + buffer.bytes; });
    fits_ = fits_ && recorded <= request_.own_bytes;
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
        runs_beside_ = runs_beside_ || phase_of(plan.steps[id].label) == beside_phase;
        if (std::holds_alternative<Compute>(operation)) {
            continue;
        }
        Use& use = uses_[kind_of(operation)];
        use.uniform = use.uniform && is_uniform(plan, operation);
        use.scattered = use.scattered || keeps_places(operation);
        use.bytes += static_cast<double>(traffic_of_step(plan, id).payload);
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
        return laid_out(plans_.at(iteration).at(static_cast<std::size_t>(rank)));
    }
    std::optional<Plan> found;
    std::uint32_t begun = 0;
    read_plans(request_.path, {[&](PlanHeader const& /*header*/) { return begun++ <= iteration; },
                               [&](Plan plan) {
                                   if (begun == iteration + 1 && plan.me == rank) {
                                       found = fitted(std::move(plan));
                                   }
                                   return !found;
                               }});
    if (!found) {
        throw Error(fmt::format("{}: was changed while it was measured", request_.path.string()));
    }
    return laid_out(*found);
}

Plan RecordedPlans::laid_out(Plan const& plan) const {
    if (fits_ && !plan.buffers.empty()) {
        return plan;
    }
    try {
        return with_buffers(plan, own_places_);
    } catch (UsageError const& error) {
        throw UsageError(fmt::format("{}: its buffers do not fit into --{}: {}", request_.path.string(),
                                     memory_limit_parameter.name, error.what()));
    }
}

std::vector<OperationUse> RecordedPlans::operations() const {
    std::vector<std::pair<OperationKind, Use>> sorted(uses_.begin(), uses_.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](auto const& one, auto const& other) { return one.second.bytes > other.second.bytes; });
    std::vector<OperationUse> uses;
    std::transform(sorted.begin(), sorted.end(), std::back_inserter(uses), [](auto const& each) {
        return OperationUse{each.first, each.second.uniform, each.second.scattered};
    });
    return uses;
}

}  // namespace dlmb::run::replay
