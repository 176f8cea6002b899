// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/clock.hpp"
#include "common/bootstrap/launch_guard.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "common/bootstrap/mpi/mpi_check.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <exception>
#include <string_view>

namespace dlmb {
namespace {

constexpr std::array<std::pair<std::string_view, int>, 4> thread_levels{{{"single", MPI_THREAD_SINGLE},
                                                                         {"funneled", MPI_THREAD_FUNNELED},
                                                                         {"serialized", MPI_THREAD_SERIALIZED},
                                                                         {"multiple", MPI_THREAD_MULTIPLE}}};

int thread_level_of(std::string_view name) {
    auto const found = std::find_if(thread_levels.begin(), thread_levels.end(),
                                    [&](auto const& level) { return level.first == name; });
    if (found == thread_levels.end()) {
        throw UsageError(fmt::format("MPI has no thread level '{}'", name));
    }
    return found->second;
}

}  // namespace

std::string_view name_of_thread_level(int level) {
    auto const found = std::find_if(thread_levels.begin(), thread_levels.end(),
                                    [&](auto const& each) { return each.second == level; });
    return found == thread_levels.end() ? "unknown" : found->first;
}

MpiSession::MpiSession(int& argc, char**& argv, std::string_view thread_level)
    : exceptions_(std::uncaught_exceptions()) {
    LauncherVariables const variables = read_launcher_variables();
    std::string const library = mpi_library_version();
    if (std::string const refusal = refusal_before_init(variables, library); !refusal.empty()) {
        throw UsageError(refusal);
    }
    int const wanted = thread_level_of(thread_level);
    int provided = 0;
    Nanoseconds const begin_ns = now_ns();
    mpi::check(MPI_Init_thread(&argc, &argv, wanted, &provided), "MPI_Init_thread");
    init_ns_ = now_ns() - begin_ns;
    int size = 0;
    mpi::check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
    std::string refusal = refusal_after_init(variables, library, size);
    if (refusal.empty() && provided < wanted) {
        refusal = fmt::format("--mpi-thread {}: this MPI library provides {} at most", thread_level,
                              name_of_thread_level(provided));
    }
    if (!refusal.empty()) {
        MPI_Finalize();
        throw UsageError(refusal);
    }
}

MpiSession::~MpiSession() {
    if (std::uncaught_exceptions() > exceptions_) {
        return;
    }
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0) {
        MPI_Finalize();
    }
}

std::string mpi_library_version() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    mpi::check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
    std::string_view line{text.data(), static_cast<std::size_t>(length)};
    line = line.substr(0, line.find('\n'));
    std::string words;
    for (char const c : line) {
        words += c == '\t' ? ' ' : c;
    }
    return words.substr(0, words.find('\0'));
}

}  // namespace dlmb
