// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The programs of OSU Micro-Benchmarks and nccl-tests by their names: which operation each is here, and why some are
// refused.
#pragma once

#include "common/run/options/suites.hpp"

namespace dlmb::run {

/// `here` of an option or a program, for a message.
[[nodiscard]] std::string without_markup(std::string_view here);

[[nodiscard]] bool has_operation(PatternType const& type, std::string_view name);

/// The program that `text` names, with its prefix or suffix or, where the suite is known, without; nullptr: none that
/// this pattern has.
[[nodiscard]] SuiteProgram const* find_program(PatternType const& type, std::optional<Suite> suite,
                                               std::string_view text);

/// Whether it has the form of a program's name: osu_NAME, NAME_perf.
[[nodiscard]] bool names_program(std::string_view text);

/// A program of OSU that is a method of another program's operation here.
struct ProgramVariant {
    SuiteProgram const* program;
    std::string_view method;      // one-sided: without its knobs
    bool beside_compute = false;  // alone, then beside a computation that takes as long
    bool one_sided = false;       // by options of OSU, too
    bool neighbors = false;       // --skew says which
};

inline constexpr std::string_view osu_neighbors = "neighbors:1:1";  // OSU's default, -N cart:1:1

[[nodiscard]] std::optional<ProgramVariant> find_variant(PatternType const& type, std::string_view text);

/// Why a program of a suite is no operation here, and what is.
[[nodiscard]] std::string refused_program(PatternType const& type, std::string_view text);

}  // namespace dlmb::run
