// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How it is seen that a library of collectives obeys an export: at sizes in and beside every rule, what runs is
// compared with what the forced algorithm runs and with what runs without the export.
#pragma once

#include "common/base/command_line/run_program.hpp"
#include "common/tools/tune/exporters/select_rules.hpp"
#include "common/tools/tune/verify/consumers.hpp"

#include <map>
#include <set>
#include <string>

namespace dlmb::tuning::commands {

using TrialVariables = std::map<std::string, std::string>;

/// One call that an export is tried with.
struct Probe {
    MpiCall collective;
    Bytes bytes = 0;  // native basis, a multiple of 4 * ranks
    std::uint64_t ranks = 0;
    std::string algorithm;  // what the table says; empty: the library's own choice
    bool operator==(Probe const&) const = default;
    // NOLINTNEXTLINE(modernize-use-nullptr): false alarm of clang-tidy 14
    auto operator<=>(Probe const&) const = default;
};

/// Evidence of the algorithm that ran, or why there is none. Two that failed are never alike.
struct Fingerprint {
    std::string text;
    bool failed = false;
    std::set<std::string> hidden{};  // what may have run, too, and could not be seen
    [[nodiscard]] bool is_like(Fingerprint const& other) const {
        return !failed && !other.failed && text == other.text;
    }
};

/// The exit code of a program, and the first line with words that it printed.
[[nodiscard]] Fingerprint failure(Finished const& finished);

/// A library, and how to see which algorithm it runs.
class Trial {
public:
    Trial() = default;
    Trial(Trial const&) = delete;
    Trial(Trial&&) = delete;
    Trial& operator=(Trial const&) = delete;
    Trial& operator=(Trial&&) = delete;
    virtual ~Trial() = default;

    /// Each probe runs once in each environment.
    [[nodiscard]] Fingerprint const& fingerprint(Probe const& probe, TrialVariables const& environment);
    /// Variables that make the library run an algorithm at every size.
    [[nodiscard]] virtual TrialVariables force(MpiCall collective, std::string const& algorithm) const = 0;

private:
    [[nodiscard]] virtual Fingerprint look(Probe const& probe, TrialVariables const& environment) = 0;

    std::map<std::pair<Probe, TrialVariables>, Fingerprint> seen_;
};

/// Every rule of the request's scope that is not lost, tried at its ends and beside them. Skipped where none is left:
/// that everything else is as without the export shows nothing.
[[nodiscard]] Verification verify_rules(VerifyRequest const& request, Trial& trial);

}  // namespace dlmb::tuning::commands
