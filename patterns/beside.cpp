// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/beside.hpp"

#include "common/base/error.hpp"
#include "common/base/units.hpp"
#include "common/formats/plan/builder.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace dlmb {
namespace {

constexpr std::string_view alone_suffix = ":alone";
constexpr std::string_view operation_prefix = "allreduce:";

Plan allreduce_plan(WorldShape const& world, Rank me, Bytes bytes) {
    PlanBuilder builder(me);
    Group all;
    all.members.resize(static_cast<std::size_t>(world.ranks));
    std::iota(all.members.begin(), all.members.end(), 0);
    GroupId const group = builder.group(std::move(all));
    builder.all_reduce(group, bytes, Element::fp32, Reduction::sum, std::string(beside_parameter.name));
    return std::move(builder).finish();
}

/// Behind the steps of `plan`, waiting for none of them.
void append_allreduce(Plan& plan, Plan const& one) {
    Step step = one.steps.front();
    auto& operation = std::get<AllReduce>(step.operation);
    Group const& all = one.groups.front();
    auto const known = std::find(plan.groups.begin(), plan.groups.end(), all);
    operation.group = static_cast<GroupId>(known - plan.groups.begin());
    if (known == plan.groups.end()) {
        plan.groups.push_back(all);
    }
    auto const first = static_cast<BufferId>(plan.buffers.size());
    operation.send.buffer += first;
    operation.recv.buffer += first;
    plan.buffers.insert(plan.buffers.end(), one.buffers.begin(), one.buffers.end());
    plan.steps.push_back(std::move(step));
}

class BesidePattern final : public Pattern {
public:
    BesidePattern(std::unique_ptr<Pattern> pattern, WorldShape const& world, Bytes bytes)
        : pattern_(std::move(pattern)), world_(world), bytes_(bytes) {}

    [[nodiscard]] RankSetup setup_of(Rank source, Draw draw) const override { return pattern_->setup_of(source, draw); }
    [[nodiscard]] Plan build(Rank me, Draw draw, RankSetup const& own,
                             std::span<SetupCounts const> received_counts) const override {
        Plan plan = pattern_->build(me, draw, own, received_counts);
        append_allreduce(plan, allreduce_plan(world_, me, bytes_));
        return plan;
    }
    [[nodiscard]] std::vector<Statistic> statistics(std::span<std::uint64_t const> summed) const override {
        return pattern_->statistics(summed);
    }
    [[nodiscard]] std::vector<OperationUse> operations() const override {
        std::vector<OperationUse> uses = pattern_->operations();
        uses.push_back({OperationKind::all_reduce, true});
        return uses;
    }
    [[nodiscard]] bool draws_differ() const override { return pattern_->draws_differ(); }
    [[nodiscard]] std::uint32_t most_draws() const override { return pattern_->most_draws(); }
    [[nodiscard]] Parameters resolved() const override { return pattern_->resolved(); }
    [[nodiscard]] std::vector<std::string> remarks() const override { return pattern_->remarks(); }
    [[nodiscard]] OsuProgram osu_program() const override { return pattern_->osu_program(); }

private:
    std::unique_ptr<Pattern> pattern_;
    WorldShape world_;
    Bytes bytes_;
};

Bytes read_size(std::string_view value) {
    std::string_view size = value;
    if (size.ends_with(alone_suffix)) {
        size.remove_suffix(alone_suffix.size());
    }
    std::string const what = fmt::format("--{} '{}'", beside_parameter.name, value);
    if (!size.starts_with(operation_prefix)) {
        throw UsageError(fmt::format("{}: expected none or allreduce:BYTES, for example allreduce:4M", what));
    }
    Bytes const bytes = parse_bytes(size.substr(operation_prefix.size()), what);
    if (bytes == 0 || bytes % size_of(Element::fp32) != 0) {
        throw UsageError(fmt::format("{}: {} bytes are no whole fp32 numbers (4 B each)", what, bytes));
    }
    return bytes;
}

}  // namespace

bool has_beside(PatternType const& type) {
    return std::any_of(type.parameters.begin(), type.parameters.end(),
                       [](ParameterInfo const& parameter) { return parameter.name == beside_parameter.name; });
}

Beside beside_of(Parameters const& parameters) {
    auto const value = parameters.find(beside_parameter.name);
    if (value == parameters.end() || value->second == beside_parameter.value) {
        return Beside::none;
    }
    return value->second.ends_with(alone_suffix) ? Beside::alone : Beside::together;
}

std::string beside_alone(std::string_view value) {
    return fmt::format("{}{}", value, alone_suffix);
}

std::unique_ptr<Pattern> with_beside(Parameters const& parameters, WorldShape const& world,
                                     std::unique_ptr<Pattern> pattern) {
    Beside const beside = beside_of(parameters);
    if (beside == Beside::none) {
        return pattern;
    }
    Bytes const bytes = read_size(parameters.find(beside_parameter.name)->second);
    if (beside == Beside::alone) {
        return std::make_unique<FixedPattern>(
            std::vector<OperationUse>{{OperationKind::all_reduce, true}},
            [world, bytes](Rank me) { return allreduce_plan(world, me, bytes); }, pattern->resolved());
    }
    return std::make_unique<BesidePattern>(std::move(pattern), world, bytes);
}

}  // namespace dlmb
