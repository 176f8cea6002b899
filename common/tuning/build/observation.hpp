// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What one launch says about one way of doing one operation: the input of a tuning table.
#pragma once

#include "common/tuning/query.hpp"

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace dlmb::tuning {

/// What measurements must share to be compared, besides the size: the conditions of the rules made from them.
struct Place {
    TunedOperation operation = TunedOperation::allreduce;
    std::uint64_t ranks = 0;
    std::uint64_t nodes = 0;
    std::string memory;
    std::string dtype;      // empty where the operation moves bytes only
    std::string reduction;  // empty where it does not reduce
    bool in_place = false;
    std::optional<bool> uniform;                  // of an exchange
    std::optional<RatioInterval> imbalance = {};  // of an exchange of unequal blocks: its imbalance_class()
    std::string skew = {};  // what made these blocks, as --skew takes it; empty: not known. No condition
    // NOLINTNEXTLINE(modernize-use-nullptr): false alarm of clang-tidy 14
    auto operator<=>(Place const&) const = default;
};

/// The method of backend mpi that calls MPI_Alltoall.
inline constexpr char const* mpi_alltoall = "alltoall";

/// The imbalances that a measurement at this one speaks for, from 2^(k/2) to below 2^((k+1)/2): iterations of one
/// workload route anew and differ by less than workloads do.
[[nodiscard]] RatioInterval imbalance_class(double imbalance);

/// What a program that does this asks a table. The views are of the arguments.
[[nodiscard]] Query query_of(Place const& place, Bytes bytes, std::string_view backend);

/// A backend and a method as --method takes it: what competes.
struct Competitor {
    std::string backend;
    std::string method;
    // NOLINTNEXTLINE(modernize-use-nullptr): false alarm of clang-tidy 14
    auto operator<=>(Competitor const&) const = default;
};

struct Observation {
    Place place;
    Bytes bytes = 0;  // in basis_of(operation)
    Competitor competitor;
    Choice choice;            // the competitor with the library's algorithm, if it has one
    bool is_default = false;  // the backend's own default for this operation
    std::string launch_id;
    std::uint64_t samples = 0;
    double median_ns = 0;  // of the launch's round medians
    double aa_ratio = 1;   // odd over even rounds: how far the launch agrees with itself
};

}  // namespace dlmb::tuning
