// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What an algorithm is asked to do, as seen from one place of the group.
#pragma once

#include "common/backend_kit/algorithms/micro_plan.hpp"
#include "common/plan/plan.hpp"

namespace dlmb::algorithms {

struct Shape {
    OperationKind kind = OperationKind::all_reduce;
    int place = 0;  // this rank in the group
    int places = 1;
    Bytes bytes = 0;  // the full logical buffer, as in the plan; an exchange: all its equal blocks
    Element element = Element::byte;
    int root = 0;           // of a broadcast
    bool in_place = false;  // input and output are one memory, in the form that the operation has for it

    /// Memory that input and output have in common has one name only: the algorithm sees its own overwriting.
    [[nodiscard]] Area input(Bytes offset) const {
        if (!in_place || kind == OperationKind::reduce_scatter) {
            return {Space::input, offset};
        }
        Bytes const own = kind == OperationKind::all_gather ? static_cast<Bytes>(place) * part() : 0;
        return {Space::output, own + offset};
    }
    [[nodiscard]] Area output(Bytes offset) const {
        if (in_place && kind == OperationKind::reduce_scatter) {
            return {Space::input, static_cast<Bytes>(place) * part() + offset};
        }
        return {Space::output, offset};
    }

    /// Bytes of one place's part of a gathered, unreduced or exchanged buffer.
    [[nodiscard]] Bytes part() const { return bytes / static_cast<Bytes>(places); }
    /// The place `distance` steps to the right; distance may be negative, by less than one round.
    [[nodiscard]] int right(int from, int distance) const { return (from + distance + places) % places; }
};

/// Knobs of all algorithms; 0: the algorithm's own choice.
struct Knobs {
    int radix = 0;      // of k-nomial trees, from 2
    Bytes segment = 0;  // pieces in which a pipeline works
};

/// A buffer of whole elements cut into `count` parts that differ by at most one element.
class Parts {
public:
    Parts(Bytes bytes, Element element, int count)
        : size_of_element_(size_of(element)), each_(bytes / size_of_element_ / static_cast<Bytes>(count)),
          longer_(bytes / size_of_element_ % static_cast<Bytes>(count)) {}

    /// Offset of part `number`; that of number `count` is the end of the buffer.
    [[nodiscard]] Bytes begin(int number) const {
        auto const parts = static_cast<Bytes>(number);
        return (parts * each_ + (parts < longer_ ? parts : longer_)) * size_of_element_;
    }
    [[nodiscard]] Bytes bytes(int number) const { return begin(number + 1) - begin(number); }

private:
    Bytes size_of_element_;
    Bytes each_;    // elements
    Bytes longer_;  // so many parts at the front have one more
};

/// Calls use(offset, bytes) for the pieces of `bytes`, whole elements each, at most `segment` bytes where that holds
/// one element.
template <class Use>
void for_each_segment(Bytes bytes, Bytes segment, Element element, Use const& use) {
    Bytes const size = size_of(element);
    Bytes const piece = segment < size ? size : segment / size * size;
    for (Bytes offset = 0; offset < bytes; offset += piece) {
        use(offset, bytes - offset < piece ? bytes - offset : piece);
    }
}

}  // namespace dlmb::algorithms
