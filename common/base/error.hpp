// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What is thrown. A backend that merely cannot run a plan does not throw: it returns Unsupported (expected.hpp).
#pragma once

#include <stdexcept>
#include <string>

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

}  // namespace dlmb
