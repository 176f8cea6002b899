// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/units.hpp"
#include "common/tools/predict/schedule.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace dlmb::predict {
namespace {

constexpr int tofu_ports = 6;
// Bytes of a vector that goes as a whole; larger ones have segments of 1 to 64 KiB.
constexpr double fujitsu_unsegmented = 24577;
constexpr double fujitsu_in_order_segment = 65536;  // of all vectors

using Names = std::pair<std::string_view, Algorithm>;

constexpr std::array<std::string_view, 9> collective_names{
    "allreduce", "allgather", "reduce_scatter", "alltoall", "bcast", "reduce", "gather", "scatter", "sendrecv"};

// Names in plans and in options of dlmb_collective.
constexpr std::array other_collective_names{
    std::pair{std::string_view("broadcast"), Collective::bcast},
    std::pair{std::string_view("reduce_scatter_block"), Collective::reduce_scatter},
    std::pair{std::string_view("exchange"), Collective::alltoall},
    std::pair{std::string_view("send"), Collective::sendrecv},
    std::pair{std::string_view("recv"), Collective::sendrecv}};

// In the order of the enumeration: the names that this program prints.
constexpr std::array<std::string_view, 23> algorithm_names{"recursive_doubling",
                                                           "recursive_halving",
                                                           "distance_doubling",
                                                           "ring",
                                                           "rabenseifner",
                                                           "neighbor_exchange",
                                                           "bruck",
                                                           "pairwise",
                                                           "linear",
                                                           "linear_sync",
                                                           "binomial",
                                                           "binary",
                                                           "binomial_pipelined",
                                                           "binary_pipelined",
                                                           "knomial",
                                                           "split_binary",
                                                           "chain",
                                                           "three_chains",
                                                           "pipeline",
                                                           "scatter_allgather",
                                                           "scatter_allgather_ring",
                                                           "gather_bcast",
                                                           "bucket"};

// What others call them, with '_' for '-'. A segmented ring has the messages of the ring where nothing sets the
// segment; Open MPI's in-order binary tree has the shape of the binary one.
constexpr std::array other_names{
    Names{"recursive_distance_doubling", Algorithm::distance_doubling},
    Names{"segmented_ring", Algorithm::ring},
    Names{"ring_segmented", Algorithm::ring},
    Names{"neighbor", Algorithm::neighbor_exchange},
    Names{"brucks", Algorithm::bruck},
    Names{"modified_bruck", Algorithm::bruck},
    Names{"basic_linear", Algorithm::linear},
    Names{"linear_nb", Algorithm::linear},
    Names{"linear_synch", Algorithm::linear_sync},
    Names{"binary_tree", Algorithm::binary},
    Names{"in_order", Algorithm::binary},
    Names{"in_order_binary", Algorithm::binary},
    Names{"split_binary_tree", Algorithm::split_binary},
};

std::optional<Algorithm> plain(std::string_view name) {
    auto const own = std::find(algorithm_names.begin(), algorithm_names.end(), name);
    if (own != algorithm_names.end()) {
        return static_cast<Algorithm>(own - algorithm_names.begin());
    }
    auto const other =
        std::find_if(other_names.begin(), other_names.end(), [&](auto const& each) { return each.first == name; });
    return other == other_names.end() ? std::nullopt : std::optional(other->second);
}

/// What a library means by a name that says something else elsewhere. Open MPI's linear allgather, and Fujitsu's, which
/// came from it, is a gather and a broadcast; Fujitsu's uses all ports of a node. Its binary tree of a broadcast takes
/// the times of its binomial tree, and its chains among 8 nodes three messages in a row, so that there are three.
/// Trees of a reduction send the vector as a whole where nothing sets a segment
/// (coll_tuned_reduce_algorithm_segmentsize of Open MPI is 0). PICO's measurements of Fujitsu's set one, "as the rules
/// file" of that library does: bench/run_reduce.sh of HLC-Lab/bine_trees_fugaku.
NamedAlgorithm in_library(Collective collective, Algorithm algorithm, std::string_view name) {
    bool const fujitsu = name.starts_with("default-");
    if (collective == Collective::allgather && algorithm == Algorithm::linear && (fujitsu || name.ends_with("_ompi"))) {
        return {Algorithm::gather_bcast, fujitsu ? tofu_ports : 1};
    }
    if (fujitsu && collective == Collective::bcast && algorithm == Algorithm::binary) {
        return {Algorithm::binomial};
    }
    if (fujitsu && algorithm == Algorithm::chain) {
        return {Algorithm::three_chains};
    }
    if (fujitsu && collective == Collective::reduce && algorithm == Algorithm::binomial) {
        return {Algorithm::binomial_pipelined, 1, SetUp::none, fujitsu_unsegmented};
    }
    if (fujitsu && collective == Collective::reduce && algorithm == Algorithm::binary) {
        bool const in_order = name.find("in-order") != std::string_view::npos;
        return {Algorithm::binary_pipelined, 1, SetUp::none, in_order ? fujitsu_in_order_segment : fujitsu_unsegmented};
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
        return NamedAlgorithm{Algorithm::bucket, *ports, set_up};
    }
    if (parts[0] == "BRUCK") {
        return NamedAlgorithm{Algorithm::bruck, *ports, set_up};
    }
    if (parts[0] == "RECDOUB" && collective == Collective::allreduce) {
        return NamedAlgorithm{whole ? Algorithm::recursive_doubling : Algorithm::rabenseifner, *ports, set_up};
    }
    return std::nullopt;
}

}  // namespace

std::optional<NamedAlgorithm> algorithm_of(Collective collective, std::string_view name) {
    auto found = of_ports(collective, name);
    if (!found) {
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
        if (auto const algorithm = plain(bare)) {
            found = in_library(collective, *algorithm, name);
        }
    }
    return found && has(collective, found->algorithm) ? found : std::nullopt;
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

std::string_view name_of(Algorithm algorithm) {
    return algorithm_names[static_cast<std::size_t>(algorithm)];
}

}  // namespace dlmb::predict
