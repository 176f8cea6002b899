// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Translates command lines of OSU Micro-Benchmarks and nccl-tests: `--cli osu` and `--cli nccl` as the
// first option. Tables hold every option and every program of both suites; docs/from-osu-and-nccl-tests.md shows them.
#pragma once

#include "common/base/units.hpp"
#include "patterns/pattern.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::run {

enum class Suite : std::uint8_t { osu, nccl };

/// Treatment of an option of a suite. `option`, `parameter` (one of the pattern) and `fixed` become --ours;
/// `only`: one value changes nothing, others are refused; `ignored`: is so anyway; the others have code of their own.
enum class Meaning : std::uint8_t {
    option,
    parameter,
    fixed,
    only,
    ignored,
    refused,
    // sizes: [MIN]:[MAX] of OSU; the four of nccl-tests
    size_range,
    min_bytes,
    max_bytes,
    step_bytes,
    step_factor,
    // values that have other names here
    validation,
    element,
    reduction,
    memory,
    root,
    buffers,
    threads,
    neighbors,
    synchronization,
    exposed_memory,
    // of nccl-tests: options that stand for several of ours
    blocking,
    registration,
    host_times,
};

struct SuiteOption {
    std::string_view letter;
    std::string_view name;
    std::string_view argument;  // "N"; "[N]": may be left out; empty: takes none
    Meaning meaning;
    std::string_view ours;   // option, parameter, fixed: its name
    std::string_view value;  // fixed: what it gets; only: what may be given
    std::string_view here;   // for people: what it does here, or what to do instead
};

/// A program of a suite: `osu_NAME`, `NAME_perf`.
struct SuiteProgram {
    std::string_view osu;   // empty: has none
    std::string_view nccl;  // empty: has none
    std::string_view operation;
    std::string_view route = {};      // value of --route, where it decides
    bool per_rank = false;            // OSU and DLMB count the part of a rank, nccl-tests those of all
    Bytes osu_largest = 1U << 20U;    // the last size without -m
    bool threads = false;             // it is for several threads of a rank, how many -t says
    std::string_view nccl_skew = {};  // value of --skew that is the traffic of the program of nccl-tests
};

[[nodiscard]] std::span<SuiteOption const> options_of(Suite suite);
[[nodiscard]] std::span<SuiteProgram const> suite_programs();

/// A program of a suite that is no operation here.
struct RefusedProgram {
    std::string_view name;  // whole: "osu_init"
    std::string_view here;  // what to do instead, or what is not measured here
};
[[nodiscard]] std::span<RefusedProgram const> refused_programs();

/// A command line in our words, and what only makes sense once all of it is known.
struct SuiteCommand {
    std::optional<Suite> suite;  // nullopt: it was in our words
    std::vector<std::string> words;
    std::string min_bytes;  // as given; empty: the suite's
    std::string max_bytes;
    std::string step_bytes;
    std::string step_factor;
    bool host_times = false;  // of nccl-tests: the host's time per call is the one that is shown
};

/// Translates what follows `--cli osu` or `--cli nccl`; other command lines stay as they are. Options of ours may stand
/// between theirs. `arguments` are those without the program name. Throws UsageError for what has no meaning here, or
/// not for this pattern; its text says what to do instead.
[[nodiscard]] SuiteCommand in_our_words(PatternType const& type, std::vector<std::string> const& arguments);

using ParameterLists = std::map<std::string, std::vector<std::string>, std::less<>>;

/// Gives the programs of --operation our names ("bcast", "osu_bcast", "broadcast_perf"), and under --cli the suite's
/// sizes and element where none are given. Throws UsageError.
void take_suite_defaults(PatternType const& type, SuiteCommand const& command, ParameterLists& parameters);

/// The message size that a suite measures where `size` is asked for: OSU leaves out (nullopt) what its element does not
/// divide, and so are equal parts without elements, which it measures empty. nccl-tests rounds down to whole elements;
/// where ranks have parts, these to multiples of 16 B, and where its program counts the whole buffer, they share it.
[[nodiscard]] std::optional<Bytes> suite_size(Suite suite, Parameters const& parameters, int ranks, Bytes size);

/// Explains an option of OSU or nccl-tests that was given without --cli; empty: neither has it.
[[nodiscard]] std::string suite_hint(std::string_view word);

}  // namespace dlmb::run
