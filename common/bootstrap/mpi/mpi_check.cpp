// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/mpi/mpi_check.hpp"

#include <fmt/core.h>
#include <mpi.h>

#include <array>

namespace dlmb::mpi {

static_assert(MPI_SUCCESS == 0);

CallFailed::CallFailed(std::string summary, Where where) : Error(summary, where), summary_(std::move(summary)) {}

void throw_call_failed(int code, std::string_view call, Where where) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) {
        length = 0;
    }
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::string_view const message{text.data(), static_cast<std::size_t>(length)};
    throw CallFailed(
        fmt::format("rank {}: {}: {} (code {})", rank, call, message.empty() ? "unknown error" : message, code), where);
}

}  // namespace dlmb::mpi
