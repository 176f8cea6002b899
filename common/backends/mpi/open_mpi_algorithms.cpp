// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Open MPI's component coll/tuned. Names and ids are what MPI_T says; which ones give way to another in silence is
// nowhere to be asked and stands here, from ompi/mca/coll/base/coll_base_{allreduce,allgather,bcast}.c (4.1 and 5.0).
#include "common/backends/mpi/algorithm_catalogue.hpp"

#include <fmt/core.h>

#include <bit>

namespace dlmb::mpi {
namespace {

constexpr Bytes usual_segment = Bytes{64} << 10;

std::string tuned_variable_of(CollectiveCall call) {
    return fmt::format("coll_tuned_{}_algorithm", name_of(call));
}

std::string_view suffix_of(AlgorithmSetting setting) {
    return setting == AlgorithmSetting::segment ? "segmentsize" : name_of(setting);
}

/// COLL_BASE_COMPUTED_SEGCOUNT: elements of a segment; all of them where the segment is not shorter.
Bytes elements_of_segment(Bytes segment, CallSize const& size) {
    bool const cuts = segment >= size.element_bytes && segment < size.element_bytes * size.elements;
    return cuts ? segment / size.element_bytes : size.elements;
}

std::string allreduce_falls_back(std::string_view algorithm, Bytes segment, CallSize const& size) {
    auto const ranks = static_cast<Bytes>(size.ranks);
    if (algorithm == "ring" && size.elements < ranks) {
        return "with fewer elements than ranks it runs recursive_doubling";
    }
    if (algorithm == "segmented_ring" && size.elements < ranks * elements_of_segment(segment, size)) {
        return "with less than a segment per rank it runs ring";
    }
    if (algorithm == "rabenseifner" && size.elements < std::bit_floor(ranks)) {
        return "with fewer elements than ranks it runs basic_linear";
    }
    return "";
}

std::string allgather_falls_back(std::string_view algorithm, CallSize const& size) {
    if (algorithm == "neighbor" && size.ranks % 2 != 0) {
        return "with an odd number of ranks it runs ring";
    }
    if (algorithm == "recursive_doubling" && !std::has_single_bit(static_cast<unsigned>(size.ranks))) {
        return "unless the number of ranks is a power of two it runs bruck";
    }
    return "";
}

std::string bcast_falls_back(std::string_view algorithm, Bytes segment, CallSize const& size) {
    Bytes const smaller_half = size.elements / 2;
    if (algorithm == "split_binary_tree" && (smaller_half == 0 || segment > smaller_half * size.element_bytes)) {
        return "with less than a segment in half of the message it runs chain";
    }
    if (algorithm.starts_with("scatter_allgather") && size.elements < static_cast<Bytes>(size.ranks)) {
        return "with fewer elements than ranks it runs basic_linear";
    }
    return "";
}

std::string falls_back(CollectiveCall call, std::string_view algorithm, Bytes segment, CallSize const& size) {
    switch (call) {
    case CollectiveCall::allreduce:
        return allreduce_falls_back(algorithm, segment, size);
    case CollectiveCall::allgather:
        return allgather_falls_back(algorithm, size);
    case CollectiveCall::bcast:
        return bcast_falls_back(algorithm, segment, size);
    case CollectiveCall::reduce_scatter_block:
    case CollectiveCall::alltoall:
    case CollectiveCall::alltoallv:
        break;
    }
    return "";
}

/// An uncut segmented_ring is a ring.
std::vector<Bytes> segments(CollectiveCall call, std::string_view algorithm) {
    if (call == CollectiveCall::allreduce && algorithm == "segmented_ring") {
        return {usual_segment};
    }
    bool const cuts = algorithm == "chain" || algorithm == "pipeline" || algorithm.ends_with("binary_tree") ||
                      algorithm == "binomial" || algorithm == "knomial";
    return call == CollectiveCall::bcast && cuts ? std::vector<Bytes>{0, usual_segment} : std::vector<Bytes>{0};
}

}  // namespace

AlgorithmCatalogue open_mpi_algorithms() {
    AlgorithmCatalogue catalogue;
    catalogue.family = "open_mpi.tuned";
    catalogue.takes_effect = TakesEffect::in_new_communicators;
    catalogue.falls_back = falls_back;
    catalogue.segments = segments;
    for (CollectiveCall const call : every_collective_call) {
        auto variable = ControlVariable::find(tuned_variable_of(call));
        if (!variable) {
            continue;
        }
        CallAlgorithms offered{std::move(*variable), {}, {}};
        for (NamedValue const& item : offered.variable.values()) {
            if (item.value != 0) {
                offered.algorithms.push_back(item);
            }
        }
        for (AlgorithmSetting const setting : every_algorithm_setting) {
            if (auto found = ControlVariable::find(fmt::format("{}_{}", tuned_variable_of(call), suffix_of(setting)))) {
                offered.settings.emplace(setting, std::move(*found));
            }
        }
        catalogue.calls.emplace(call, std::move(offered));
    }
    // Without it Open MPI takes every value, reads it back, and goes on as before.
    auto const rules = ControlVariable::find("coll_tuned_use_dynamic_rules");
    if (!rules || rules->read() == 0) {
        catalogue.why_not = "Open MPI obeys the choice of an algorithm only if OMPI_MCA_coll_tuned_use_dynamic_rules=1 "
                            "is in the environment when it starts";
    }
    return catalogue;
}

}  // namespace dlmb::mpi
