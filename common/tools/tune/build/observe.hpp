// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Observations: what one launch says about one way of doing one operation, the input of a tuning table, and how it
// comes from result files. What cannot carry a rule is left out, and counted by reason.
#pragma once

#include "common/formats/record/result_file.hpp"
#include "common/formats/table/query.hpp"

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dlmb::tuning {

/// The imbalances that a measurement at this one speaks for, from 2^(k/2) to below 2^((k+1)/2): iterations of one
/// workload route anew and differ by less than workloads do.
[[nodiscard]] RatioInterval imbalance_class(double imbalance);

/// A backend and a method as --method takes it: what competes.
struct Competitor {
    std::string backend;
    std::string method;
    // NOLINTNEXTLINE(modernize-use-nullptr): false alarm of clang-tidy 14
    auto operator<=>(Competitor const&) const = default;
};

struct Observation {
    /// Measurements with one key can be compared, and the rules made from them ask for it. dtype is empty where the
    /// operation moves bytes only, imbalance that of its imbalance_class().min.
    Key key;
    std::string skew = {};  // what made unequal blocks, as --skew takes it; empty: not known. Rules do not know it
    Competitor competitor;
    Choice choice;            // the competitor with the library's algorithm, if it has one
    bool is_default = false;  // the backend's own default for this operation
    std::string launch_id;
    std::uint64_t samples = 0;
    double median_ns = 0;                 // of the launch's round medians
    double aa_ratio = 1;                  // odd over even rounds: how far the launch agrees with itself
    std::optional<Foreign> foreign = {};  // dlmb_convert made it: `median_ns` is the one number that there is
};

/// How many have no default of the same launch, backend and key, so that nothing compares them.
[[nodiscard]] std::uint64_t without_default(std::vector<Observation> const& all);

using Versions = std::map<std::string, std::string>;  // by library
/// By "nccl" and "ucx": the versions that the backend of a cell told.
[[nodiscard]] Versions library_versions(record::Record const& cell);

/// Conditions that all launches of a table share. An unknown value fits every other.
struct Conditions {
    std::string timing = {};
    std::optional<std::string> beside = {};
    std::optional<record::CacheMode> cache = {};
    Versions versions = {};
};
/// "--timing stream instead of isolated", "ucx 1.15.0 instead of 1.13.1": the first difference; empty: none.
[[nodiscard]] std::string difference(Conditions const& these, Conditions const& first);

inline constexpr char const* isolated_timing = "isolated";
inline constexpr char const* stream_timing = "stream";

/// Which cells count: those of one timing and one load, and what a person lets pass although it weakens a table.
struct Accepted {
    bool oversubscribed = false;  // more ranks than processing units on a node
    bool quick = false;           // cells of fewer than six rounds
    std::string timing = {};      // isolated or stream; empty: whichever of them all cells are of
    /// Names of the methods that compete with the default; empty: all do.
    std::vector<std::string> methods = {};
    std::string beside = {};  // as --beside of programs; empty: whichever all cells are of
};

class Observations {
public:
    explicit Observations(Accepted accepted) : accepted_(std::move(accepted)) {}

    /// Throws UsageError when the launches of `file` ran on another system than those before, with another --cache,
    /// --timing or --beside or another version of a library, and when converted results come together with measured
    /// ones, or with ones of another definition.
    void add(record::ResultFile const& file, std::string const& name);

    [[nodiscard]] std::vector<Observation> const& kept() const { return kept_; }
    /// Reasons -> cells. A cell that has several is counted once, by all of them.
    [[nodiscard]] std::map<std::string, std::uint64_t> const& refused() const { return refused_; }
    /// Words of --accept that would admit more cells; empty: there are none.
    [[nodiscard]] std::set<std::string> const& acceptable() const { return acceptable_; }
    [[nodiscard]] std::uint64_t acceptable_cells() const { return acceptable_cells_; }
    [[nodiscard]] System const& system() const { return system_; }
    [[nodiscard]] Stack const& stack() const { return stack_; }
    [[nodiscard]] std::uint64_t cells() const { return cells_; }
    /// The definition of converted times, in words; empty: DLMB measured all, or no cell was kept.
    [[nodiscard]] std::string const& foreign_definition() const { return foreign_definition_; }
    /// Of all cells that are kept; unknown where there are none, or they are converted.
    [[nodiscard]] Conditions const& conditions() const { return conditions_; }

private:
    void require_alike(record::Record const& cell, std::string const& name);
    void add_system(record::Launch const& launch, std::string const& name);
    /// The method that others are compared with: the backend's default, but for files (--methods) what a program that
    /// calls MPI_Alltoall has without them, and not the MPI_Alltoallv of our default.
    [[nodiscard]] bool is_default(record::Record const& cell) const;
    /// Whether --methods names it, or nothing.
    [[nodiscard]] bool is_asked_for(std::string_view method) const;
    /// The reason that no option lets pass; empty: none.
    [[nodiscard]] std::string why_not(record::Record const& cell, record::Launch const& launch) const;
    /// Whether the cell is weak by nothing but what was accepted. Counts it where it is not.
    [[nodiscard]] bool is_accepted(record::Record const& cell, record::Launch const& launch);
    void add_foreign(record::StoredCell const& stored, record::Launch const& launch, std::string const& name);
    [[nodiscard]] std::string why_not_foreign(record::Record const& cell, record::Launch const& launch) const;

    Accepted accepted_;
    std::vector<Observation> kept_;
    std::map<std::string, std::uint64_t> refused_;
    /// The parameters of the first point of each launch and key. A launch has one time of each method for a key.
    std::map<std::pair<std::string, Key>, decltype(record::CellIdentity::parameters)> points_;
    std::set<std::string> acceptable_;
    std::uint64_t acceptable_cells_ = 0;
    Conditions conditions_;
    System system_;
    Stack stack_;
    std::uint64_t cells_ = 0;
    std::optional<bool> foreign_;     // all launches are converted, or none is; nothing: there is none
    std::string foreign_definition_;  // of all cells that are kept
};

}  // namespace dlmb::tuning
