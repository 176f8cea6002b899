// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/plan_text.hpp"

#include "common/formats/plan/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace dlmb {
namespace {

/// One phase's operations of one kind on groups of one size, over all ranks. A message is a block to another rank; of a
/// collective, each rank's call counts as one message of its full logical buffer.
struct Volume {
    std::string phase;
    OperationKind kind = OperationKind::exchange;
    std::size_t group_ranks = 0;
    Bytes steps = 0;
    Bytes messages = 0;
    Bytes payload_bytes = 0;         // self blocks included
    Bytes wire_out = 0;              // leaves the ranks
    Bytes wire_in = 0;               // enters them; more of a broadcast
    std::map<Bytes, Bytes> sizes{};  // messages by size, rounded down to a power of two (0 stays 0)
};

/// Adds the messages of one step.
void add_messages(Volume& volume, Plan const& plan, Operation const& operation) {
    auto const add = [&](Bytes bytes, std::uint64_t messages) {
        volume.messages += messages;
        volume.sizes[std::bit_floor(bytes)] += messages;
    };
    for (Block const& block : sent_blocks(operation)) {
        if (world_rank(plan, *group_of(operation), block.peer) != plan.me) {
            add(block.bytes, messages_of_block(operation));
        }
    }
    if (auto const* collective = std::get_if<Collective>(&operation)) {
        add(collective->bytes, 1);
    }
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

std::string steps_table(Plan const& plan) {
    std::string text;
    for (std::size_t id = 0; id < plan.steps.size(); ++id) {
        Step const& step = plan.steps[id];
        RankTraffic const traffic = traffic_of_step(plan, static_cast<StepId>(id));
        text += fmt::format("{:>6}  {:<14}  {:<24}  {:>16}  {:>16}  {:>16}  {:>8}", id, name_of(step.operation),
                            step.label, traffic.payload, traffic.out, traffic.in, traffic.messages);
        auto const* const compute = std::get_if<Compute>(&step.operation);
        Bytes const copied = compute == nullptr ? 0 : copied_bytes(*compute);
        auto const* const exchange = std::get_if<Exchange>(&step.operation);
        bool const apart = exchange != nullptr && exchange->scattered;
        auto const signals = signals_of(step.operation);
        text += fmt::format("  {}{}{}{}\n", step.after.empty() ? "-" : fmt::format("{}", fmt::join(step.after, ",")),
                            copied == 0 ? "" : fmt::format("  (copies {} B)", copied),
                            apart ? fmt::format("  (rows of {} B where they lie)", exchange->scattered->row_bytes) : "",
                            signals.empty() ? "" : fmt::format("  ({} signals)", signals.size()));
    }
    return text;
}

/// The tables of all ranks; neighbouring ranks with the same one have it once.
class StepsText {
public:
    void add(Plan const& plan) {
        std::string table = steps_table(plan);
        if (ranks_ == 0 || table != table_) {
            close();
            table_ = std::move(table);
            first_ = ranks_;
        }
        ++ranks_;
    }
    [[nodiscard]] std::string take() {
        close();
        return fmt::format("{:>6}  {:<14}  {:<24}  {:>16}  {:>16}  {:>16}  {:>8}  {}\n", "step", "operation", "label",
                           "payload (B)", "wire out (B)", "wire in (B)", "messages", "after") +
               text_;
    }

private:
    void close() {
        if (ranks_ > first_) {
            text_ += first_ + 1 == ranks_ ? fmt::format("rank {}\n", first_)
                                          : fmt::format("ranks {} to {}\n", first_, ranks_ - 1);
            text_ += table_.empty() ? "        no steps\n" : table_;
        }
    }

    std::string text_;
    std::string table_;  // of the ranks from first_ on
    std::size_t first_ = 0;
    std::size_t ranks_ = 0;
};

/// A row: what a rank sends to every rank, or, of many ranks, a summary of that.
std::string matrix_row(std::size_t rank, std::span<Bytes const> row) {
    Bytes const sum = std::accumulate(row.begin(), row.end(), Bytes{0});
    if (row.size() <= ranks_printed_by_cell) {
        std::string text = fmt::format("{:>8}", rank);
        for (Bytes const bytes : row) {
            text += fmt::format("  {:>13}", bytes);
        }
        return text + fmt::format("  {:>15}\n", sum);
    }
    auto const [min, max] = std::minmax_element(row.begin(), row.end());
    double const mean = static_cast<double>(sum) / static_cast<double>(row.size());
    return fmt::format("{:>8}  {:>16}  {:>13}  {:>13}  {:>8.3f}\n", rank, sum, *max, *min,
                       sum == 0 ? 1.0 : static_cast<double>(*max) / mean);
}

std::string matrix_head(std::size_t ranks) {
    std::string text = "  bytes from each rank to each rank, self included\n";
    if (ranks > ranks_printed_by_cell) {
        return text + fmt::format("{:>8}  {:>16}  {:>13}  {:>13}  {:>8}\n", "from", "sum (B)", "max (B)", "min (B)",
                                  "max/mean");
    }
    text += fmt::format("{:>8}", "from\\to");
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        text += fmt::format("  {:>13}", rank);
    }
    return text + fmt::format("  {:>15}\n", "sum");
}

std::string totals(std::vector<RankTraffic> const& traffic) {
    TrafficSummary const summary = summarize(traffic);
    return fmt::format("  payload {} B, of which {} B to self; wire {} B\n", summary.payload_bytes, summary.self_bytes,
                       summary.wire_bytes) +
           fmt::format("  busiest rank {:.12g} B, balanced {:.1f} B; imbalance (max/mean) send {:.3f}, recv {:.3f}\n",
                       summary.busiest_rank_bytes, summary.balanced_rank_bytes, summary.imbalance_send,
                       summary.imbalance_recv);
}

/// What is printed of one phase: totals over ranks, and the matrix where ranks name their peers.
class PhaseText {
public:
    PhaseText(std::string_view name, std::size_t ranks) : name_(name), row_(ranks), traffic_(ranks) {}

    [[nodiscard]] std::string const& name() const { return name_; }

    void add(Plan const& plan) {
        std::size_t const rank = next_++;
        traffic_[rank] = traffic_of(plan, name_);
        if (names_peers(plan)) {
            fill(rank);
            std::fill(row_.begin(), row_.end(), Bytes{0});
            add_sent_bytes(plan, name_, row_);
            rows_ += matrix_row(rank, row_);
            next_row_ = rank + 1;
        }
    }
    /// Ranks before this one, of which nothing was known, are silent.
    void begin_at(std::size_t rank) { next_ = rank; }

    [[nodiscard]] std::string take() {
        std::string text = fmt::format("\nphase {}\n{}", name_, totals(traffic_));
        if (next_row_ > 0) {
            fill(row_.size());
            text += matrix_head(row_.size()) + rows_;
        }
        return text;
    }

private:
    [[nodiscard]] bool names_peers(Plan const& plan) const {
        return std::any_of(plan.steps.begin(), plan.steps.end(), [&](Step const& step) {
            OperationKind const kind = kind_of(step.operation);
            bool const names = kind == OperationKind::exchange || kind == OperationKind::send ||
                               kind == OperationKind::put || kind == OperationKind::offer;
            return names && phase_of(step.label) == name_;
        });
    }
    /// Silent ranks have rows too.
    void fill(std::size_t end) {
        std::fill(row_.begin(), row_.end(), Bytes{0});
        for (; next_row_ < end; ++next_row_) {
            rows_ += matrix_row(next_row_, row_);
        }
    }

    std::string name_;
    std::vector<Bytes> row_;
    std::vector<RankTraffic> traffic_;  // by rank
    std::string rows_;
    std::size_t next_ = 0;
    std::size_t next_row_ = 0;
};

/// In order of first appearance.
void add_phases(std::vector<PhaseText>& phases, Plan const& plan, std::size_t rank, std::size_t ranks) {
    for (Step const& step : plan.steps) {
        std::string_view const name = phase_of(step.label);
        auto const has_name = [&](PhaseText const& phase) { return phase.name() == name; };
        if (std::none_of(phases.begin(), phases.end(), has_name)) {
            phases.emplace_back(name, ranks).begin_at(rank);
        }
    }
}

void add_volumes(std::vector<Volume>& found, Plan const& plan) {
    for (StepId id = 0; id < plan.steps.size(); ++id) {
        Step const& step = plan.steps[id];
        OperationKind const kind = kind_of(step.operation);
        if (kind == OperationKind::compute || kind == OperationKind::recv ||
            std::holds_alternative<WaitSignal>(step.operation)) {
            continue;
        }
        RankTraffic const traffic = traffic_of_step(plan, id);
        std::size_t const group_ranks = plan.groups.at(*group_of(step.operation)).members.size();
        Volume& volume = volume_of(found, phase_of(step.label), kind, group_ranks);
        ++volume.steps;
        add_messages(volume, plan, step.operation);
        volume.payload_bytes += traffic.payload;
        volume.wire_out += traffic.out;
        volume.wire_in += traffic.in;
    }
}

/// One line per Volume, then its size histogram.
std::string volume_table(std::vector<Volume> const& volumes) {
    std::string text = "volume over all ranks; sizes: messages by size, in bins that begin at a power of two\n";
    text += fmt::format("  {:<16}  {:<14}  {:>6}  {:>10}  {:>12}  {:>20}  {:>20}  {}\n", "phase", "operation", "group",
                        "steps", "messages", "payload (B)", "wire (B)", "sizes");
    for (Volume const& volume : volumes) {
        std::vector<std::string> bins;
        for (auto const& [least, count] : volume.sizes) {
            bins.push_back(fmt::format("{}:{}", human_bytes(least), count));
        }
        text += fmt::format("  {:<16}  {:<14}  {:>6}  {:>10}  {:>12}  {:>20}  {:>20}  {}\n", volume.phase,
                            name_of(volume.kind), volume.group_ranks, volume.steps, volume.messages,
                            volume.payload_bytes, std::max(volume.wire_out, volume.wire_in), fmt::join(bins, " "));
    }
    return text;
}

}  // namespace

std::string to_text(PlanSource const& plans) {
    StepsText steps;
    std::vector<PhaseText> phases;
    std::vector<RankTraffic> traffic;
    std::vector<Volume> found;
    plans.each([&](Plan const& plan) {
        steps.add(plan);
        add_phases(phases, plan, traffic.size(), plans.ranks());
        for (PhaseText& phase : phases) {
            phase.add(plan);
        }
        traffic.push_back(traffic_of(plan));
        add_volumes(found, plan);
    });
    std::vector<std::string_view> names;
    for (PhaseText const& phase : phases) {
        names.push_back(phase.name());
    }
    std::string text =
        fmt::format("{} ranks, phases: {}. Wire bytes leave or enter a rank; payload includes blocks to self.\n\n",
                    plans.ranks(), fmt::join(names, ", "));
    text += steps.take();
    for (PhaseText& phase : phases) {
        text += phase.take();
    }
    return text + fmt::format("\nall phases\n{}\n{}", totals(traffic), volume_table(found));
}

}  // namespace dlmb
