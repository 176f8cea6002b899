// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Collective algorithms as pure functions from a shape to this rank's micro-steps. Any number of places, any size, zero
// included, in place or not. Every element is reduced in one fixed order of operands, on one place or alike on all: the
// result is the same to the bit everywhere, also where the reduction does not commute (a NaN's bits, zeros of two
// signs) or is not associative. P: places, S: Shape::bytes.
//
// A micro-plan is a plain value like a plan, one level below it. No library, no address, no clock: all ranks of an
// algorithm can be played in one test.
#pragma once

#include "common/formats/plan/plan.hpp"

#include <cstdint>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

namespace dlmb::algorithms {

/// The buffers of a collective on one rank: what it contributes, what it gets, and memory of the algorithm's own.
enum class Space : std::uint8_t { input, output, scratch };

struct Area {
    Space space = Space::input;
    Bytes offset = 0;
    bool operator==(Area const&) const = default;
};

enum class Action : std::uint8_t { send, receive, copy, reduce };

/// send: `left` to `peer`. receive: into `to` from `peer`. copy: to = left. reduce: to = left (reduction) right by
/// elements, where `to` may be one of the two. The k-th send from a to b and the k-th receive on b from a are one
/// message; sends to one peer start in order, and so do receives from one peer.
struct MicroStep {
    Action action = Action::copy;
    int peer = -1;  // place in the group
    Area to;
    Area left;
    Area right;
    Bytes bytes = 0;                   // never 0
    std::vector<std::uint32_t> after;  // earlier micro-steps that are complete before this one starts
};

/// The work of one rank in one collective, as messages and local work on memory.
struct MicroPlan {
    std::vector<MicroStep> steps;
    Bytes scratch_bytes = 0;
};

/// `bytes` further on in the same space.
[[nodiscard]] constexpr Area operator+(Area area, Bytes bytes) {
    return {area.space, area.offset + bytes};
}

/// Writes a MicroPlan. Steps are added in an order in which one after the other would be right; what each waits for is
/// found from the memory it touches, so that all that is independent runs side by side. Empty steps are left out.
class MicroPlanner {
public:
    void send(int peer, Area from, Bytes bytes) { add({Action::send, peer, {}, from, {}, bytes, {}}); }
    void receive(int peer, Area to, Bytes bytes) { add({Action::receive, peer, to, {}, {}, bytes, {}}); }
    /// Nothing when both are the same area.
    void copy(Area to, Area from, Bytes bytes) { add({Action::copy, -1, to, from, {}, to == from ? 0 : bytes, {}}); }
    void reduce(Area to, Area left, Area right, Bytes bytes) { add({Action::reduce, -1, to, left, right, bytes, {}}); }

    /// Fresh memory.
    [[nodiscard]] Area scratch(Bytes bytes);

    [[nodiscard]] MicroPlan finish() &&;

private:
    void add(MicroStep step) {
        if (step.bytes > 0) {
            plan_.steps.push_back(std::move(step));
        }
    }

    MicroPlan plan_;
};

/// The task of an algorithm, as seen from one place of the group.
struct Shape {
    OperationKind kind = OperationKind::all_reduce;
    int place = 0;  // this rank in the group
    int places = 1;
    Bytes bytes = 0;  // the full logical buffer, as in the plan; an exchange: all its equal blocks
    Element element = Element::byte;
    int root = 0;                    // of a broadcast, reduce, gather or scatter
    bool in_place = false;           // input and output are one memory, in the form that the operation has for it
    std::vector<Bytes> shares = {};  // bytes of each place's part, as in the plan; empty: equal parts
    auto operator<=>(Shape const&) const = default;  // NOLINT(modernize-use-nullptr): false alarm of clang-tidy 14

    /// Memory that input and output have in common has one name only: the algorithm sees its own overwriting.
    [[nodiscard]] Area input(Bytes offset) const {
        if (!in_place || keeps_part()) {
            return {Space::input, offset};
        }
        return {Space::output, (facts_of(kind).parts == PartSide::sent ? own_begin() : 0) + offset};
    }
    [[nodiscard]] Area output(Bytes offset) const {
        return in_place && keeps_part() ? Area{Space::input, own_begin() + offset} : Area{Space::output, offset};
    }

    /// The output is this place's part of the input.
    [[nodiscard]] bool keeps_part() const { return facts_of(kind).parts == PartSide::received; }
    /// Where this place's part begins in the full buffer.
    [[nodiscard]] Bytes own_begin() const {
        return shares.empty() ? static_cast<Bytes>(place) * part()
                              : std::accumulate(shares.begin(), shares.begin() + place, Bytes{0});
    }
    /// Bytes of one of equal parts of a gathered, unreduced or exchanged buffer.
    [[nodiscard]] Bytes part() const { return bytes / static_cast<Bytes>(places); }
    /// The place `distance` steps to the right; distance may be negative, by less than one round.
    [[nodiscard]] int right(int from, int distance) const { return (from + distance + places) % places; }
};

/// Knobs of all algorithms; 0: the algorithm's own choice.
struct Knobs {
    int radix = 0;      // of k-nomial trees, from 2
    Bytes segment = 0;  // pieces in which a pipeline works
};

/// A buffer of whole elements cut into `count` parts that differ by at most one element, or as a shape says.
class Parts {
public:
    Parts(Bytes bytes, Element element, int count)
        : size_of_element_(size_of(element)), each_(bytes / size_of_element_ / static_cast<Bytes>(count)),
          longer_(bytes / size_of_element_ % static_cast<Bytes>(count)) {}

    explicit Parts(Shape const& shape) : Parts(shape.bytes, shape.element, shape.places) {
        if (!shape.shares.empty()) {
            begins_.push_back(0);
            std::partial_sum(shape.shares.begin(), shape.shares.end(), std::back_inserter(begins_));
        }
    }

    /// Offset of part `number`; that of number `count` is the end of the buffer.
    [[nodiscard]] Bytes begin(int number) const {
        if (!begins_.empty()) {
            return begins_[static_cast<std::size_t>(number)];
        }
        auto const parts = static_cast<Bytes>(number);
        return (parts * each_ + (parts < longer_ ? parts : longer_)) * size_of_element_;
    }
    [[nodiscard]] Bytes bytes(int number) const { return bytes(number, number + 1); }
    /// The bytes of the parts from `first` up to `end`.
    [[nodiscard]] Bytes bytes(int first, int end) const { return begin(end) - begin(first); }

private:
    Bytes size_of_element_;
    Bytes each_;                 // elements
    Bytes longer_;               // so many parts at the front have one more
    std::vector<Bytes> begins_;  // of parts that a shape names, and the end
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

using Algorithm = MicroPlan (*)(Shape const& shape, Knobs const& knobs);

/// all_reduce. log2 P rounds of S bytes (Thakur, Rabenseifner, Gropp: Optimization of Collective Communication
/// Operations in MPICH, 2005, section 4.1); with P no power of two, pairs of neighbours first become one.
/// Order: neighbouring ranges of places are joined, the lower one left.
[[nodiscard]] MicroPlan recursive_doubling(Shape const& shape, Knobs const& knobs);

/// all_reduce, reduce_scatter, all_gather. P - 1 rounds of S / P bytes to the right neighbour, once to reduce and once
/// to gather (Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms, 2009): 2 S (P - 1) / P and S (P - 1) / P sent.
/// knobs.segment: pieces of a part that travel on their own. Order: part p from place p + 1 around to p.
[[nodiscard]] MicroPlan ring(Shape const& shape, Knobs const& knobs);

/// all_reduce, reduce_scatter, all_gather. Ranges of places are split into `radix` smaller ones, each of which gets its
/// share of the data from the others, until a range is one place; gathering goes the way back (Rabenseifner's algorithm
/// with any radix, and with ranges that differ by one place instead of a fold). ceil(log_k P) rounds; reducing sends
/// S (P - 1) / P per place, gathering receives as much. Order: ranges by number, inside a range by place.
[[nodiscard]] MicroPlan knomial(Shape const& shape, Knobs const& knobs);
/// knomial of radix 2, whatever the knobs: pairs of ranges of ranks are added in one tree at every size.
[[nodiscard]] MicroPlan fixed_tree(Shape const& shape, Knobs const& knobs);

/// broadcast, scatter: a tree in which a place sends to up to `radix` - 1 others per round, the largest subtree first.
/// reduce, gather: the same tree the other way round, a place's own operand left of those of its subtrees, which come
/// in the order of their distance. Gathers and scatters move the parts of a subtree together, in two messages where the
/// subtree reaches around the end of the buffer.
[[nodiscard]] MicroPlan knomial_tree(Shape const& shape, Knobs const& knobs);

/// gather, scatter. Each part in a message of its own between its place and the root.
[[nodiscard]] MicroPlan direct_parts(Shape const& shape, Knobs const& knobs);

/// broadcast: from the root around the ring, in pieces of knobs.segment. reduce: the other way round, towards the root;
/// a place's own operand stands left of the sum that arrives.
[[nodiscard]] MicroPlan chain(Shape const& shape, Knobs const& knobs);

/// broadcast. The root sends each other place a part of S / (P - 1), and these send theirs to each other: two rounds,
/// at most S sent per place, but for parts of less than one element (scatter and collect of Barnett, Gupta, Payne,
/// Shuler, van de Geijn, Watts: Interprocessor Collective Communication Library, 1994, with direct messages and no part
/// for the root, which has all).
[[nodiscard]] MicroPlan scatter_allgather(Shape const& shape, Knobs const& knobs);

/// all_gather. ceil(log2 P) rounds of 1, 2, 4 ... parts (Bruck et al.: Efficient Algorithms for All-to-All
/// Communications in Multiport Message-Passing Systems, 1997); a run of parts that wraps around is two messages.
[[nodiscard]] MicroPlan bruck_all_gather(Shape const& shape, Knobs const& knobs);

/// exchange of equal blocks. ceil(log2 P) rounds in which each block travels the bits of its distance (the same paper);
/// about S / 2 sent per round.
[[nodiscard]] MicroPlan bruck_exchange(Shape const& shape, Knobs const& knobs);

/// all_gather. P / 2 rounds of two parts between neighbours on alternating sides (Chen, Zhang, Zhang, Yuan: Performance
/// Evaluation of Allgather Algorithms on Terascale Linux Cluster with Fast Ethernet, 2005). Odd P: as `ring`.
[[nodiscard]] MicroPlan neighbor(Shape const& shape, Knobs const& knobs);

/// barrier. ceil(log2 P) rounds: in round k a place sends to the one 2^k further on (Hensgen, Finkel, Manber: Two
/// algorithms for barrier synchronization, 1988). A message has one byte for each place that its sender has heard of,
/// so that it waits, by the memory it reads, for all that arrived before.
[[nodiscard]] MicroPlan dissemination(Shape const& shape, Knobs const& knobs);

/// All but exchange: the algorithm above that `choose` names.
[[nodiscard]] MicroPlan automatic(Shape const& shape, Knobs const& knobs);

/// The algorithm that `automatic` takes for an operation of this size: the numbers are in automatic.cpp.
[[nodiscard]] Algorithm choose(Shape const& shape);

inline constexpr int default_radix = 4;
inline constexpr Bytes default_segment = Bytes{256} << 10;

}  // namespace dlmb::algorithms
