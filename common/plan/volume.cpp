// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/plan/volume.hpp"

#include "common/plan/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

namespace dlmb {
namespace {

/// What one step adds to a Volume: its group and the sizes of its messages.
struct StepSizes {
    Plan const& plan;
    std::size_t group_ranks = 0;
    std::vector<Bytes> messages;

    void operator()(Exchange const& step) {
        enter(step.group);
        for (Block const& block : step.send) {
            add_block(step.group, block);
        }
    }
    void operator()(Send const& step) {
        enter(step.group);
        add_block(step.group, step.to);
    }
    void operator()(Recv const& /*step*/) {}
    void operator()(Compute const& /*step*/) {}
    template <class Collective>
    void operator()(Collective const& step) {
        enter(step.group);
        messages.push_back(step.bytes);
    }

private:
    void enter(GroupId group) { group_ranks = plan.groups.at(group).members.size(); }
    void add_block(GroupId group, Block const& block) {
        if (plan.groups[group].members.at(static_cast<std::size_t>(block.peer)) != plan.me) {
            messages.push_back(block.bytes);
        }
    }
};

Volume& volume_of(std::vector<Volume>& found, std::string_view phase, OperationKind kind, std::size_t group_ranks) {
    auto const same = std::find_if(found.begin(), found.end(), [&](Volume const& each) {
        return each.phase == phase && each.kind == kind && each.group_ranks == group_ranks;
    });
    if (same != found.end()) {
        return *same;
    }
    Volume& added = found.emplace_back();
    added.phase = phase;
    added.kind = kind;
    added.group_ranks = group_ranks;
    return added;
}

}  // namespace

std::vector<Volume> volumes(std::span<Plan const> all_ranks) {
    std::vector<Volume> found;
    for (Plan const& plan : all_ranks) {
        for (StepId id = 0; id < plan.steps.size(); ++id) {
            Step const& step = plan.steps[id];
            OperationKind const kind = kind_of(step.operation);
            if (kind == OperationKind::compute || kind == OperationKind::recv) {
                continue;
            }
            StepSizes sizes{plan, 0, {}};
            std::visit(sizes, step.operation);
            RankTraffic const traffic = traffic_of_step(plan, id);
            Volume& volume = volume_of(found, phase_of(step.label), kind, sizes.group_ranks);
            ++volume.steps;
            volume.messages += sizes.messages.size();
            volume.payload_bytes += traffic.payload;
            volume.wire_bytes += traffic.out;
            for (Bytes const bytes : sizes.messages) {
                ++volume.sizes[std::bit_floor(bytes)];
            }
        }
    }
    return found;
}

std::string volume_table(std::span<Plan const> all_ranks) {
    std::string text = "volume over all ranks; sizes: messages by size, in bins that begin at a power of two\n";
    text += fmt::format("  {:<16}  {:<14}  {:>6}  {:>10}  {:>12}  {:>20}  {:>20}  {}\n", "phase", "operation", "group",
                        "steps", "messages", "payload (B)", "wire (B)", "sizes");
    for (Volume const& volume : volumes(all_ranks)) {
        std::vector<std::string> bins;
        for (auto const& [least, count] : volume.sizes) {
            bins.push_back(fmt::format("{}:{}", human_bytes(least), count));
        }
        text += fmt::format("  {:<16}  {:<14}  {:>6}  {:>10}  {:>12}  {:>20}  {:>20}  {}\n", volume.phase,
                            name_of(volume.kind), volume.group_ranks, volume.steps, volume.messages,
                            volume.payload_bytes, volume.wire_bytes, fmt::join(bins, " "));
    }
    return text;
}

}  // namespace dlmb
