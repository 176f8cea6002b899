// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The options that say what messages cost: a fitted model, or parameters of LogGOPS.
#pragma once

#include "common/formats/plan/plan.hpp"
#include "common/tools/predict/simulator/machine.hpp"

#include <CLI/CLI.hpp>

#include <array>
#include <optional>
#include <string>

namespace dlmb::predict::commands {

class MachineOptions {
public:
    void add(CLI::App& parser);
    /// Throws UsageError where the options say nothing, or both ways something.
    [[nodiscard]] Machine machine(int ranks_per_node);
    /// The fitted model that machine() took; nullptr: there is none. It is forced where --force is given.
    [[nodiscard]] MachineModel const* model() const { return model_ ? &*model_ : nullptr; }
    /// Whether the model doubts what it says of such operations on so many nodes and is not forced, which is then said.
    [[nodiscard]] bool refuses(OperationKind kind, int nodes) const;

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

    std::string path_;
    bool force_ = false;
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

}  // namespace dlmb::predict::commands
