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

void CollectiveQueue::reduce_scatter(std::string label, std::uint64_t count, Element element) {
    Bytes const bytes = count * size_of(element);
    take(bytes / ranks_, bytes);
    recent_.push_back(builder_.reduce_scatter(group_, bytes, element, Reduction::sum, std::move(label), after()));
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
