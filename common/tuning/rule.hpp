// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One rule of a tuning table as plain data: when (operation, size, ranks, memory ...) -> choose (backend, method,
// algorithm), with the evidence for it. results-schema/tuning-table.schema.json is the same in JSON.
#pragma once

#include "common/base/units.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::tuning {

/// What a rule chooses for. An Exchange is any all-to-all; a Send with its Recv is one sendrecv.
enum class TunedOperation : std::uint8_t { allreduce, reduce_scatter, allgather, broadcast, exchange, sendrecv };
inline constexpr std::array every_tuned_operation{TunedOperation::allreduce, TunedOperation::reduce_scatter,
                                                  TunedOperation::allgather, TunedOperation::broadcast,
                                                  TunedOperation::exchange,  TunedOperation::sendrecv};
[[nodiscard]] std::string_view name_of(TunedOperation operation);
[[nodiscard]] std::optional<TunedOperation> operation_named(std::string_view name);

/// What the bytes of an operation count. One per operation, so that equal numbers mean equal traffic.
///   buffer: the vector on one rank; total: the full result (allgather) or input (reduce_scatter);
///   rank_send: what one rank sends to all, itself included, mean over ranks; message: one message.
enum class SizeBasis : std::uint8_t { buffer, total, rank_send, message };
[[nodiscard]] SizeBasis basis_of(TunedOperation operation);
[[nodiscard]] std::string_view name_of(SizeBasis basis);

/// chosen: better than the default, and confirmed; tie, no_gain: measured, and the default stays.
enum class RuleStatus : std::uint8_t { chosen, tie, no_gain };
[[nodiscard]] std::string_view name_of(RuleStatus status);
[[nodiscard]] std::optional<RuleStatus> status_named(std::string_view name);

/// As in dlmb::name_of(Element), name_of(MemoryKind) and name_of(Reduction), and what only other programs have: memory
/// "rocm" and reductions of the "user".
inline constexpr std::array<std::string_view, 8> element_words{"byte", "int32", "int64", "fp8",
                                                               "fp16", "bf16",  "fp32",  "fp64"};
inline constexpr std::array<std::string_view, 6> memory_words{"host", "pinned", "cuda", "managed", "nccl", "rocm"};
inline constexpr std::array<std::string_view, 5> reduction_words{"sum", "prod", "min", "max", "user"};

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

/// What was measured. Times are medians over launches of launch medians, nanoseconds.
struct Evidence {
    std::vector<Bytes> sizes;  // measured ones, ascending, in basis_of(operation)
    std::uint64_t samples = 0;
    std::uint64_t launches = 0;
    std::uint64_t confirmed = 0;  // fresh launches of the confirmation
    double choice_ns = 0;
    std::optional<double> runner_up_ns;
    double default_ns = 0;
    double gain = 0;      // share of the default's time that the choice saves: 0.23 is 23 %
    double gain_low = 0;  // 95 % interval
    double gain_high = 0;
    bool operator==(Evidence const&) const = default;
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
    std::optional<Evidence> evidence;  // absent in a rule that a person wrote
    bool operator==(Rule const&) const = default;
};

}  // namespace dlmb::tuning
