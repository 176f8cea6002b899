// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/exporters/open_mpi_algorithms.hpp"

#include "common/base/error.hpp"

#include <array>
#include <charconv>
#include <string>

namespace dlmb::tuning {
namespace {

constexpr LibraryVersion always{0, 0, 0};
constexpr LibraryVersion sparbit{5, 0, 0};
constexpr LibraryVersion main_branch{6, 0, 0};

struct Row {
    MpiCollective collective;
    int id;
    std::string_view name;
    LibraryVersion since = always;
    LibraryVersion before = {~0U, 0, 0};
};

constexpr std::array open_mpi_algorithm_table{
    Row{MpiCollective::allgather, 1, "linear"},
    Row{MpiCollective::allgather, 2, "bruck", always, main_branch},
    Row{MpiCollective::allgather, 2, "bruck-k-fanout", main_branch},
    Row{MpiCollective::allgather, 3, "recursive_doubling"},
    Row{MpiCollective::allgather, 4, "ring"},
    Row{MpiCollective::allgather, 5, "neighbor"},
    Row{MpiCollective::allgather, 6, "two_proc"},
    Row{MpiCollective::allgather, 7, "sparbit", sparbit},
    Row{MpiCollective::allgather, 8, "direct-messaging", main_branch},
    Row{MpiCollective::allreduce, 1, "basic_linear"},
    Row{MpiCollective::allreduce, 2, "nonoverlapping"},
    Row{MpiCollective::allreduce, 3, "recursive_doubling"},
    Row{MpiCollective::allreduce, 4, "ring"},
    Row{MpiCollective::allreduce, 5, "segmented_ring"},
    Row{MpiCollective::allreduce, 6, "rabenseifner"},
    Row{MpiCollective::allreduce, 7, "allgather_reduce", main_branch},
    Row{MpiCollective::alltoall, 1, "linear"},
    Row{MpiCollective::alltoall, 2, "pairwise"},
    Row{MpiCollective::alltoall, 3, "modified_bruck"},
    Row{MpiCollective::alltoall, 4, "linear_sync"},
    Row{MpiCollective::alltoall, 5, "two_proc"},
    Row{MpiCollective::alltoallv, 1, "basic_linear"},
    Row{MpiCollective::alltoallv, 2, "pairwise"},
    Row{MpiCollective::bcast, 1, "basic_linear"},
    Row{MpiCollective::bcast, 2, "chain"},
    Row{MpiCollective::bcast, 3, "pipeline"},
    Row{MpiCollective::bcast, 4, "split_binary_tree"},
    Row{MpiCollective::bcast, 5, "binary_tree"},
    Row{MpiCollective::bcast, 6, "binomial"},
    Row{MpiCollective::bcast, 7, "knomial"},
    Row{MpiCollective::bcast, 8, "scatter_allgather"},
    Row{MpiCollective::bcast, 9, "scatter_allgather_ring"},
    Row{MpiCollective::reduce_scatter_block, 1, "basic_linear"},
    Row{MpiCollective::reduce_scatter_block, 2, "recursive_doubling"},
    Row{MpiCollective::reduce_scatter_block, 3, "recursive_halving"},
    Row{MpiCollective::reduce_scatter_block, 4, "butterfly"},
};

}  // namespace

LibraryVersion parse_version(std::string_view text) {
    LibraryVersion version;
    char const* at = text.data();
    char const* const end = at + text.size();
    for (unsigned* part : {&version.major, &version.minor, &version.patch}) {
        auto const [stop, error] = std::from_chars(at, end, *part);
        if (error != std::errc{}) {
            break;
        }
        at = stop + (stop != end && *stop == '.' ? 1 : 0);
    }
    if (at == text.data()) {
        throw UsageError("'" + std::string(text) + "' is no version of a library; write it as 4.1.4");
    }
    return version;
}

int open_mpi_id(MpiCollective collective) {
    switch (collective) {
    case MpiCollective::allgather:
        return 0;
    case MpiCollective::allreduce:
        return 2;
    case MpiCollective::alltoall:
        return 3;
    case MpiCollective::alltoallv:
        return 4;
    case MpiCollective::bcast:
        return 7;
    case MpiCollective::reduce_scatter_block:
        break;
    }
    return 13;
}

std::optional<int> open_mpi_id(MpiCollective collective, std::string_view algorithm, LibraryVersion version) {
    for (Row const& row : open_mpi_algorithm_table) {
        if (row.collective == collective && row.name == algorithm && row.since <= version && version < row.before) {
            return row.id;
        }
    }
    return std::nullopt;
}

std::string_view open_mpi_obstacle(std::string_view algorithm, CountInterval ranks) {
    if (algorithm == "two_proc" && ranks != CountInterval{2, 2}) {
        return "runs for 2 ranks only and fails for others";
    }
    if (algorithm == "neighbor" && (ranks.min != ranks.max || ranks.min % 2 != 0)) {
        return "runs for even numbers of ranks only; others silently run ring";
    }
    return "";
}

}  // namespace dlmb::tuning
