// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/tp_allreduce/chain.hpp"

#include <utility>

namespace dlmb::tp_allreduce {

Chain::Chain(Rank me, Group const& group, Bytes memory_limit)
    : builder_(me), group_(builder_.group(group)), ranks_(group.members.size()), budget_(memory_limit) {}

void Chain::all_reduce(std::string label, Bytes bytes, Element element, Reduction reduction) {
    take(2 * bytes);
    append(builder_.all_reduce(group_, bytes, element, reduction, std::move(label), after_));
}

void Chain::all_gather(std::string label, Bytes bytes, Element element) {
    take(bytes + bytes / ranks_);
    append(builder_.all_gather(group_, bytes, element, std::move(label), after_));
}

void Chain::reduce_scatter(std::string label, Bytes bytes, Element element) {
    take(bytes + bytes / ranks_);
    append(builder_.reduce_scatter(group_, bytes, element, Reduction::sum, std::move(label), after_));
}

void Chain::broadcast(std::string label, Bytes bytes, Element element) {
    take(bytes);
    append(builder_.broadcast(group_, 0, bytes, element, std::move(label), after_));
}

}  // namespace dlmb::tp_allreduce
