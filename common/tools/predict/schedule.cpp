// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/schedule.hpp"

#include "common/base/error.hpp"
#include "common/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>

namespace dlmb::predict {
namespace {

constexpr double bytes_of_element = 4;
constexpr int tofu_ports = 6;
// Bytes of a vector that goes as a whole; larger ones have segments of 1 to 64 KiB.
constexpr double fujitsu_unsegmented = 24577;
constexpr double fujitsu_in_order_segment = 65536;  // of all vectors

/// A name, and the one of the catalogue.
using Names = std::pair<std::string_view, std::string_view>;

// What others call them, with '_' for '-'. A segmented ring has the messages of the ring where nothing sets the
// segment; Open MPI's in-order binary tree has the shape of the binary one; MPICH's scattered exchange is the linear
// one, 32 messages at a time.
constexpr std::array other_names{
    Names{"recursive_distance_doubling", "distance_doubling"},
    Names{"segmented_ring", "ring"},
    Names{"ring_segmented", "ring"},
    Names{"neighbor", "neighbor_exchange"},
    Names{"brucks", "bruck"},
    Names{"modified_bruck", "bruck"},
    Names{"basic_linear", "linear"},
    Names{"linear_nb", "linear"},
    Names{"linear_synch", "linear_sync"},
    Names{"binary_tree", "binary"},
    Names{"in_order", "binary"},
    Names{"in_order_binary", "binary"},
    Names{"split_binary_tree", "split_binary"},
    Names{"reduce_scatter_allgather", "rabenseifner"},
    Names{"reduce_scatter_gather", "rabenseifner"},
    Names{"scatter_recursive_doubling_allgather", "scatter_allgather"},
    Names{"scatter_ring_allgather", "scatter_allgather_ring"},
    Names{"scattered", "linear"},
};

/// What a library means by a name that says something else elsewhere. Open MPI's linear allgather, and Fujitsu's, which
/// came from it, is a gather and a broadcast; Fujitsu's uses all ports of a node. Its binary tree of a broadcast takes
/// the times of its binomial tree, and its chains among 8 nodes three messages in a row, so that there are three.
/// Trees of a reduction send the vector as a whole where nothing sets a segment
/// (coll_tuned_reduce_algorithm_segmentsize of Open MPI is 0). PICO's measurements of Fujitsu's set one, "as the rules
/// file" of that library does: bench/run_reduce.sh of HLC-Lab/bine_trees_fugaku.
NamedAlgorithm in_library(OperationKind collective, std::string_view algorithm, std::string_view name) {
    bool const fujitsu = name.starts_with("default-");
    if (collective == OperationKind::all_gather && algorithm == "linear" && (fujitsu || name.ends_with("_ompi"))) {
        return {"gather_bcast", fujitsu ? tofu_ports : 1};
    }
    if (fujitsu && collective == OperationKind::broadcast && algorithm == "binary") {
        return {"binomial"};
    }
    if (fujitsu && algorithm == "chain") {
        return {"three_chains"};
    }
    if (fujitsu && collective == OperationKind::reduce && algorithm == "binomial") {
        return {"binomial_pipelined", 1, SetUp::none, fujitsu_unsegmented};
    }
    if (fujitsu && collective == OperationKind::reduce && algorithm == "binary") {
        bool const in_order = name.find("in-order") != std::string_view::npos;
        return {"binary_pipelined", 1, SetUp::none, in_order ? fujitsu_in_order_segment : fujitsu_unsegmented};
    }
    return {algorithm};
}

/// NAME-VARIANT-UTOFU|MPI-SEGMENT-PORTS. The variant says in which order a vector is gathered, not what is sent. RING
/// is a ring per dimension (bucket_allreduce of HLC-Lab/bine_trees_fugaku).
std::optional<NamedAlgorithm> of_ports(OperationKind collective, std::string_view name) {
    auto const parts = split(name, "-");
    if (parts.size() != 5 || (parts[2] != "UTOFU" && parts[2] != "MPI")) {
        return std::nullopt;
    }
    auto const ports = parse_whole<int>(parts[4]);
    if (!parse_whole<Bytes>(parts[3]) || !ports || *ports < 1 || *ports > 64) {
        return std::nullopt;
    }
    bool const whole = parts[1] == "L";  // sends the whole vector, from where it is
    SetUp const set_up = parts[2] != "UTOFU" ? SetUp::none : whole ? SetUp::port : SetUp::partner;
    bool const doubles = parts[0] == "RECDOUB" && collective == OperationKind::all_reduce;
    std::string_view const algorithm = parts[0] == "RING"    ? "bucket"
                                       : parts[0] == "BRUCK" ? "bruck"
                                       : !doubles            ? ""
                                       : whole               ? "recursive_doubling"
                                                             : "rabenseifner";
    return algorithm.empty() ? std::nullopt : std::optional(NamedAlgorithm{algorithm, *ports, set_up});
}

ScheduleRow const* row_of(OperationKind collective, std::string_view algorithm) {
    auto const rows = schedules();
    auto const found = std::find_if(rows.begin(), rows.end(), [&](ScheduleRow const& row) {
        return row.collective == collective && row.algorithm == algorithm;
    });
    return found == rows.end() ? nullptr : &*found;
}

}  // namespace

std::string_view algorithm_that_runs(OperationKind collective, NamedAlgorithm named, double bytes, int ranks) {
    std::string_view const name = named.algorithm;
    if (named.of_open_mpi && name == "ring" && collective == OperationKind::all_reduce &&
        bytes < bytes_of_element * ranks) {
        return "recursive_doubling";
    }
    if (named.of_open_mpi && name == "split_binary" && bytes < 2 * bytes_of_element) {
        return "three_chains";
    }
    bool const one_segment = bytes <= named.one_segment_bytes;
    if (name == "binomial_pipelined" && one_segment) {
        return "binomial";
    }
    return name == "binary_pipelined" && one_segment ? "binary" : name;
}

double temporary_share(OperationKind collective, std::string_view algorithm) {
    return row_of(collective, algorithm)->temporary;
}

std::vector<Round> schedule_of(OperationKind collective, std::string_view algorithm, Extents const& extents) {
    int const ranks = std::accumulate(extents.begin(), extents.end(), 1, std::multiplies<>());
    if (ranks < 1) {
        throw UsageError(fmt::format("a collective needs at least 1 rank, not {}", ranks));
    }
    if (ranks == 1) {
        return {};
    }
    ScheduleRow const* const row = row_of(collective, algorithm);
    if (row == nullptr) {
        throw UsageError(fmt::format("{} has no algorithm {}", name_in_tables(collective), algorithm));
    }
    return row->on_torus != nullptr ? row->on_torus(extents) : row->rounds(ranks);
}

std::optional<NamedAlgorithm> algorithm_of(OperationKind collective, std::string_view name) {
    std::string bare{name};
    if (bare.starts_with("default-")) {
        bare.erase(0, std::string_view("default-").size());
    } else {
        for (std::string_view const library : {"_ompi", "_mpich", "_over"}) {
            if (bare.ends_with(library)) {
                bare.erase(bare.size() - library.size());
                break;
            }
        }
    }
    std::replace(bare.begin(), bare.end(), '-', '_');
    auto const* const other =
        std::find_if(other_names.begin(), other_names.end(), [&](Names const& each) { return each.first == bare; });
    std::string_view const plain = other == other_names.end() ? std::string_view(bare) : other->second;
    NamedAlgorithm found = of_ports(collective, name).value_or(in_library(collective, plain, name));
    ScheduleRow const* const row = row_of(collective, found.algorithm);
    if (row == nullptr) {
        return std::nullopt;
    }
    found.algorithm = row->algorithm;  // which outlives `bare`
    found.of_open_mpi = name.ends_with("_ompi") || name.starts_with("default-");
    return found;
}

std::string name_by_messages(OperationKind collective, std::string_view name, std::vector<int> const& torus) {
    constexpr std::string_view bine = "BINE-";
    bool const pairs = std::all_of(torus.begin(), torus.end(), [](int extent) { return extent <= 2; });
    if (pairs && name.starts_with(bine)) {
        std::string doubling = "RECDOUB-" + std::string{name.substr(bine.size())};
        if (of_ports(collective, doubling)) {
            return doubling;
        }
    }
    return std::string{name};
}

std::string_view name_in_tables(OperationKind collective) {
    return collective == OperationKind::exchange    ? "alltoall"
           : collective == OperationKind::broadcast ? "bcast"
           : collective == OperationKind::send      ? "sendrecv"
                                                    : name_of(collective);
}

std::optional<OperationKind> collective_named(std::string_view name) {
    if (name == "reduce_scatter_block") {
        return OperationKind::reduce_scatter;
    }
    for (OperationFacts const& facts : operation_table) {
        bool const has_schedule = facts.kind <= OperationKind::broadcast && facts.kind != OperationKind::recv;
        if (has_schedule && (name == facts.name || name == name_in_tables(facts.kind))) {
            return facts.kind;
        }
    }
    return std::nullopt;
}

}  // namespace dlmb::predict
