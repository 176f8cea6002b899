// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Who decides whether a device pointer may reach MPI, and what is said about it. No library is asked here.
#include "common/backends/mpi/device_path.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"

#include <gtest/gtest.h>

namespace dlmb::mpi {
namespace {

constexpr DeviceQuery no_query{};
constexpr DeviceQuery query_yes{"MPIX_Query_cuda_support", true};
constexpr DeviceQuery query_no{"MPIX_Query_cuda_support", false};
constexpr auto no_kinds = std::nullopt;

struct Row {
    DeviceAnswers answers;
    bool direct;
    std::string_view reason;  // a part of it
};

TEST(MpiDevicePath, TheFirstThatAnswersDecides) {
    Row const rows[] = {
        {{true, query_no, "mpi,system"}, true, "--mpi-device yes"},
        {{false, query_yes, "mpi,system,cuda"}, false, "--mpi-device no"},
        {{std::nullopt, query_yes, "mpi,system"}, true, "MPIX_Query_cuda_support says yes"},
        {{std::nullopt, query_no, "mpi,system,cuda"}, false, "MPIX_Query_cuda_support says no"},
        {{std::nullopt, no_query, "mpi,system,cuda:device,rocm"}, true, "mpi_memory_alloc_kinds"},
        {{std::nullopt, no_query, "cuda"}, true, "mpi_memory_alloc_kinds"},
        {{std::nullopt, no_query, "mpi,system,cudagraph"}, false, "\"mpi,system,cudagraph\""},
        {{std::nullopt, no_query, ""}, false, "mpi_memory_alloc_kinds"},
        {{std::nullopt, no_query, no_kinds}, false, "--mpi-device yes"},
    };
    for (Row const& row : rows) {
        DevicePath const path = decide(row.answers);
        EXPECT_EQ(path.direct, row.direct) << path.reason;
        EXPECT_NE(path.reason.find(row.reason), std::string::npos) << path.reason;
    }
}

TEST(MpiDevicePath, OneRankThatRefusesRefusesForAll) {
    in_process::run_ranks(3, [](Bootstrap& bootstrap) {
        bool const refuses = bootstrap.rank() == 1;
        DevicePath const own{!refuses, refuses ? "too old" : "new"};
        EXPECT_EQ(path_of_all(own, bootstrap), (DevicePath{false, refuses ? "too old" : "rank 1: too old"}));
    });
}

TEST(MpiDevicePath, WhatAllRanksAllowIsAllowed) {
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        EXPECT_EQ(path_of_all({true, "new"}, bootstrap), (DevicePath{true, "new"}));
    });
}

}  // namespace
}  // namespace dlmb::mpi
