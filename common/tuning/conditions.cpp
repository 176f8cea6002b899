// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/conditions.hpp"

#include <string>

namespace dlmb::tuning {
namespace {

struct Meets {
    template <class Number>
    bool operator()(std::optional<Interval<Number>> const& one, std::optional<Interval<Number>> const& other) const {
        return !one || !other || one->meets(*other);
    }
    template <class Value>
    bool operator()(std::optional<Value> const& one, std::optional<Value> const& other) const {
        return !one || !other || *one == *other;
    }
    bool operator()(std::string const& one, std::string const& other) const {
        return one.empty() || other.empty() || one == other;
    }
};

struct Covers {
    template <class Number>
    bool operator()(std::optional<Interval<Number>> const& outer, std::optional<Interval<Number>> const& inner) const {
        return !outer || (inner && outer->covers(*inner));
    }
    template <class Value>
    bool operator()(std::optional<Value> const& outer, std::optional<Value> const& inner) const {
        return !outer || outer == inner;
    }
    bool operator()(std::string const& outer, std::string const& inner) const {
        return outer.empty() || outer == inner;
    }
};

}  // namespace

bool meets(When const& one, When const& other) {
    return one.operation == other.operation && all_conditions(one, other, Meets{});
}

bool covers(When const& outer, When const& inner) {
    return outer.operation == inner.operation && all_conditions(outer, inner, Covers{});
}

}  // namespace dlmb::tuning
