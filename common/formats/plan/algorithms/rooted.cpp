// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Operations with a root: trees and chains that lead to it or away from it.
#include "common/formats/plan/algorithms/algorithms.hpp"

#include <algorithm>

namespace dlmb::algorithms {
namespace {

/// Places are counted from the root. In base k, a place's parent has its lowest digit that is not zero set to zero, and
/// its children differ from it in one of the zeros below that digit. A subtree is a run of places.
class RootedTree {
public:
    RootedTree(Shape const& shape, Knobs const& knobs)
        : shape_(shape), parts_(shape), radix_(knobs.radix == 0 ? default_radix : knobs.radix),
          me_(shape.right(shape.place, -shape.root)) {
        while (span_ < shape.places && me_ % (span_ * radix_) == 0) {
            span_ *= radix_;
        }
    }

    void broadcast() {
        Area const data = shape_.output(0);
        if (me_ != 0) {
            plan_.receive(parent(), data, shape_.bytes);
        }
        for_each_child_from_the_largest([&](int child, int /*end*/) { plan_.send(peer(child), data, shape_.bytes); });
    }

    void reduce() {
        Area mine = shape_.input(0);
        Area const sum = me_ == 0 ? shape_.output(0) : plan_.scratch(has_children() ? shape_.bytes : 0);
        for_each_child([&](int child, int /*end*/) {
            Area const theirs = plan_.scratch(shape_.bytes);
            plan_.receive(peer(child), theirs, shape_.bytes);
            plan_.reduce(sum, mine, theirs, shape_.bytes);
            mine = sum;
        });
        if (me_ == 0) {
            plan_.copy(sum, mine, shape_.bytes);
        } else {
            plan_.send(parent(), mine, shape_.bytes);
        }
    }

    void gather() {
        Area const held = me_ == 0 ? shape_.output(0) : own_memory(shape_.input(0));
        plan_.copy(at(held, me_), shape_.input(0), parts_.bytes(shape_.place));
        for_each_child([&](int child, int end) {
            for_each_run(held, child, end, [&](Area area, Bytes bytes) { plan_.receive(peer(child), area, bytes); });
        });
        if (me_ != 0) {
            for_each_run(held, me_, me_end(), [&](Area area, Bytes bytes) { plan_.send(parent(), area, bytes); });
        }
    }

    void scatter() {
        Area const held = me_ == 0 ? shape_.input(0) : own_memory(shape_.output(0));
        if (me_ != 0) {
            for_each_run(held, me_, me_end(), [&](Area area, Bytes bytes) { plan_.receive(parent(), area, bytes); });
        }
        for_each_child_from_the_largest([&](int child, int end) {
            for_each_run(held, child, end, [&](Area area, Bytes bytes) { plan_.send(peer(child), area, bytes); });
        });
        plan_.copy(shape_.output(0), at(held, me_), parts_.bytes(shape_.place));
    }

    [[nodiscard]] MicroPlan finish() && { return std::move(plan_).finish(); }

private:
    [[nodiscard]] int peer(int number) const { return shape_.right(shape_.root, number); }
    [[nodiscard]] int parent() const { return peer(me_ - me_ % (span_ * radix_)); }
    [[nodiscard]] bool has_children() const { return span_ > 1 && me_ + 1 < shape_.places; }
    [[nodiscard]] int me_end() const { return std::min(me_ + span_, shape_.places); }

    /// use(child, end of its subtree)
    template <class Use>
    void for_each_child(Use const& use) const {
        for (int distance = 1; distance < span_; distance *= radix_) {
            for_each_child_at(distance, use);
        }
    }
    template <class Use>
    void for_each_child_from_the_largest(Use const& use) const {
        for (int distance = span_ / radix_; distance > 0; distance /= radix_) {
            for_each_child_at(distance, use);
        }
    }
    template <class Use>
    void for_each_child_at(int distance, Use const& use) const {
        for (int child = me_ + distance; child < me_ + distance * radix_ && child < shape_.places; child += distance) {
            use(child, std::min(child + distance, shape_.places));
        }
    }

    /// Memory for the parts of this place's subtree; of a leaf, its own buffer.
    [[nodiscard]] Area own_memory(Area own) { return has_children() ? plan_.scratch(run_bytes(me_, me_end())) : own; }
    /// Where the part of place `number` lies in `held`: at the root in the order of the group, elsewhere behind those
    /// of the places between this one and it.
    [[nodiscard]] Area at(Area held, int number) const {
        return held + (me_ == 0 ? parts_.begin(peer(number)) : run_bytes(me_, number));
    }
    [[nodiscard]] Bytes run_bytes(int first, int end) const {
        int const straight = std::min(end, shape_.places - shape_.root);  // from there on the buffer begins again
        Bytes bytes = 0;
        if (first < straight) {
            bytes += parts_.bytes(first + shape_.root, straight + shape_.root);
        }
        if (int const around = std::max(first, straight); around < end) {
            bytes += parts_.bytes(peer(around), peer(around) + end - around);
        }
        return bytes;
    }
    /// use(area, bytes) for the one or two runs of the buffer that the parts of places `first` up to `end` are.
    template <class Use>
    void for_each_run(Area held, int first, int end, Use const& use) const {
        int const around = std::clamp(shape_.places - shape_.root, first, end);
        for (auto const& [begin, stop] : {std::pair{first, around}, std::pair{around, end}}) {
            if (begin < stop) {
                use(at(held, begin), run_bytes(begin, stop));
            }
        }
    }

    Shape const& shape_;
    Parts parts_;
    int radix_;
    int me_;        // counted from the root
    int span_ = 1;  // places of a full subtree here
    MicroPlanner plan_;
};

}  // namespace

MicroPlan knomial_tree(Shape const& shape, Knobs const& knobs) {
    RootedTree tree(shape, knobs);
    switch (shape.kind) {
    case OperationKind::reduce:
        tree.reduce();
        break;
    case OperationKind::gather:
        tree.gather();
        break;
    case OperationKind::scatter:
        tree.scatter();
        break;
    default:
        tree.broadcast();
        break;
    }
    return std::move(tree).finish();
}

/// A tree in which all are children of the root.
MicroPlan direct_parts(Shape const& shape, Knobs const& /*knobs*/) {
    return knomial_tree(shape, {std::max(2, shape.places), 0});
}

/// A place passes one piece on while the next arrives.
MicroPlan chain(Shape const& shape, Knobs const& knobs) {
    MicroPlanner plan;
    int const from_root = shape.right(shape.place, -shape.root);
    bool const last = from_root + 1 == shape.places;
    Bytes const segment = knobs.segment == 0 ? default_segment : knobs.segment;
    bool const reduces = shape.kind == OperationKind::reduce;
    Area const theirs = plan.scratch(reduces && !last ? shape.bytes : 0);
    for_each_segment(shape.bytes, segment, shape.element, [&](Bytes offset, Bytes bytes) {
        if (!reduces) {
            if (from_root > 0) {
                plan.receive(shape.right(shape.place, -1), shape.output(offset), bytes);
            }
            if (!last) {
                plan.send(shape.right(shape.place, 1), shape.output(offset), bytes);
            }
            return;
        }
        Area sum = shape.input(offset);
        if (!last) {
            plan.receive(shape.right(shape.place, 1), theirs + offset, bytes);
            sum = from_root == 0 ? shape.output(offset) : theirs + offset;
            plan.reduce(sum, shape.input(offset), theirs + offset, bytes);
        }
        if (from_root > 0) {
            plan.send(shape.right(shape.place, -1), sum, bytes);
        } else {
            plan.copy(shape.output(offset), sum, bytes);
        }
    });
    return std::move(plan).finish();
}

MicroPlan dissemination(Shape const& shape, Knobs const& /*knobs*/) {
    MicroPlanner plan;
    auto const places = static_cast<Bytes>(shape.places);
    Area const heard = plan.scratch(shape.places > 1 ? 2 * places : 0);
    for (Bytes distance = 1; distance < places; distance *= 2) {
        plan.send(shape.right(shape.place, static_cast<int>(distance)), heard, distance);
        plan.receive(shape.right(shape.place, -static_cast<int>(distance)), heard + distance, distance);
    }
    return std::move(plan).finish();
}

}  // namespace dlmb::algorithms
