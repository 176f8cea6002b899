// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A tuning table as plain data: rules, of which each says when (operation, size, ranks, memory ...) to choose what
// (backend, method, algorithm) and how that is known; what they hold for, and who made them from what.
// results-schema/tuning-table.schema.json is the same in JSON.
#pragma once

#include "common/base/names/operations.hpp"
#include "common/base/units.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dlmb::tuning {

/// The operation that a rule chooses for. An Exchange is any all-to-all; a Send with its Recv is one sendrecv.
enum class TunedOperation : std::uint8_t { allreduce, reduce_scatter, allgather, broadcast, exchange, sendrecv };
inline constexpr std::array every_tuned_operation{TunedOperation::allreduce, TunedOperation::reduce_scatter,
                                                  TunedOperation::allgather, TunedOperation::broadcast,
                                                  TunedOperation::exchange,  TunedOperation::sendrecv};
/// As in plans: a sendrecv is a Send.
[[nodiscard]] constexpr OperationKind kind_of(TunedOperation operation) {
    constexpr std::array kinds{OperationKind::all_reduce, OperationKind::reduce_scatter, OperationKind::all_gather,
                               OperationKind::broadcast,  OperationKind::exchange,       OperationKind::send};
    return kinds.at(static_cast<std::size_t>(operation));
}
/// Nothing: no table chooses for such steps.
[[nodiscard]] constexpr std::optional<TunedOperation> tuned_operation(OperationKind kind) {
    for (TunedOperation const operation : every_tuned_operation) {
        if (kind_of(operation) == kind || (operation == TunedOperation::sendrecv && is_message(kind))) {
            return operation;
        }
    }
    return std::nullopt;
}
[[nodiscard]] std::string_view name_of(TunedOperation operation);
[[nodiscard]] std::optional<TunedOperation> operation_named(std::string_view name);

/// The meaning of the bytes of an operation. One per operation, so that equal numbers mean equal traffic.
///   buffer: the vector on one rank; total: the full result (allgather) or input (reduce_scatter);
///   rank_send: what one rank sends to all, itself included, mean over ranks; message: one message.
[[nodiscard]] std::string_view basis_of(TunedOperation operation);

/// chosen: better than the default, and confirmed unless the evidence is foreign. In all others the default stays: tie,
/// no_gain: measured; undecided, unconfirmed: its candidate looks better, and more launches or fresh ones have to say.
enum class RuleStatus : std::uint8_t { chosen, tie, no_gain, undecided, unconfirmed };
inline constexpr std::array every_rule_status{RuleStatus::chosen, RuleStatus::tie, RuleStatus::no_gain,
                                              RuleStatus::undecided, RuleStatus::unconfirmed};
/// Whether the rule has a candidate.
[[nodiscard]] constexpr bool is_open(RuleStatus status) {
    return status == RuleStatus::undecided || status == RuleStatus::unconfirmed;
}
[[nodiscard]] std::string_view name_of(RuleStatus status);

/// As in dlmb::name_of(Element), name_of(MemoryKind) and name_of(Reduction), and what only other programs have: memory
/// "rocm" and reductions of the "user".
inline constexpr std::array<std::string_view, 9> element_words{"byte", "int8", "int32", "int64", "fp8",
                                                               "fp16", "bf16", "fp32",  "fp64"};
inline constexpr std::array<std::string_view, 7> memory_words{"host", "pinned", "cuda", "managed",
                                                              "nccl", "ucx",    "rocm"};
/// Memory of the host: that of backend "ucx" is its own, on the same chips.
[[nodiscard]] constexpr bool is_of_host(std::string_view memory) {
    return memory == "host" || memory == "ucx";
}
inline constexpr std::array<std::string_view, 5> reduction_words{"sum", "prod", "min", "max", "user"};
/// Backends whose methods a table may choose: those of this project but tuned. A table may have scopes beyond them.
inline constexpr std::array<std::string_view, 5> backend_words{"mpi", "ucx", "nccl", "ucc", "in_process"};

/// From `min` to `max`, both included: the only form of range in a table. There is no nearest size and no clamping.
template <class Number>
struct Interval {
    Number min{};
    Number max{};
    [[nodiscard]] constexpr bool contains(Number value) const { return min <= value && value <= max; }
    [[nodiscard]] constexpr bool meets(Interval const& other) const { return min <= other.max && other.min <= max; }
    [[nodiscard]] constexpr bool covers(Interval const& other) const { return min <= other.min && other.max <= max; }
    // NOLINTNEXTLINE(modernize-use-nullptr): false alarm of clang-tidy 14
    auto operator<=>(Interval const&) const = default;
};
using ByteInterval = Interval<Bytes>;  // a `max` of no_limit is written as null
using CountInterval = Interval<std::uint64_t>;
using RatioInterval = Interval<double>;
inline constexpr Bytes no_limit = std::numeric_limits<Bytes>::max();

/// Conditions, all of which must hold. An absent or empty one holds always; a present one never holds for a query that
/// does not know the value.
struct When {
    TunedOperation operation = TunedOperation::allreduce;
    std::optional<ByteInterval> bytes;  // in basis_of(operation)
    std::optional<CountInterval> ranks;
    std::optional<CountInterval> nodes;
    std::string dtype;      // element_words
    std::string reduction;  // reduction_words
    std::string memory;     // memory_words
    std::optional<bool> in_place;
    std::optional<bool> uniform;             // exchange: all blocks equal
    std::optional<RatioInterval> imbalance;  // exchange: largest total that a rank sends or receives / mean
    bool operator==(When const&) const = default;
};

/// An algorithm inside a library, where the method is that library's call.
struct Algorithm {
    std::string family;  // "open_mpi.tuned", "mpich", "nccl", "ucc.tl_ucp"
    std::string name;    // "ring"
    std::optional<std::int64_t> id;
    bool operator==(Algorithm const&) const = default;
};

/// Settings of the choice. Absent: the library's own value.
struct ChoiceParams {
    std::string protocol;  // "ll", "ll128", "simple"
    std::optional<std::uint64_t> channels;
    std::optional<Bytes> segment_bytes;
    std::optional<std::uint64_t> fanout;
    std::optional<std::uint64_t> max_requests;
    std::optional<std::uint64_t> radix;
    std::optional<std::uint64_t> max_outstanding;
    std::map<std::string, std::string> knobs;  // variables of the library: "UCX_RNDV_THRESH" -> "65536"
    bool operator==(ChoiceParams const&) const = default;
};
/// The numbers among them, by their names in tables.
inline constexpr std::pair<char const*, std::optional<std::uint64_t> ChoiceParams::*> number_params[] = {
    {"channels", &ChoiceParams::channels}, {"segment_bytes", &ChoiceParams::segment_bytes},
    {"fanout", &ChoiceParams::fanout},     {"max_requests", &ChoiceParams::max_requests},
    {"radix", &ChoiceParams::radix},       {"max_outstanding", &ChoiceParams::max_outstanding}};

/// Throws UsageError that says `what` it should be.
[[nodiscard]] std::uint64_t whole_number(std::string_view text, std::string_view what);

/// The parameters of "algorithm:bcast=chain:segment=64K:chain_fanout=2": segment_bytes 65536 and fanout 2. Settings of
/// a library, as rndv_thresh of ucx, are knobs there by the names of its variables ("UCX_RNDV_THRESH"). Knobs that
/// other programs cannot be told are left out. Throws UsageError for what is no number.
[[nodiscard]] ChoiceParams params_of(std::map<std::string, std::string, std::less<>> const& method_knobs);

/// The first parameter that is in both with another value, by its name in tables; empty: none.
[[nodiscard]] std::string contradiction(ChoiceParams const& one, ChoiceParams const& other);

inline constexpr char const* default_method = "default";

struct Choice {
    std::string backend;
    std::string method = default_method;  // as --method takes it: "pairwise:max_outstanding=4"
    std::optional<Algorithm> algorithm;
    ChoiceParams params;
    /// The library's own choice.
    [[nodiscard]] bool keeps_default() const;
    bool operator==(Choice const&) const = default;
};

/// Evidence that is foreign: numbers that dlmb_convert took from the output of another program. DLMB has neither
/// measured nor confirmed them, nobody knows how far launches differ, and the gain has no interval.
struct Foreign {
    std::string suite;      // osu, nccl, ucc_perftest, pico, comms_logger
    std::string statistic;  // what its times are: median, mean
    bool operator==(Foreign const&) const = default;
};

/// Evidence that is predicted: dlmb_predict computed all times by a machine model, and nothing was measured on so many
/// nodes. The default's time is that of the algorithm that the model has for the fastest on the most nodes it was
/// fitted to.
struct Predicted {
    std::uint64_t fitted_nodes = 0;             // most nodes of the model's measurements
    std::optional<double> held_out_error = {};  // of the collective: median, as a share; absent: not known
    bool operator==(Predicted const&) const = default;
};

/// The measurements of a rule. Times are medians over launches of launch medians, nanoseconds.
struct Evidence {
    std::vector<Bytes> sizes;  // measured ones, ascending, in basis_of(operation)
    std::uint64_t samples = 0;
    std::uint64_t launches = 0;
    std::uint64_t confirmed = 0;  // fresh launches of the confirmation
    double choice_ns = 0;
    std::optional<double> runner_up_ns;
    double default_ns = 0;
    double gain = 0;      // share of the default's time that the choice saves: 0.23 is 23 %
    double gain_low = 0;  // 95 % interval; none of foreign evidence
    double gain_high = 0;
    std::optional<Foreign> foreign = {};      // absent: DLMB measured, or predicted
    std::optional<Predicted> predicted = {};  // samples, launches are 0
    bool operator==(Evidence const&) const = default;
};

/// The fault of a gain, given the times: not finite, not in its interval, or more than the times say. A gain is
/// of ratios in the same launch and is not exactly that of the medians: it may be above it by the width of the interval
/// and a twentieth. Empty: nothing.
[[nodiscard]] std::string problem_of_gain(Evidence const& evidence);
/// Whether readers take it as evidence of a choice: faster than the default, by a gain that the times have. Launches
/// that one of the two lacks can make the medians say something else than the ratios within launches.
[[nodiscard]] bool bears_out(Evidence const& evidence);

/// A choice that looks better than the default that still stands: by which share of its time, with the 95 % interval.
struct Candidate {
    Choice choose;
    double gain = 0;
    double gain_low = 0;
    double gain_high = 0;
    bool operator==(Candidate const&) const = default;
};

/// The scope whose rules choose a backend. Every other scope is the name of a backend and chooses a method inside it.
inline constexpr char const* select_scope = "select";

struct Rule {
    std::string id;  // unique in the table, "r003"
    std::string scope;
    std::string pattern;  // whose traffic was measured, for the reader only; no condition. May be empty
    When when;
    Choice choose;
    RuleStatus status = RuleStatus::chosen;
    std::optional<Evidence> evidence;    // of `choose`; absent in a rule that a person wrote
    std::optional<Candidate> candidate;  // where is_open(status)
    bool operator==(Rule const&) const = default;
};

inline constexpr char const* table_schema = "dlmb.tuning-table/1.0";

struct Tool {
    std::string name;
    std::string version;
    std::string commit;
    bool operator==(Tool const&) const = default;
};

/// A result file that rules were made from.
struct ResultFileInput {
    std::string file;                   // without its folder
    std::string sha256;                 // 64 hex digits
    std::vector<std::string> launches;  // launch ids
    bool operator==(ResultFileInput const&) const = default;
};

/// Where the table holds. A reader compares `key`; the other texts are for people.
struct System {
    std::string key;  // system_key() of the records
    std::string cpu;
    std::string gpu;  // of each node: "NVIDIA H100, compute capability 9.0, 85899345920 B, 8 per node"; empty: none
    std::string name = {};  // as its owner calls it, where the numbers are of another program; may be empty
    /// The text that the key is the hash of, for people. Empty: not told.
    std::map<std::string, std::string> identity = {};
    bool operator==(System const&) const = default;
};

struct MpiLibrary {
    std::string name;
    std::string version;
    bool operator==(MpiLibrary const&) const = default;
};
/// "Open MPI" 4.1.4 of what MPI_Get_library_version says: "Open MPI v4.1.4, package: ...", "MPICH Version: 4.0.2".
[[nodiscard]] MpiLibrary mpi_library(std::string_view told);

struct Stack {
    std::optional<MpiLibrary> mpi;
    std::map<std::string, std::string> versions;     // by "nccl", "ucx", "ucc", "cuda"
    std::map<std::string, std::string> environment;  // variables that were set and steer a library
    bool operator==(Stack const&) const = default;
};

inline constexpr char const* stream_metric = "median time of a call among calls back to back";

/// By which rules the builder decided. Shares are fractions: 0.05 is 5 %.
struct Policy {
    std::string metric = "median over iterations of the max over ranks";  // stream_metric of --timing stream
    double min_gain_small = 0.05;
    double min_gain_large = 0.03;
    double fdr_q = 0.05;  // false discovery rate over all comparisons of a table
    std::uint64_t launches = 8;
    std::uint64_t confirm_launches = 8;
    double cut = 1.25;             // ratio of neighbouring measured sizes at which a cut between choices is fine enough
    std::uint64_t hysteresis = 2;  // adjacent measured sizes that a choice must hold for
    std::map<std::string, std::string> baseline;  // memory kind -> backend that runs what has no rule
    std::string cache = {};                       // --cache of all measurements; empty: not told
    std::string beside = {};                      // --beside of all measurements; empty: none
    bool operator==(Policy const&) const = default;
};

struct TuningTable {
    std::string created;  // UTC, ISO 8601
    Tool tool;
    std::vector<ResultFileInput> inputs;  // empty in a table that a person wrote
    System system;
    Stack stack;
    Policy policy;
    /// The first match within a scope wins. Rules of a valid table do not overlap, so their order changes no answer.
    std::vector<Rule> rules;
    bool operator==(TuningTable const&) const = default;
};

/// The suite of programs that foreign evidence of the table is of; empty: it has none.
[[nodiscard]] std::string foreign_suite(TuningTable const& table);
/// "rests on foreign evidence (pico), which DLMB has neither measured nor confirmed", or "is predicted by a machine
/// model, and nothing of it was measured"; empty: DLMB measured all.
[[nodiscard]] std::string weak_evidence_remark(TuningTable const& table);
/// The words that --accept has to say for such a table to be exported: foreign, predicted; empty: nothing.
[[nodiscard]] std::string weak_evidence(TuningTable const& table);

/// By scope, operation, ranks, nodes, memory, bytes, then the other conditions: equal tables become equal files.
void sort_rules(std::vector<Rule>& rules);

/// `path`: where in the JSON ("rules[3].when.bytes"); `what`: what is wrong and what to do.
struct TableProblem {
    std::string path;
    std::string what;
    bool operator==(TableProblem const&) const = default;
};

/// The faults of a table although it can be read: rules that contradict each other, can never match or claim more
/// than was measured. Every problem, in the order of the table; empty: the table is valid.
[[nodiscard]] std::vector<TableProblem> validate(TuningTable const& table);

}  // namespace dlmb::tuning
