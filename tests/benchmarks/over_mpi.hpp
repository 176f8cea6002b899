// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// main() of a benchmark that mpirun starts.
#pragma once

#include "common/bootstrap/mpi/mpi_bootstrap.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <span>
#include <string_view>

namespace dlmb::benchmark {

/// Calls run(bootstrap, words). An exception on any rank ends the launch with one line that names program and rank.
template <class Run>
int over_mpi(std::string_view program, int argc, char** argv, Run const& run) {
    try {
        MpiSession const session(argc, argv, "single");
        auto const bootstrap = make_mpi_bootstrap();
        try {
            run(*bootstrap, std::span<char*>(argv, static_cast<std::size_t>(argc)));
        } catch (std::exception const& error) {
            fmt::print(stderr, "{}: error: rank {}: {}\n", program, bootstrap->rank(), error.what());
            bootstrap->abort(1);
        }
    } catch (std::exception const& error) {
        fmt::print(stderr, "{}: error: {}\n", program, error.what());
        return 1;
    }
    return 0;
}

}  // namespace dlmb::benchmark
