// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/plan/plan_text.hpp"

#include "common/plan/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
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

constexpr std::size_t ranks_printed_by_cell = 32;

class Text {
public:
    template <class... Values>
    void add(fmt::format_string<Values...> format, Values&&... values) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    }
    [[nodiscard]] std::string take() && { return std::move(text_); }

private:
    std::string text_;
};

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
    Text text;
    for (std::size_t id = 0; id < plan.steps.size(); ++id) {
        Step const& step = plan.steps[id];
        RankTraffic const traffic = traffic_of_step(plan, static_cast<StepId>(id));
        text.add("{:>6}  {:<14}  {:<24}  {:>16}  {:>16}  {:>16}  {:>8}", id, name_of(step.operation), step.label,
                 traffic.payload, traffic.out, traffic.in, traffic.messages);
        text.add("  {}\n", step.after.empty() ? "-" : fmt::format("{}", fmt::join(step.after, ",")));
    }
    return std::move(text).take();
}

/// Neighbouring ranks with the same table are printed once.
void add_steps(Text& text, std::span<Plan const> all_ranks) {
    text.add("{:>6}  {:<14}  {:<24}  {:>16}  {:>16}  {:>16}  {:>8}  {}\n", "step", "operation", "label", "payload (B)",
             "wire out (B)", "wire in (B)", "messages", "after");
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
        text.add("{}\n", first == last ? fmt::format("rank {}", first) : fmt::format("ranks {} to {}", first, last));
        text.add("{}", tables[first].empty() ? "        no steps\n" : tables[first]);
        first = last + 1;
    }
}

void add_totals(Text& text, std::span<Plan const> all_ranks, std::string_view phase) {
    std::vector<RankTraffic> traffic;
    for (Plan const& plan : all_ranks) {
        traffic.push_back(traffic_of(plan, phase));
    }
    TrafficSummary const summary = summarize(traffic);
    text.add("  payload {} B, of which {} B to self; wire {} B\n", summary.payload_bytes, summary.self_bytes,
             summary.wire_bytes);
    text.add("  busiest rank {} B, balanced {:.1f} B; imbalance (max/mean) send {:.3f}, recv {:.3f}\n",
             summary.busiest_rank_bytes, summary.balanced_rank_bytes, summary.imbalance_send, summary.imbalance_recv);
}

void add_cells(Text& text, TrafficMatrix const& matrix) {
    text.add("{:>8}", "from\\to");
    for (Rank to = 0; to < matrix.ranks; ++to) {
        text.add("  {:>13}", to);
    }
    text.add("  {:>15}\n", "sum");
    for (Rank from = 0; from < matrix.ranks; ++from) {
        Bytes sum = 0;
        text.add("{:>8}", from);
        for (Rank to = 0; to < matrix.ranks; ++to) {
            text.add("  {:>13}", matrix.at(from, to));
            sum += matrix.at(from, to);
        }
        text.add("  {:>15}\n", sum);
    }
}

/// One line per rank: what it sends over all peers, itself and silent ones included.
void add_row_summaries(Text& text, std::span<Plan const> all_ranks, std::string_view phase) {
    text.add("{:>8}  {:>16}  {:>13}  {:>13}  {:>8}\n", "from", "sum (B)", "max (B)", "min (B)", "max/mean");
    std::vector<Bytes> row(all_ranks.size());
    for (Plan const& plan : all_ranks) {
        std::fill(row.begin(), row.end(), Bytes{0});
        add_sent_bytes(plan, phase, row);
        Bytes sum = 0;
        for (Bytes const bytes : row) {
            sum += bytes;
        }
        auto const [min, max] = std::minmax_element(row.begin(), row.end());
        double const mean = static_cast<double>(sum) / static_cast<double>(row.size());
        text.add("{:>8}  {:>16}  {:>13}  {:>13}  {:>8.3f}\n", plan.me, sum, *max, *min,
                 sum == 0 ? 1.0 : static_cast<double>(*max) / mean);
    }
}

bool has_peer_bytes(std::span<Plan const> all_ranks, std::string_view phase) {
    return std::any_of(all_ranks.begin(), all_ranks.end(), [&](Plan const& plan) {
        return std::any_of(plan.steps.begin(), plan.steps.end(), [&](Step const& step) {
            bool const directed =
                std::holds_alternative<Exchange>(step.operation) || std::holds_alternative<Send>(step.operation);
            return directed && phase_of(step.label) == phase;
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

std::string to_text(std::span<Plan const> all_ranks) {
    std::vector<std::string> const phases = phases_of(all_ranks);
    Text text;
    text.add("{} ranks, phases: {}. Wire bytes leave or enter a rank; payload includes blocks to self.\n\n",
             all_ranks.size(), fmt::join(phases, ", "));
    add_steps(text, all_ranks);
    for (std::string const& phase : phases) {
        text.add("\nphase {}\n", phase);
        add_totals(text, all_ranks, phase);
        if (!has_peer_bytes(all_ranks, phase)) {
            continue;
        }
        text.add("  bytes from each rank to each rank, self included\n");
        if (all_ranks.size() <= ranks_printed_by_cell) {
            add_cells(text, traffic_matrix(all_ranks, phase));
        } else {
            add_row_summaries(text, all_ranks, phase);
        }
    }
    text.add("\nall phases\n");
    add_totals(text, all_ranks, "");
    text.add("\n{}", volume_table(all_ranks));
    return std::move(text).take();
}

}  // namespace dlmb
