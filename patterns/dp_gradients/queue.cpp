// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dp_gradients/queue.hpp"

#include <algorithm>
#include <utility>

namespace dlmb::dp_gradients {

Queue::Queue(Params const& params, WorldShape const& world, Rank me)
    : params_(params), builder_(me), group_(builder_.group(strided_group(world, me, params.dp, params.stride))),
      budget_(params.memory_limit) {
    builder_.in_place(params.in_place);
}

void Queue::all_reduce(std::string label, Bytes bytes, Element element, Reduction reduction) {
    take(bytes, bytes);
    recent_.push_back(builder_.all_reduce(group_, bytes, element, reduction, std::move(label), after()));
}

void Queue::all_gather(std::string label, std::uint64_t elements, Element element) {
    Bytes const bytes = elements * size_of(element);
    take(bytes / params_.ranks(), bytes);
    recent_.push_back(builder_.all_gather(group_, bytes, element, std::move(label), after()));
}

void Queue::reduce_scatter(std::string label, std::uint64_t elements, Element element) {
    Bytes const bytes = elements * size_of(element);
    take(bytes / params_.ranks(), bytes);
    recent_.push_back(builder_.reduce_scatter(group_, bytes, element, Reduction::sum, std::move(label), after()));
}

void Queue::broadcast(std::string label, Bytes bytes, Element element) {
    take(0, bytes);
    recent_.push_back(builder_.broadcast(group_, 0, bytes, element, std::move(label), after()));
}

void Queue::wait_for_all() {
    if (recent_.empty()) {
        return;
    }
    auto const last = std::min(recent_.size(), static_cast<std::size_t>(params_.in_flight));
    awaited_.assign(recent_.end() - static_cast<std::ptrdiff_t>(last), recent_.end());
    recent_.clear();
}

void Queue::take(Bytes sent, Bytes delivered) {
    builder_.share_buffers(!budget_.take(delivered + (params_.in_place ? 0 : sent)));
}

std::vector<StepId> Queue::after() const {
    auto const in_flight = static_cast<std::size_t>(params_.in_flight);
    return recent_.size() < in_flight ? awaited_ : std::vector<StepId>{recent_[recent_.size() - in_flight]};
}

}  // namespace dlmb::dp_gradients
