// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/schedule.hpp"

#include "common/base/error.hpp"
#include "common/base/units.hpp"
#include "common/tools/predict/schedule/rounds.hpp"

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

constexpr std::array<std::string_view, 9> collective_names{
    "allreduce", "allgather", "reduce_scatter", "alltoall", "bcast", "reduce", "gather", "scatter", "sendrecv"};

// Names in plans and in options of dlmb_collective.
constexpr std::array other_collective_names{
    std::pair{std::string_view("broadcast"), Collective::bcast},
    std::pair{std::string_view("reduce_scatter_block"), Collective::reduce_scatter},
    std::pair{std::string_view("exchange"), Collective::alltoall},
    std::pair{std::string_view("send"), Collective::sendrecv},
    std::pair{std::string_view("recv"), Collective::sendrecv}};

// What others call them, with '_' for '-'. A segmented ring has the messages of the ring where nothing sets the
// segment; Open MPI's in-order binary tree has the shape of the binary one.
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
};

/// The name of the catalogue; of one that is not known, as it is.
std::string_view plain(std::string_view name) {
    auto const other =
        std::find_if(other_names.begin(), other_names.end(), [&](auto const& each) { return each.first == name; });
    return other == other_names.end() ? name : other->second;
}

/// What a library means by a name that says something else elsewhere. Open MPI's linear allgather, and Fujitsu's, which
/// came from it, is a gather and a broadcast; Fujitsu's uses all ports of a node. Its binary tree of a broadcast takes
/// the times of its binomial tree, and its chains among 8 nodes three messages in a row, so that there are three.
/// Trees of a reduction send the vector as a whole where nothing sets a segment
/// (coll_tuned_reduce_algorithm_segmentsize of Open MPI is 0). PICO's measurements of Fujitsu's set one, "as the rules
/// file" of that library does: bench/run_reduce.sh of HLC-Lab/bine_trees_fugaku.
NamedAlgorithm in_library(Collective collective, std::string_view algorithm, std::string_view name) {
    bool const fujitsu = name.starts_with("default-");
    if (collective == Collective::allgather && algorithm == "linear" && (fujitsu || name.ends_with("_ompi"))) {
        return {"gather_bcast", fujitsu ? tofu_ports : 1};
    }
    if (fujitsu && collective == Collective::bcast && algorithm == "binary") {
        return {"binomial"};
    }
    if (fujitsu && algorithm == "chain") {
        return {"three_chains"};
    }
    if (fujitsu && collective == Collective::reduce && algorithm == "binomial") {
        return {"binomial_pipelined", 1, SetUp::none, fujitsu_unsegmented};
    }
    if (fujitsu && collective == Collective::reduce && algorithm == "binary") {
        bool const in_order = name.find("in-order") != std::string_view::npos;
        return {"binary_pipelined", 1, SetUp::none, in_order ? fujitsu_in_order_segment : fujitsu_unsegmented};
    }
    return {algorithm};
}

/// NAME-VARIANT-UTOFU|MPI-SEGMENT-PORTS. The variant says in which order a vector is gathered, not what is sent. RING
/// is a ring per dimension (bucket_allreduce of HLC-Lab/bine_trees_fugaku).
std::optional<NamedAlgorithm> of_ports(Collective collective, std::string_view name) {
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
    if (parts[0] == "RING") {
        return NamedAlgorithm{"bucket", *ports, set_up};
    }
    if (parts[0] == "BRUCK") {
        return NamedAlgorithm{"bruck", *ports, set_up};
    }
    if (parts[0] == "RECDOUB" && collective == Collective::allreduce) {
        return NamedAlgorithm{whole ? "recursive_doubling" : "rabenseifner", *ports, set_up};
    }
    return std::nullopt;
}

ScheduleRow const* row_of(Collective collective, std::string_view algorithm) {
    for (auto const rows : {exchange_schedules(), tree_schedules()}) {
        auto const found = std::find_if(rows.begin(), rows.end(), [&](ScheduleRow const& row) {
            return row.collective == collective && row.algorithm == algorithm;
        });
        if (found != rows.end()) {
            return &*found;
        }
    }
    return nullptr;
}

}  // namespace

std::string_view known_algorithm(Collective collective, std::string_view name) {
    ScheduleRow const* const row = row_of(collective, name);
    return row == nullptr ? "" : row->algorithm;
}

std::string_view algorithm_that_runs(Collective collective, NamedAlgorithm named, double bytes, int ranks) {
    std::string_view const name = named.algorithm;
    if (name == "ring" && collective == Collective::allreduce && bytes < bytes_of_element * ranks) {
        return "recursive_doubling";
    }
    if (name == "split_binary" && bytes < 2 * bytes_of_element) {
        return "three_chains";
    }
    bool const one_segment = bytes <= named.one_segment_bytes;
    if (name == "binomial_pipelined" && one_segment) {
        return "binomial";
    }
    return name == "binary_pipelined" && one_segment ? "binary" : name;
}

double temporary_share(Collective collective, std::string_view algorithm) {
    return row_of(collective, algorithm)->temporary;
}

std::vector<Round> schedule_of(Collective collective, std::string_view algorithm, Extents const& extents) {
    int const ranks = std::accumulate(extents.begin(), extents.end(), 1, std::multiplies<>());
    if (ranks < 1) {
        throw UsageError(fmt::format("a collective needs at least 1 rank, not {}", ranks));
    }
    if (ranks == 1) {
        return {};
    }
    ScheduleRow const* const row = row_of(collective, algorithm);
    if (row == nullptr) {
        throw UsageError(fmt::format("{} has no algorithm {}", name_of(collective), algorithm));
    }
    return row->on_torus != nullptr ? row->on_torus(extents) : row->rounds(ranks);
}

std::optional<NamedAlgorithm> algorithm_of(Collective collective, std::string_view name) {
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
    NamedAlgorithm found = of_ports(collective, name).value_or(in_library(collective, plain(bare), name));
    found.algorithm = known_algorithm(collective, found.algorithm);  // which outlives `bare`
    return found.algorithm.empty() ? std::nullopt : std::optional(found);
}

std::string name_by_messages(Collective collective, std::string_view name, std::vector<int> const& torus) {
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

std::optional<Collective> collective_of(std::string_view name) {
    for (auto const& [other, collective] : other_collective_names) {
        if (name == other) {
            return collective;
        }
    }
    auto const found = std::find(collective_names.begin(), collective_names.end(), name);
    return found == collective_names.end() ? std::nullopt
                                           : std::optional(static_cast<Collective>(found - collective_names.begin()));
}

std::string_view name_of(Collective collective) {
    return collective_names[static_cast<std::size_t>(collective)];
}

}  // namespace dlmb::predict
