// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The one place where an MPI return code becomes an exception. Useful only for calls on communicators that carry
// MPI_ERRORS_RETURN: all of ours do (communicator.hpp); the library aborts by itself on any other.
#pragma once

#include "common/base/error.hpp"

#include <string>
#include <string_view>

namespace dlmb::mpi {

/// "rank 3: MPI_Alltoallv: MPI_ERR_COUNT: invalid count argument". A caller that knows the step adds it to summary().
class CallFailed : public Error {
public:
    CallFailed(std::string summary, Where where);
    [[nodiscard]] std::string const& summary() const { return summary_; }

private:
    std::string summary_;
};

[[noreturn, gnu::cold]] void throw_call_failed(int code, std::string_view call, Where where);

/// Throws CallFailed unless `code` is MPI_SUCCESS, which every MPI standard defines as 0. The place is passed in parts:
/// compilers build a struct before every call, and a constant only where it is needed.
inline void check(int code, std::string_view call, char const* file = __builtin_FILE(), int line = __builtin_LINE(),
                  char const* function = __builtin_FUNCTION()) {
    if (code != 0) [[unlikely]] {
        throw_call_failed(code, call, Where{file, line, function});
    }
}
/// Another library's status must not convert to int and pass for an MPI code.
template <class T>
void check(T, std::string_view) = delete;

}  // namespace dlmb::mpi
