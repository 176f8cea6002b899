// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/algorithm_catalogue.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <set>

namespace dlmb::mpi {
namespace {

constexpr Bytes kibi = 1024;

bool serves(MpiCall call, OperationUse const& use) {
    MpiCallFacts const& facts = facts_of(call);
    return facts.operation == use.kind &&
           (facts.parts == CallParts::any || (facts.parts == CallParts::equal) == use.uniform);
}

bool serves(MpiCall call, std::span<OperationUse const> uses) {
    return std::any_of(uses.begin(), uses.end(), [&](OperationUse const& use) { return serves(call, use); });
}

// MPICH's variables MPIR_CVAR_<CALL>_INTRA_ALGORITHM. They are plain ints, any value is taken, and a wrong one ends the
// job at the next call. Lists differ between versions.

/// From 4.1 on such calls within one node run release_gather after some calls (MPIR_CVAR_POSIX_NUM_COLLS_THRESHOLD),
/// whatever these variables say. Seen with 4.1.3, 4.2.3, 4.3.2 and 5.0.2: every algorithm then copies the same bytes.
bool is_left_to_the_node(MpiCall call) {
    return call == MpiCall::allreduce || call == MpiCall::bcast || call == MpiCall::reduce || call == MpiCall::barrier;
}

std::string cvar_of(MpiCall call) {
    std::string name{name_of(call)};
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
    return fmt::format("MPIR_CVAR_{}_INTRA_ALGORITHM", name);
}

AlgorithmCatalogue mpich_algorithms(std::string_view version) {
    AlgorithmCatalogue catalogue;
    catalogue.family = "mpich";
    catalogue.takes_effect = TakesEffect::at_the_next_call;
    catalogue.falls_back = [](MpiCall, std::string_view, Bytes, CallSize const&) { return std::string{}; };
    catalogue.segments = [](MpiCall, std::string_view) { return std::vector<Bytes>{0}; };
    // In 4.0 0 is "error", and a call that the algorithm cannot do then returns one instead of choosing another.
    catalogue.strictness = ControlVariable::find("MPIR_CVAR_COLLECTIVE_FALLBACK");
    catalogue.strict = 0;
    std::string_view const number = version.substr(std::min(version.size(), version.find_first_of("0123456789")));
    if (!version.starts_with("MPICH")) {  // relatives have the variables, too, and obey others
        catalogue.why_not =
            fmt::format("the algorithms of this library ({}) are not known; those of MPICH are", version);
        return catalogue;
    }
    bool const leaves_to_the_node = !number.starts_with("4.0");
    for (MpiCallFacts const& facts : mpi_call_table) {
        MpiCall const call = facts.call;
        auto variable = ControlVariable::find(cvar_of(call));
        if (variable && !(leaves_to_the_node && is_left_to_the_node(call))) {
            CallAlgorithms offered{std::move(*variable), {}, {}};
            offered.algorithms = mpich_algorithms_in(offered.variable.description());
            // An assertion of 4.0.2 ends the process where the counts of MPI_Reduce_scatter differ.
            std::erase_if(offered.algorithms, [call](NamedValue const& item) {
                return call == MpiCall::reduce_scatter && item.name == "noncommutative";
            });
            catalogue.calls.emplace(call, std::move(offered));
        }
    }
    if (std::ranges::all_of(catalogue.calls, [](auto const& each) { return each.second.algorithms.empty(); })) {
        catalogue.why_not = fmt::format("this library ({}) does not say which algorithms its variables name", version);
    }
    return catalogue;
}

// Open MPI's component coll/tuned. Names and ids are what MPI_T says; which ones give way to another in silence is
// nowhere to be asked and stands here, from
// ompi/mca/coll/base/coll_base_{allreduce,allgather,allgatherv,bcast,reduce}.c (4.1 and 5.0).

constexpr Bytes usual_segment = Bytes{64} << 10;

/// COLL_BASE_COMPUTED_SEGCOUNT: elements of a segment; all of them where the segment is not shorter.
Bytes elements_of_segment(Bytes segment, CallSize const& size) {
    bool const cuts = segment >= size.element_bytes && segment < size.element_bytes * size.elements;
    return cuts ? segment / size.element_bytes : size.elements;
}

std::string falls_back(MpiCall call, std::string_view algorithm, Bytes segment, CallSize const& size) {
    auto const ranks = static_cast<Bytes>(size.ranks);
    Bytes const smaller_half = size.elements / 2;
    auto const is = [&](MpiCall wanted, std::string_view name) { return call == wanted && algorithm == name; };
    if (is(MpiCall::allreduce, "ring") && size.elements < ranks) {
        return "with fewer elements than ranks it runs recursive_doubling";
    }
    if (is(MpiCall::allreduce, "segmented_ring") && size.elements < ranks * elements_of_segment(segment, size)) {
        return "with less than a segment per rank it runs ring";
    }
    if (is(MpiCall::allreduce, "rabenseifner") && size.elements < std::bit_floor(ranks)) {
        return "with fewer elements than ranks it runs basic_linear";
    }
    if (is(MpiCall::reduce, "rabenseifner") && (ranks < 2 || size.elements < std::bit_floor(ranks))) {
        return "with one rank, or fewer elements than ranks, it runs linear";
    }
    bool const gathers = call == MpiCall::allgather || call == MpiCall::allgatherv;
    if (gathers && algorithm == "neighbor" && ranks % 2 != 0) {
        return "with an odd number of ranks it runs ring";
    }
    if (is(MpiCall::allgather, "recursive_doubling") && !std::has_single_bit(ranks)) {
        return "unless the number of ranks is a power of two it runs bruck";
    }
    if (is(MpiCall::bcast, "split_binary_tree") && (smaller_half == 0 || segment > smaller_half * size.element_bytes)) {
        return "with less than a segment in half of the message it runs chain";
    }
    if (call == MpiCall::bcast && algorithm.starts_with("scatter_allgather") && size.elements < ranks) {
        return "with fewer elements than ranks it runs basic_linear";
    }
    return "";
}

/// An uncut segmented_ring is a ring.
std::vector<Bytes> segments(MpiCall call, std::string_view algorithm) {
    if (call == MpiCall::allreduce && algorithm == "segmented_ring") {
        return {usual_segment};
    }
    bool const cuts = algorithm == "chain" || algorithm == "pipeline" || algorithm.ends_with("binary_tree") ||
                      algorithm.ends_with("binary") || algorithm == "binomial" || algorithm == "knomial";
    bool const from_root = call == MpiCall::bcast || call == MpiCall::reduce;
    return from_root && cuts ? std::vector<Bytes>{0, usual_segment} : std::vector<Bytes>{0};
}

}  // namespace

AlgorithmCatalogue open_mpi_algorithms() {
    AlgorithmCatalogue catalogue;
    catalogue.family = "open_mpi.tuned";
    catalogue.takes_effect = TakesEffect::in_new_communicators;
    // Else others come first: on several nodes coll/han of Open MPI 5, which itself makes its communicators so.
    catalogue.info = {"ompi_comm_coll_preference", "tuned,^han"};
    catalogue.falls_back = falls_back;
    catalogue.segments = segments;
    for (MpiCallFacts const& facts : mpi_call_table) {
        MpiCall const call = facts.call;
        std::string const name = fmt::format("coll_tuned_{}_algorithm", name_of(call));
        auto variable = ControlVariable::find(name);
        if (!variable || !variable->can_be_written()) {
            continue;  // that of allgatherv cannot in 4.1
        }
        CallAlgorithms offered{std::move(*variable), {}, {}};
        for (NamedValue const& item : offered.variable.values()) {
            if (item.value != 0) {
                offered.algorithms.push_back(item);
            }
        }
        for (AlgorithmSetting const setting : every_algorithm_setting) {
            std::string_view const suffix = setting == AlgorithmSetting::segment ? "segmentsize" : name_of(setting);
            if (auto found = ControlVariable::find(fmt::format("{}_{}", name, suffix))) {
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

bool does(MpiCall call, Operation const& operation) {
    MpiCallFacts const& facts = facts_of(call);
    auto const* step = std::get_if<Collective>(&operation);
    return facts.operation == kind_of(operation) &&
           (step == nullptr || !has_parts(step->kind) || (facts.parts == CallParts::named) == !step->shares.empty());
}

std::string_view name_of(AlgorithmSetting setting) {
    constexpr std::string_view names[] = {"segment", "tree_fanout", "chain_fanout", "max_requests"};
    return names[static_cast<std::size_t>(setting)];
}

std::optional<MpiCall> LibraryAlgorithms::exchange_call() const {
    for (MpiCall const call : {MpiCall::alltoall, MpiCall::alltoallv}) {
        if (algorithms.contains(call)) {
            return call;
        }
    }
    return std::nullopt;
}

std::string knobs_of(AlgorithmCatalogue const& catalogue) {
    std::vector<std::string> knobs;
    std::set<AlgorithmSetting> settings;
    for (auto const& [call, offered] : catalogue.calls) {
        std::vector<std::string> names;
        for (NamedValue const& item : offered.algorithms) {
            names.push_back(item.name);
        }
        knobs.push_back(fmt::format("{}={}", name_of(call), fmt::join(names, "|")));
        for (auto const& [setting, variable] : offered.settings) {
            settings.insert(setting);
        }
    }
    for (AlgorithmSetting const setting : settings) {
        knobs.push_back(fmt::format("{}={}", name_of(setting), setting == AlgorithmSetting::segment ? "SIZE" : "N"));
    }
    return knobs.empty() ? fmt::format("(none: {})", catalogue.why_not) : fmt::format("{}", fmt::join(knobs, ", "));
}

std::vector<MethodChoice> algorithm_variants(AlgorithmCatalogue const& catalogue, std::span<OperationUse const> uses) {
    std::vector<MethodChoice> variants;
    for (MpiCallFacts const& facts : mpi_call_table) {
        MpiCall const call = facts.call;
        if (!serves(call, uses)) {
            continue;
        }
        if (!catalogue.why_not.empty()) {
            return {{std::string(algorithm_method), {}}};
        }
        auto const offered = catalogue.calls.find(call);
        if (offered == catalogue.calls.end()) {
            continue;
        }
        for (NamedValue const& item : offered->second.algorithms) {
            for (Bytes const segment : catalogue.segments(call, item.name)) {
                MethodChoice choice{std::string(algorithm_method), {{std::string(name_of(call)), item.name}}};
                if (segment > 0) {
                    choice.knobs.emplace(name_of(AlgorithmSetting::segment), fmt::format("{}K", segment / kibi));
                }
                variants.push_back(std::move(choice));
            }
        }
    }
    return variants;
}

AlgorithmCatalogue find_algorithms(std::string_view version) {
    start_tool_interface();
    if (ControlVariable::find("coll_tuned_use_dynamic_rules")) {
        return open_mpi_algorithms();
    }
    if (ControlVariable::find("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM")) {
        return mpich_algorithms(version);
    }
    AlgorithmCatalogue none;
    none.why_not = fmt::format("this library ({}) has no variables that choose an algorithm", version);
    return none;
}

}  // namespace dlmb::mpi
