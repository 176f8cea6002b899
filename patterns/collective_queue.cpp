// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/collective_queue.hpp"

#include <algorithm>
#include <utility>

namespace dlmb {

CollectiveQueue::CollectiveQueue(Rank me, Group group, QueueSettings const& settings)
    : builder_(me), ranks_(group.members.size()), group_(builder_.group(std::move(group))), settings_(settings),
      budget_(settings.memory_limit) {
    builder_.in_place(settings.in_place);
}

void CollectiveQueue::all_reduce(std::string label, std::uint64_t count, Element element, Reduction reduction) {
    Bytes const bytes = count * size_of(element);
    take(bytes, bytes);
    recent_.push_back(builder_.all_reduce(group_, bytes, element, reduction, std::move(label), after()));
}

void CollectiveQueue::all_gather(std::string label, std::uint64_t count, Element element,
                                 std::optional<BlockFormat> packing) {
    Bytes const bytes = count * size_of(element);
    if (packing) {
        std::vector<std::uint64_t> const numbers(ranks_, count / ranks_);
        Bytes const row = packing->row_bytes(count / ranks_);
        builder_.share_buffers(!budget_.take(bytes / ranks_ + bytes + row + row * ranks_));
        recent_.push_back(builder_.packed_all_gather(group_, numbers, {*packing, element}, label, after()));
        return;
    }
    take(bytes / ranks_, bytes);
    recent_.push_back(builder_.all_gather(group_, bytes, element, std::move(label), after()));
}

void CollectiveQueue::all_gather_columns(std::string const& label, std::uint64_t rows, std::uint64_t columns,
                                         Element element, Pack pack) {
    if (pack == Pack::none) {
        all_gather(label, rows * columns, element);
        return;
    }
    Bytes const row_bytes = columns / ranks_ * size_of(element);
    Bytes const gathered_bytes = rows * row_bytes * ranks_;
    bool const fused = pack == Pack::fused;
    // Buffers: sent rows, arrived rows, and the tensor. Fused, the builder lays out a row for each that is sent.
    builder_.share_buffers(!budget_.take(2 * gathered_bytes + (fused ? 0 : gathered_bytes / ranks_)));
    RowOrder sent{rows, std::vector<std::uint64_t>(ranks_, rows), {}, {}};
    RowOrder gathered{rows * ranks_, sent.rank_rows, {}, {}};
    for (std::uint64_t rank = 0; rank < ranks_; ++rank) {
        sent.moves.push_back({.rows = rows, .tensor = 0, .packed = rank * rows});
        gathered.moves.push_back({.rows = rows, .tensor = rank, .packed = rank * rows, .tensor_step = ranks_});
        for (std::uint64_t row = 0; row < rows && fused; ++row) {
            sent.origins.push_back(row);  // every rank gets it
        }
    }
    gathered.origins = sent.origins;
    recent_.push_back(
        fused ? builder_.scattered_exchange(group_, sent, gathered, row_bytes, label, after())
              : builder_.rearranged_all_gather(group_, gathered, row_bytes, element, mover_of(pack), label, after()));
}

void CollectiveQueue::reduce_scatter(std::string label, std::uint64_t count, Element element,
                                     std::optional<StepId> needs) {
    Bytes const bytes = count * size_of(element);
    take(bytes / ranks_, bytes);
    std::vector<StepId> awaited = after();
    if (needs && std::find(awaited.begin(), awaited.end(), *needs) == awaited.end()) {
        awaited.push_back(*needs);
    }
    recent_.push_back(
        builder_.reduce_scatter(group_, bytes, element, Reduction::sum, std::move(label), std::move(awaited)));
}

void CollectiveQueue::broadcast(std::string label, std::uint64_t count, Element element) {
    Bytes const bytes = count * size_of(element);
    take(0, bytes);
    recent_.push_back(builder_.broadcast(group_, 0, bytes, element, std::move(label), after()));
}

void CollectiveQueue::wait_for_all() {
    if (recent_.empty()) {
        return;
    }
    auto const last = std::min(recent_.size(), static_cast<std::size_t>(settings_.in_flight));
    awaited_.assign(recent_.end() - static_cast<std::ptrdiff_t>(last), recent_.end());
    recent_.clear();
}

void CollectiveQueue::take(Bytes sent, Bytes delivered) {
    builder_.share_buffers(!budget_.take(delivered + (settings_.in_place ? 0 : sent)));
}

std::vector<StepId> CollectiveQueue::after() const {
    auto const in_flight = static_cast<std::size_t>(settings_.in_flight);
    return recent_.size() < in_flight ? awaited_ : std::vector<StepId>{recent_[recent_.size() - in_flight]};
}

}  // namespace dlmb
