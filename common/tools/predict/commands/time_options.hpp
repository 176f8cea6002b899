// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The options of dlmb_predict time that say what messages cost (a fitted model, or parameters of LogGOPS), and on which
// network they share links.
#pragma once

#include "common/tools/predict/commands/model_option.hpp"
#include "common/tools/predict/network/link_network.hpp"
#include "common/tools/predict/placed_bound.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <memory>
#include <optional>
#include <string>

namespace dlmb::predict::commands {

inline constexpr double picoseconds_per_us = 1e6;

class MachineOptions {
public:
    void add(CLI::App& parser);
    /// Throws UsageError where the options say nothing, or both ways something.
    [[nodiscard]] Machine machine(int ranks_per_node, int nodes);
    /// The fitted model that machine() took; nullptr: there is none. It is forced where --force is given.
    [[nodiscard]] MachineModel const* model() const { return model_ ? &*model_ : nullptr; }
    /// Throws ModelRefusal where the model doubts what it says of such operations on so many nodes and is not forced.
    void require(OperationKind kind, int nodes) const;

private:
    /// A parameter in ns as it is given: "2000", or by level "node=300,system=2000".
    struct LevelOption {
        char const* name;
        char const* help;
        double factor;  // from ns to the unit of the field
        std::int64_t LogGopsParameters::*field;
        std::string text{};
    };
    /// A parameter in ns of all levels.
    struct MachineOption {
        char const* name;
        char const* help;
        double factor;
        std::int64_t Machine::*field;
        double value = 0;
    };
    static constexpr double picoseconds_per_ns = 1e3;
    static constexpr double femtoseconds_per_ns = 1e6;

    static void read_levels(LevelOption const& option, Machine& machine);
    static std::int64_t rounded(char const* name, double value, double factor);

    ModelOption option_;
    std::array<LevelOption, 5> level_options_{{
        {"--latency", "L: ns from one rank to another, or by level: node=300,system=2000", picoseconds_per_ns,
         &LogGopsParameters::latency},
        {"--overhead", "o: ns of the processor at each end of a message", picoseconds_per_ns,
         &LogGopsParameters::overhead},
        {"--gap", "g: ns between two messages of a NIC", picoseconds_per_ns, &LogGopsParameters::gap},
        {"--gap-per-byte", "G: ns per byte; 0.04 is 25 GB/s", femtoseconds_per_ns, &LogGopsParameters::gap_per_byte},
        {"--overhead-per-byte", "O: ns of the processor per byte that is sent", femtoseconds_per_ns,
         &LogGopsParameters::overhead_per_byte},
    }};
    std::array<MachineOption, 3> machine_options_{{
        {"--reduce-per-byte", "ns to reduce a byte", femtoseconds_per_ns, &Machine::reduce_per_byte},
        {"--copy-per-byte", "ns to copy a byte inside a rank", femtoseconds_per_ns, &Machine::copy_per_byte},
        {"--call", "ns when a collective or an exchange begins, and when a Recv ends", picoseconds_per_ns,
         &Machine::call},
    }};
    std::string eager_limit_;
    std::optional<MachineModel> model_;
};

/// A network and the links that it is made of.
class SharedLinks {
public:
    SharedLinks(Topology const& topology, Placement placement, std::uint64_t seed, int ranks, int ranks_per_node,
                LinkCosts const& costs);

    [[nodiscard]] LinkNetwork& network() { return network_; }
    [[nodiscard]] int nodes() const { return interconnect_->nodes(); }
    /// The bytes that the links carried until the simulation ended at `time`.
    [[nodiscard]] nlohmann::ordered_json to_json(Picoseconds time) const;
    /// By these algorithms.
    [[nodiscard]] Bound bound(PlanSource const& plans, LoweringChoice const& choice, Machine const& machine) const;
    /// Bound of `bytes` that each node sends in equal parts to all others.
    [[nodiscard]] Bound uniform_bound(Bytes bytes, Machine const& machine) const;
    [[nodiscard]] nlohmann::ordered_json to_json(Bound const& bound) const;
    [[nodiscard]] std::string to_text(Bound const& bound) const;

private:
    std::unique_ptr<Interconnect> interconnect_;
    std::vector<int> nodes_;  // of each rank
    double bytes_per_ps_;
    LinkNetwork network_;
};

class NetworkOptions {
public:
    void add(CLI::App& parser);
    /// nullptr: only NICs are shared. A node injects what G of messages between nodes says. `ranks` 0: one for each
    /// node. Throws UsageError where the topology has too few nodes or is `required`, bytes take no time, a seed
    /// would have no effect, or the distance would count twice.
    [[nodiscard]] std::unique_ptr<SharedLinks> make(Machine const& machine, int ranks, bool required = false) const;

private:
    std::string topology_;
    Placement placement_ = Placement::row_major;
    std::optional<std::uint64_t> seed_;
    double hop_ns_ = 0;
    double tolerance_ = 1e-4;
};

}  // namespace dlmb::predict::commands
