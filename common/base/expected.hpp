// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A value, or the reason why there is none. Only for the normal "this cannot be done here"; faults throw.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace dlmb {

/// Why a backend, method or memory kind cannot do what was asked. Becomes a `skipped` record.
struct Unsupported {
    std::string reason;
};

template <class Value, class Reason>
class [[nodiscard]] Expected {
public:
    // NOLINTBEGIN(google-explicit-constructor): `return value;` and `return Unsupported{...};` are the point.
    Expected(Value value) : held_(std::in_place_index<0>, std::move(value)) {}
    Expected(Reason reason) : held_(std::in_place_index<1>, std::move(reason)) {}
    // NOLINTEND(google-explicit-constructor)

    [[nodiscard]] explicit operator bool() const { return held_.index() == 0; }
    [[nodiscard]] Value& value() & { return std::get<0>(held_); }
    [[nodiscard]] Value const& value() const& { return std::get<0>(held_); }
    [[nodiscard]] Value&& value() && { return std::get<0>(std::move(held_)); }
    [[nodiscard]] Reason const& error() const { return std::get<1>(held_); }

private:
    std::variant<Value, Reason> held_;
};

}  // namespace dlmb
