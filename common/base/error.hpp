// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Exceptions, and the words for them. A backend that merely cannot run a plan does not throw: it returns Unsupported.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace dlmb {

/// Source position of a call. Own type because clang 14 with libstdc++ 12 has no std::source_location.
struct Where {
    char const* file;
    int line;
    char const* function;
    [[nodiscard]] static constexpr Where here(char const* file = __builtin_FILE(), int line = __builtin_LINE(),
                                              char const* function = __builtin_FUNCTION()) {
        return {file, line, function};
    }
};

/// A fault: a library call failed, ranks disagree, memory ran out. Ends the launch on all ranks (exit 1).
class Error : public std::runtime_error {
public:
    explicit Error(std::string const& what, Where where = Where::here());
    [[nodiscard]] Where where() const { return where_; }

private:
    Where where_;
};

/// A transport gave up what did not end in the time it was given. The cell counts as one that stood still.
class TimeoutError : public Error {
public:
    // Not inherited: nvcc 13.0 crashes on an inherited constructor with a default argument.
    explicit TimeoutError(std::string const& what, Where where = Where::here()) : Error(what, where) {}
};

/// A wrong option, parameter or input file. Printed once, by rank 0 (exit 64).
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Results cannot be written (exit 74).
class OutputError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// "unknown preset 'deepseek-v4'; nearest: deepseek-v3, deepseek-v2": the message of a UsageError. Names up to three
/// known names, nearest first by edit distance.
[[nodiscard]] std::string unknown_name(std::string_view kind, std::string_view unknown,
                                       std::span<std::string const> known);

/// A message for one line of a terminal: control characters, line breaks and bytes that are not UTF-8 become \xNN, and
/// of a long one only begin and end are left, for what is wrong stands there and what to do here.
[[nodiscard]] std::string one_line(std::string_view message);

/// Why a backend, method or memory kind cannot do what was asked. Becomes a `skipped` record.
struct Unsupported {
    std::string reason;
};

/// A value, or the reason why there is none.
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
