// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/plan/plan_text.hpp"

#include "common/plan/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

namespace dlmb {
namespace {

/// The sizes of the messages that one step adds to a Volume.
std::vector<Bytes> message_sizes(Plan const& plan, Operation const& operation) {
    std::vector<Bytes> sizes;
    for (Block const& block : sent_blocks(operation)) {
        if (world_rank(plan, *group_of(operation), block.peer) != plan.me) {
            sizes.insert(sizes.end(), messages_of_block(operation), block.bytes);
        }
    }
    std::visit(
        [&](auto const& step) {
            if constexpr (requires { step.element; }) {
                sizes.push_back(step.bytes);
            }
        },
        operation);
    return sizes;
}

Volume& volume_of(std::vector<Volume>& found, std::string_view phase, OperationKind kind, std::size_t group_ranks) {
    auto const same = std::find_if(found.begin(), found.end(), [&](Volume const& each) {
        return each.phase == phase && each.kind == kind && each.group_ranks == group_ranks;
    });
    if (same != found.end()) {
        return *same;
    }
    return found.emplace_back(Volume{.phase = std::string(phase), .kind = kind, .group_ranks = group_ranks});
}

constexpr std::size_t ranks_printed_by_cell = 32;

std::vector<std::string> phases_of(std::span<Plan const> all_ranks) {
    std::vector<std::string> phases;
    for (Plan const& plan : all_ranks) {
        for (Step const& step : plan.steps) {
            std::string_view const phase = phase_of(step.label);
            if (std::find(phases.begin(), phases.end(), phase) == phases.end()) {
                phases.emplace_back(phase);
            }
        }
    }
    return phases;
}

std::string steps_table(Plan const& plan) {
    std::string text;
    for (std::size_t id = 0; id < plan.steps.size(); ++id) {
        Step const& step = plan.steps[id];
        RankTraffic const traffic = traffic_of_step(plan, static_cast<StepId>(id));
        text += fmt::format("{:>6}  {:<14}  {:<24}  {:>16}  {:>16}  {:>16}  {:>8}", id, name_of(step.operation),
                            step.label, traffic.payload, traffic.out, traffic.in, traffic.messages);
        text += fmt::format("  {}\n", step.after.empty() ? "-" : fmt::format("{}", fmt::join(step.after, ",")));
    }
    return text;
}

/// Neighbouring ranks with the same table are printed once.
void add_steps(std::string& text, std::span<Plan const> all_ranks) {
    text += fmt::format("{:>6}  {:<14}  {:<24}  {:>16}  {:>16}  {:>16}  {:>8}  {}\n", "step", "operation", "label",
                        "payload (B)", "wire out (B)", "wire in (B)", "messages", "after");
    std::vector<std::string> tables;
    tables.reserve(all_ranks.size());
    for (Plan const& plan : all_ranks) {
        tables.push_back(steps_table(plan));
    }
    for (std::size_t first = 0; first < tables.size();) {
        std::size_t last = first;
        while (last + 1 < tables.size() && tables[last + 1] == tables[first]) {
            ++last;
        }
        text += fmt::format("{}\n",
                            first == last ? fmt::format("rank {}", first) : fmt::format("ranks {} to {}", first, last));
        text += fmt::format("{}", tables[first].empty() ? "        no steps\n" : tables[first]);
        first = last + 1;
    }
}

void add_totals(std::string& text, std::span<Plan const> all_ranks, std::string_view phase) {
    std::vector<RankTraffic> traffic;
    for (Plan const& plan : all_ranks) {
        traffic.push_back(traffic_of(plan, phase));
    }
    TrafficSummary const summary = summarize(traffic);
    text += fmt::format("  payload {} B, of which {} B to self; wire {} B\n", summary.payload_bytes, summary.self_bytes,
                        summary.wire_bytes);
    text += fmt::format("  busiest rank {} B, balanced {:.1f} B; imbalance (max/mean) send {:.3f}, recv {:.3f}\n",
                        summary.busiest_rank_bytes, summary.balanced_rank_bytes, summary.imbalance_send,
                        summary.imbalance_recv);
}

/// A row per rank: what it sends to every rank, or, of many ranks, a summary of that; itself and silent ones included.
void add_matrix(std::string& text, std::span<Plan const> all_ranks, std::string_view phase) {
    bool const by_cell = all_ranks.size() <= ranks_printed_by_cell;
    if (by_cell) {
        text += fmt::format("{:>8}", "from\\to");
        for (Plan const& plan : all_ranks) {
            text += fmt::format("  {:>13}", plan.me);
        }
        text += fmt::format("  {:>15}\n", "sum");
    } else {
        text +=
            fmt::format("{:>8}  {:>16}  {:>13}  {:>13}  {:>8}\n", "from", "sum (B)", "max (B)", "min (B)", "max/mean");
    }
    for (Plan const& plan : all_ranks) {
        std::vector<Bytes> row(all_ranks.size());
        add_sent_bytes(plan, phase, row);
        Bytes const sum = std::accumulate(row.begin(), row.end(), Bytes{0});
        if (by_cell) {
            text += fmt::format("{:>8}", plan.me);
            for (Bytes const bytes : row) {
                text += fmt::format("  {:>13}", bytes);
            }
            text += fmt::format("  {:>15}\n", sum);
        } else {
            auto const [min, max] = std::minmax_element(row.begin(), row.end());
            double const mean = static_cast<double>(sum) / static_cast<double>(row.size());
            text += fmt::format("{:>8}  {:>16}  {:>13}  {:>13}  {:>8.3f}\n", plan.me, sum, *max, *min,
                                sum == 0 ? 1.0 : static_cast<double>(*max) / mean);
        }
    }
}

bool has_peer_bytes(std::span<Plan const> all_ranks, std::string_view phase) {
    return std::any_of(all_ranks.begin(), all_ranks.end(), [&](Plan const& plan) {
        return std::any_of(plan.steps.begin(), plan.steps.end(), [&](Step const& step) {
            OperationKind const kind = kind_of(step.operation);
            return (kind == OperationKind::exchange || kind == OperationKind::send) && phase_of(step.label) == phase;
        });
    });
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
            std::vector<Bytes> const sizes = message_sizes(plan, step.operation);
            RankTraffic const traffic = traffic_of_step(plan, id);
            std::size_t const group_ranks = plan.groups.at(*group_of(step.operation)).members.size();
            Volume& volume = volume_of(found, phase_of(step.label), kind, group_ranks);
            ++volume.steps;
            volume.messages += sizes.size();
            volume.payload_bytes += traffic.payload;
            volume.wire_bytes += traffic.out;
            for (Bytes const bytes : sizes) {
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

std::string to_text(std::span<Plan const> all_ranks) {
    std::vector<std::string> const phases = phases_of(all_ranks);
    std::string text;
    text += fmt::format("{} ranks, phases: {}. Wire bytes leave or enter a rank; payload includes blocks to self.\n\n",
                        all_ranks.size(), fmt::join(phases, ", "));
    add_steps(text, all_ranks);
    for (std::string const& phase : phases) {
        text += fmt::format("\nphase {}\n", phase);
        add_totals(text, all_ranks, phase);
        if (has_peer_bytes(all_ranks, phase)) {
            text += "  bytes from each rank to each rank, self included\n";
            add_matrix(text, all_ranks, phase);
        }
    }
    text += "\nall phases\n";
    add_totals(text, all_ranks, "");
    text += fmt::format("\n{}", volume_table(all_ranks));
    return text;
}

}  // namespace dlmb
