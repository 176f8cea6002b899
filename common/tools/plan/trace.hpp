// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A trace: the communication of a recorded run as a plain value, the same for every format that it can come from. It
// holds what the files say and what they do not say; a plan is made of it only where nothing is missing.
#pragma once

#include "common/base/units.hpp"
#include "common/formats/plan/plan.hpp"
#include "common/tools/plan/requests.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dlmb::trace {

/// An element type of a trace. `name` is that of the plan's element where it has such a type ("fp32"), else the trace's
/// own in this style ("int16"). A format that tells bytes alone has "byte".
struct Dtype {
    std::string name = "byte";
    Bytes bytes = 1;
    bool operator==(Dtype const&) const = default;
};

/// Reads what PyTorch, PARAM, NCCL and C call a type: "Float", "c10::BFloat16", "long int", "ncclFloat16", "uint8".
[[nodiscard]] std::optional<Dtype> dtype_named(std::string_view name);
/// By the number of ncclDataType_t (nccl.h, 2.28).
[[nodiscard]] std::optional<Dtype> nccl_dtype(std::uint64_t number);

/// Reads names of torch.distributed, PARAM, NCCL, AICB and MPI: "_allgather_base", "AllReduce", "all_to_allv",
/// "MPI_Bcast". Nothing for "wait", "init" and what is no communication.
[[nodiscard]] std::optional<OperationKind> operation_named(std::string_view name);

using TraceGroupId = std::uint32_t;  // index into Trace::groups

/// The members of a group are given one by one, or as `size` world ranks `stride` apart, or are not known.
struct TraceGroup {
    std::string name;
    int size = 0;  // 0: the trace does not say
    std::vector<Rank> members;
    int stride = 0;           // 0: the members are given or unknown
    bool is_unknown = false;  // although it may have as many members as the run has ranks
    bool operator==(TraceGroup const&) const = default;

    /// The rank in the group; nothing where it is unknown, or the rank is no member.
    [[nodiscard]] std::optional<int> place_of(Rank rank) const;
    /// Members of the group of this kind that `rank` is in; empty where they are unknown.
    [[nodiscard]] std::vector<Rank> members_around(Rank rank) const;
};

/// How much of an exchange goes to, or comes from, each rank of the group.
struct SplitBytes {
    std::vector<Bytes> parts;        // by rank of the group
    std::optional<Bytes> each = {};  // parts are equal and not listed: a short line may name 100,000 ranks
    [[nodiscard]] bool is_known(std::size_t ranks) const { return each || parts.size() == ranks; }
    [[nodiscard]] Bytes at(std::size_t rank) const { return each ? *each : parts.at(rank); }
    [[nodiscard]] std::vector<Bytes> listed(std::size_t ranks) const {
        return each ? std::vector<Bytes>(ranks, *each) : parts;
    }
};

/// Where a rank waited for receives or collectives that were in flight.
struct Wait {
    std::set<std::size_t> operations;  // places in the program
    double computed_us = 0;            // by the rank since the operation or wait before
};

/// One call of a rank. Sizes are payload in bytes: what the rank hands over for others and what it gets from them, its
/// own block of an exchange included; of an allgather its share is handed over, of a reduce_scatter the whole vector.
struct TraceOperation {
    OperationKind kind = OperationKind::all_reduce;
    Dtype dtype;
    TraceGroupId group = 0;
    Bytes sent = 0;
    Bytes received = 0;
    SplitBytes send_split;
    SplitBytes recv_split;
    std::optional<int> root;  // rank in the group
    std::optional<int> peer;  // world rank; `peer_is_offset`: how many world ranks further
    bool peer_is_offset = false;
    std::int64_t tag = 0;
    int communicator = 0;            // of a message of MPI: a number for its handle
    std::uint64_t repeat = 1;        // calls like this, one after the other
    std::optional<double> start_us;  // on the rank's own clock
    std::optional<double> duration_us;
    double waited_us = 0;     // since the operation before, in calls that are left out and are no computation
    std::vector<Wait> waits;  // since the operation before
    // Place of the first operation that began after this one was complete; none: not told, or a blocking collective
    std::optional<std::size_t> complete_before;
    std::string label;             // what the trace calls the phase or the layer; of several the inner one last
    double computed_us = 0;        // by the rank since the operation before, where the trace has computations
    std::optional<int> iteration;  // of those that the trace marks
};

/// Where a rank was with the collectives of a group when a trace ended that was written because ranks hung.
struct Progress {
    Rank rank = 0;
    std::string group;
    std::vector<Rank> members;
    std::optional<std::int64_t> enqueued;  // numbers of the last ones; none: not told
    std::optional<std::int64_t> started;
    std::optional<std::int64_t> completed;
    struct Call {
        std::int64_t number = 0;
        std::string name;
        std::string state;
    };
    std::vector<Call> open;  // which did not complete
};

/// Operations of these ranks, in order. Formats that write one view for many ranks have many here, the others one.
struct RankProgram {
    std::vector<Rank> ranks;
    std::vector<TraceOperation> operations;
    std::optional<double> computed_after_us = std::nullopt;  // behind the last; none: there are no computations in it
    std::vector<std::pair<double, double>> iterations_us{};  // from when to when, on the rank's own clock
    bool tells_waits = false;                                // for messages, blocking ones included

    /// Computes before the next operation.
    void add_computation(double us) { computed_after_us = computed_after_us.value_or(0) + us; }
    void add(TraceOperation operation);
};

struct Trace {
    std::string format;
    int ranks = 0;  // of the run, those without a file included
    std::vector<TraceGroup> groups;
    std::vector<RankProgram> programs;
    std::vector<std::string> why_not;               // why the trace is not complete
    std::map<std::string, std::uint64_t> left_out;  // what was passed over, and how often
    std::map<std::string, std::uint64_t> notes;     // what is not as recorded, and how often
    std::vector<Progress> progress;                 // of formats that tell it
    int iterations = 0;                             // that the trace marks; 0: it marks none
    RequestTrace requests;                          // of a trace that has requests in place of operations

    [[nodiscard]] bool complete() const { return why_not.empty(); }
};

/// `notes`, and what was left out.
[[nodiscard]] std::map<std::string, std::uint64_t> notes_of(Trace const& trace);

/// Payload that a rank hands over to be gathered, or gets of what is scattered.
[[nodiscard]] Bytes own_part(TraceOperation const& operation);
/// Parts of all ranks of a gathered or scattered vector, as this rank lists them; empty: it does not.
[[nodiscard]] std::vector<Bytes> const& parts_of(TraceOperation const& operation);

/// Whether `rank`, one of the program's, sends by a call: of a broadcast and a scatter the root alone does, if the
/// trace says who it is.
[[nodiscard]] bool sends(Trace const& trace, TraceOperation const& operation, Rank rank);

/// Messages that one rank sends and another does not expect, or the other way round, and collectives that are not the
/// same on all ranks of their group; each names ranks, operation and both numbers. Groups of which a member has no file
/// are passed over. At most 20. Receives of MPI and GOAL get tags and bytes of their sends.
[[nodiscard]] std::vector<std::string> mismatches(Trace& trace);

}  // namespace dlmb::trace
