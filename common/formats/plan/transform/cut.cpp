// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// split and overlap: steps that become several.
#include "common/formats/plan/arrivals.hpp"
#include "common/formats/plan/transform/draft.hpp"
#include "common/formats/plan/transform/transform.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace dlmb {
namespace {

/// Units before part `part` of `parts`: floor(units * part / parts), without the product that could overflow.
std::uint64_t before(std::uint64_t units, std::uint64_t part, std::uint64_t parts) {
    return units / parts * part + units % parts * part / parts;
}

struct PartOfStep {
    std::uint64_t index;
    std::uint64_t parts;

    /// Of `bytes`, which are whole elements.
    [[nodiscard]] Bytes of(Bytes bytes, Bytes element) const {
        Bytes const elements = bytes / element;
        Bytes const rest = index + 1 == parts ? bytes % element : 0;
        return (before(elements, index + 1, parts) - before(elements, index, parts)) * element + rest;
    }
    /// Blocks have no element; parts of whole 8 bytes keep every element whole.
    void cut(std::vector<Block>& blocks) const {
        for (Block& block : blocks) {
            block.bytes = of(block.bytes, 8);
        }
        std::erase_if(blocks, [](Block const& block) { return block.bytes == 0; });
    }
};

bool stays_whole(Operation const& operation) {
    return std::holds_alternative<Barrier>(operation) || has_signals(operation) || messages_of_block(operation) > 1;
}

/// The part of an operation; nothing where no byte is left.
std::optional<Operation> part_of(Plan const& plan, Operation const& operation, PartOfStep const& part) {
    return std::visit(
        [&](auto step) -> std::optional<Operation> {
            using Kind = std::remove_cvref_t<decltype(step)>;
            if constexpr (std::is_same_v<Kind, Exchange>) {
                part.cut(step.send);
                part.cut(step.recv);
            } else if constexpr (std::is_same_v<Kind, Send>) {
                step.to.bytes = part.of(step.to.bytes, 8);
                return step.to.bytes == 0 ? std::nullopt : std::optional<Operation>(step);
            } else if constexpr (std::is_same_v<Kind, Recv>) {
                step.from.bytes = part.of(step.from.bytes, 8);
                return step.from.bytes == 0 ? std::nullopt : std::optional<Operation>(step);
            } else if constexpr (std::is_same_v<Kind, Compute>) {
                auto const ns = static_cast<std::uint64_t>(step.busy_ns);
                step.busy_ns = static_cast<Nanoseconds>(part.of(ns, 1));
            } else if constexpr (std::is_same_v<Kind, Collective>) {
                Bytes const element = size_of(step.element);
                Bytes const ranks = has_parts(step.kind) ? plan.groups.at(step.group).members.size() : 1;
                for (Bytes& share : step.shares) {
                    share = part.of(share, element);
                }
                step.bytes =
                    step.shares.empty() ? ranks * part.of(step.bytes / ranks, element) : SharedBytes(step.shares).bytes;
                return step.bytes == 0 ? std::nullopt : std::optional<Operation>(std::move(step));
            }
            return step;
        },
        operation);
}

/// The part of packed rows; nothing where no number is left in an allgather. Its numbers are cut between blocks, so
/// that no code and no scale is added.
std::optional<PackedRows> part_of(Operation const& operation, PackedRows rows, PartOfStep const& part) {
    bool const gathers = kind_of(operation) == OperationKind::all_gather;
    for (std::vector<std::uint64_t>* const counts : {&rows.sent, &rows.received}) {
        for (std::uint64_t& count : *counts) {
            count = part.of(count, gathers ? rows.packing.format.block : 1);
        }
    }
    bool const empty = std::all_of(rows.sent.begin(), rows.sent.end(), [](std::uint64_t count) { return count == 0; });
    return gathers && empty ? std::nullopt : std::optional(std::move(rows));
}

/// The parts of a draft that hold anything; the draft itself where it stays whole.
std::vector<Draft> parts_of(Plan const& plan, Draft const& draft, std::uint64_t parts, bool overlaps) {
    // A request arrives once, when the whole of its step is over.
    bool const arrives = draft.microbatch >= 0 && phase_of(draft.label) == arrival_phase;
    bool const whole =
        stays_whole(draft.operation) || (std::holds_alternative<Compute>(draft.operation) && (!overlaps || arrives));
    std::vector<Draft> found;
    for (std::uint64_t index = 0; index < parts && !whole; ++index) {
        PartOfStep const part{index, parts};
        Draft piece = draft;
        if (draft.rows) {
            piece.rows = part_of(draft.operation, *draft.rows, part);
        } else if (std::optional<Operation> operation = part_of(plan, draft.operation, part)) {
            piece.operation = *std::move(operation);
        } else {
            continue;
        }
        if (!draft.rows || piece.rows) {
            found.push_back(std::move(piece));
        }
    }
    return found.empty() ? std::vector<Draft>{draft} : found;
}

/// Of the steps that an earlier one became those that part `index` of `count` waits for.
void add_dependencies(std::vector<StepId> const& earlier, std::size_t index, std::size_t count, bool overlaps,
                      std::vector<StepId>& after) {
    std::size_t const from = overlaps ? index * earlier.size() / count : 0;
    std::size_t const to = overlaps ? ((index + 1) * earlier.size() + count - 1) / count : earlier.size();
    after.insert(after.end(), earlier.begin() + static_cast<std::ptrdiff_t>(from),
                 earlier.begin() + static_cast<std::ptrdiff_t>(to));
}

int* batch_of(Operation& operation) {
    if (auto* const send = std::get_if<Send>(&operation)) {
        return &send->batch;
    }
    auto* const recv = std::get_if<Recv>(&operation);
    return recv == nullptr ? nullptr : &recv->batch;
}

/// Cuts the steps of a plan one after the other, those of a batch together.
class Cutter {
public:
    Cutter(Plan const& plan, std::uint64_t parts, bool overlaps)
        : plan_(plan), parts_(parts), overlaps_(overlaps), drafts_(drafts_of(plan)), became_(drafts_.size()) {}

    Plan cut() && {
        for (std::size_t step = 0; step < drafts_.size();) {
            std::size_t end = step + 1;
            int const* const batch = batch_of(drafts_[step].operation);
            while (batch != nullptr && *batch >= 0 && end < drafts_.size() && in_batch(end, *batch)) {
                ++end;
            }
            cut_together(step, end);
            step = end;
        }
        return lay_out_all(plan_, result_);
    }

private:
    bool in_batch(std::size_t step, int batch) {
        int const* const other = batch_of(drafts_[step].operation);
        return other != nullptr && *other == batch;
    }

    /// The first parts of all, then the second ones: what is posted in one call stays together.
    void cut_together(std::size_t begin, std::size_t end) {
        std::vector<std::vector<Draft>> parts;
        std::size_t most = 0;
        for (std::size_t step = begin; step < end; ++step) {
            parts.push_back(parts_of(plan_, drafts_[step], parts_, overlaps_));
            most = std::max(most, parts.back().size());
        }
        for (std::size_t index = 0; index < most; ++index) {
            for (std::size_t step = begin; step < end; ++step) {
                std::vector<Draft>& own = parts[step - begin];
                if (index < own.size()) {
                    add(step, std::move(own[index]), index, own.size());
                }
            }
        }
    }

    void add(std::size_t step, Draft piece, std::size_t index, std::size_t count) {
        piece.after.clear();
        for (StepId const earlier : drafts_[step].after) {
            add_dependencies(became_[earlier], index, count, overlaps_, piece.after);
        }
        if (std::holds_alternative<Compute>(piece.operation) && index > 0) {
            piece.after.push_back(became_[step].back());  // one processor computes
        }
        if (piece.rows && index > 0) {
            piece.packs_after = became_[step].back();
        }
        int* const batch = batch_of(piece.operation);
        if (batch != nullptr && *batch >= 0 && overlaps_) {
            // The steps of a batch wait for the same steps; their parts do not.
            auto const number = static_cast<int>(batches_.size());
            *batch = batches_.try_emplace({*batch, index, piece.after}, number).first->second;
        }
        if (count > 1) {
            piece.label += fmt::format(".part{}", index);
        }
        became_[step].push_back(static_cast<StepId>(result_.size()));
        result_.push_back(std::move(piece));
    }

    Plan const& plan_;
    std::uint64_t parts_;
    bool overlaps_;
    std::vector<Draft> drafts_;
    std::vector<std::vector<StepId>> became_;                                   // by step of the plan
    std::map<std::tuple<int, std::size_t, std::vector<StepId>>, int> batches_;  // new numbers
    std::vector<Draft> result_;
};

}  // namespace

Plan split(Plan const& plan, std::uint64_t parts) {
    return Cutter(plan, parts, false).cut();
}

Plan overlap(Plan const& plan, std::uint64_t parts) {
    return Cutter(plan, parts, true).cut();
}

}  // namespace dlmb
