// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Traces of MPI calls as liballprof writes them: one file per rank, "pmpi-trace-rank-3.txt", a line per call with its
// arguments between colons and its start and end in us as the first and the last. A datatype is "number,size,extent", a
// communicator "handle,rank,size", a list of counts "address:1,2,3", a request the address of its variable (gencode.py
// of liballprof).
#include "common/base/error.hpp"
#include "common/base/lower_case.hpp"
#include "common/tools/plan/formats/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace dlmb::trace {
namespace {

using LineFields = std::vector<std::string_view>;

/// Where the arguments of a call stand; 0: it has none of the kind. Places count from 1, behind the start.
struct CallLayout {
    std::string_view name;
    std::size_t count;
    std::size_t type;
    std::size_t counts;  // of a list, instead of count
    std::size_t peer;    // or root
    std::size_t tag;
    std::size_t communicator;
    std::size_t recv_count;
    std::size_t recv_type;
    std::size_t recv_counts;
};
constexpr CallLayout layouts[]{
    {"MPI_Send", 2, 3, 0, 4, 5, 6, 0, 0, 0},
    {"MPI_Ssend", 2, 3, 0, 4, 5, 6, 0, 0, 0},
    {"MPI_Rsend", 2, 3, 0, 4, 5, 6, 0, 0, 0},
    {"MPI_Bsend", 2, 3, 0, 4, 5, 6, 0, 0, 0},
    {"MPI_Recv", 2, 3, 0, 4, 5, 6, 0, 0, 0},
    {"MPI_Allreduce", 3, 4, 0, 0, 0, 6, 0, 0, 0},
    {"MPI_Reduce", 3, 4, 0, 6, 0, 7, 0, 0, 0},
    {"MPI_Bcast", 2, 3, 0, 4, 0, 5, 0, 0, 0},
    {"MPI_Barrier", 0, 0, 0, 0, 0, 1, 0, 0, 0},
    {"MPI_Allgather", 2, 3, 0, 0, 0, 7, 5, 6, 0},
    {"MPI_Allgatherv", 2, 3, 0, 0, 0, 10, 0, 9, 6},
    {"MPI_Gather", 2, 3, 0, 7, 0, 8, 5, 6, 0},
    {"MPI_Gatherv", 2, 3, 0, 10, 0, 11, 0, 9, 6},
    {"MPI_Scatter", 2, 3, 0, 7, 0, 8, 5, 6, 0},
    {"MPI_Scatterv", 0, 6, 3, 10, 0, 11, 8, 9, 0},
    {"MPI_Alltoall", 2, 3, 0, 0, 0, 7, 5, 6, 0},
    {"MPI_Alltoallv", 0, 6, 3, 0, 0, 13, 0, 12, 9},
    {"MPI_Reduce_scatter", 0, 5, 4, 0, 0, 7, 0, 0, 0},
    {"MPI_Reduce_scatter_block", 3, 4, 0, 0, 0, 6, 0, 0, 0},
};
constexpr CallLayout sent_part{"MPI_Sendrecv", 2, 3, 0, 4, 5, 11, 0, 0, 0};
constexpr CallLayout received_part{"MPI_Sendrecv", 7, 8, 0, 9, 10, 11, 0, 0, 0};

/// Arguments of a call; those of one that does not block, as MPI_Isend, have a request behind the communicator.
CallLayout const* layout_of(std::string_view call) {
    bool const is_nonblocking = call.starts_with("MPI_I") && call.size() > 6;
    auto const* const found = std::find_if(std::begin(layouts), std::end(layouts), [&](CallLayout const& each) {
        return each.name == call || (is_nonblocking && each.name.substr(5) == call.substr(6) &&
                                     each.name[4] == std::toupper(static_cast<unsigned char>(call[5])));
    });
    return found == std::end(layouts) ? nullptr : found;
}

/// Whether a call of this name moves data, waits for other ranks, or makes a communicator with ranks of another one:
/// those of `layouts`, and others that are not read.
bool moves_data(std::string_view call) {
    constexpr std::array words{"send",    "recv",     "gather",   "scatter",    "alltoall",         "reduce",
                               "scan",    "bcast",    "barrier",  "accumulate", "fetch_and_op",     "compare_and_swap",
                               "mpi_put", "mpi_rput", "mpi_rget", "mpi_start",  "intercomm_create", "comm_spawn"};
    std::string const name = lower_case(call);
    return name == "mpi_get" || (name != "mpi_reduce_local" && std::any_of(words.begin(), words.end(), [&](auto word) {
                                     return name.find(word) != std::string::npos;
                                 }));
}

/// Whether a call that is left out works instead of waiting for others.
bool works(std::string_view call) {
    constexpr std::array beginnings{"mpi_reduce_local", "mpi_pack", "mpi_unpack", "mpi_file_"};
    std::string const name = lower_case(call);
    return std::any_of(beginnings.begin(), beginnings.end(), [&](auto word) { return name.starts_with(word); });
}

/// In MPICH and what comes of it, handles are integers: two bits that are not 0, four of the kind, 1 for communicators.
bool is_of_mpich(std::string_view communicator) {
    auto const is_unsigned = parse_whole<std::uint64_t>(communicator);
    auto const handle =
        is_unsigned ? static_cast<std::int64_t>(*is_unsigned) : parse_whole<std::int64_t>(communicator).value_or(0);
    auto const above = handle >> 32;  // the sign
    auto const bits = static_cast<std::uint32_t>(handle);
    return (above == 0 || above == -1) && bits >> 30U != 0 && (bits >> 26U & 15U) == 1;
}

using RequestArray = std::pair<Bytes, Bytes>;  // its address and how many it has

/// Requests that no wait has completed for certain.
class OpenRequests {
public:
    /// `call`: its place in the program; none: it is left out.
    void add(Bytes address, std::optional<std::size_t> call) {
        if (address % 8 != 0) {
            request_bytes_ = 4;  // of Fortran and of MPICH; those of Open MPI are pointers
        }
        auto const [known, is_new] = by_address_.try_emplace(address, call);
        if (!is_new) {  // the program has a copy, or has asked whether it is complete
            overwritten_.push_back(std::exchange(known->second, call));
        }
        incomplete_.clear();
    }
    /// MPI_Waitany does not tell which one it completed: as many calls as requests complete them all.
    bool wait_for_one(RequestArray array) {
        auto const [left, is_first] = incomplete_.try_emplace(array);
        if (is_first) {
            auto const [begin, end, is_copy] = range(array);
            left->second = is_copy ? array.second : static_cast<Bytes>(std::distance(begin, end));
        }
        return left->second-- <= 1;
    }
    /// Places of the calls that a wait names; `completes`: all of them.
    std::vector<std::size_t> named(RequestArray array, bool completes) {
        auto const [begin, end, is_copy] = range(array);
        std::vector<std::optional<std::size_t>> calls;
        if (is_copy) {
            calls = completes ? std::exchange(overwritten_, {}) : overwritten_;
        }
        std::transform(begin, end, std::back_inserter(calls), [](auto const& each) { return each.second; });
        if (completes) {
            by_address_.erase(begin, end);
            incomplete_.clear();
        }
        std::vector<std::size_t> places;
        for (auto const& call : calls) {
            if (call) {
                places.push_back(*call);
            }
        }
        return places;
    }

private:
    using Requests = std::map<Bytes, std::optional<std::size_t>>;
    struct Range {
        Requests::iterator begin;
        Requests::iterator end;
        bool is_copy;
    };

    /// A program may copy its requests to where it waits: then, if it waits for so many, for all.
    Range range(RequestArray array) {
        auto const [address, count] = array;
        Bytes const bytes = std::min(count, Bytes{1} << 31U) * request_bytes_;
        auto const begin = by_address_.lower_bound(address);
        auto const end = by_address_.lower_bound(address + bytes);
        if (begin == end && count == by_address_.size() + overwritten_.size()) {
            return {by_address_.begin(), by_address_.end(), true};
        }
        return {begin, end, false};
    }

    Requests by_address_;
    std::vector<std::optional<std::size_t>> overwritten_;
    std::map<RequestArray, Bytes> incomplete_;  // of arrays in MPI_Waitany: their requests less its calls
    Bytes request_bytes_ = 8;
};

class PmpiReader : public TraceReader {
public:
    using TraceReader::TraceReader;

    void read(Input& input) override {
        auto const rank = rank_of_name(input.name());
        if (!rank) {
            input.refuse("its name does not tell its rank, as pmpi-trace-rank-3.txt does");
        }
        RankProgram program{{*rank}, {}};
        program.tells_waits = true;
        since_last_ = {};
        requests_ = {};
        bool ended = false;
        std::string_view line;
        while (input.line(line)) {
            if (line.empty() || line[0] == '#' || line.find_first_not_of(" \t") == std::string_view::npos) {
                continue;
            }
            if (ended) {
                builder_.leave_out("call after MPI_Finalize");
                continue;
            }
            LineFields fields = split(line, ":");
            for (std::string_view& field : fields) {
                field.remove_prefix(std::min(field.find_first_not_of(' '), field.size()));
                field = field.substr(0, field.find_last_not_of(' ') + 1);
            }
            if (!fields[0].starts_with("MPI_") || fields.size() < 3) {
                input.refuse("a line must be MPI_NAME:START:ARGUMENTS:END");
            }
            ended = fields[0] == "MPI_Finalize";
            add(input, *rank, fields, program);
        }
        if (!ended) {
            builder_.incomplete(fmt::format("{}: it ends without MPI_Finalize", input.name()));
        }
        if (program.operations.empty()) {
            builder_.leave_out("rank without communication");
        }
        auto const open =
            std::count_if(program.operations.begin(), program.operations.end(), [](TraceOperation const& each) {
                return each.kind == OperationKind::recv && !each.complete_before;
            });
        builder_.add(input.name(), std::move(program));
        if (open > 0) {
            builder_.note("receives that no computation waits for: the trace does not say when they were complete",
                          static_cast<std::uint64_t>(open));
        }
    }

private:
    static std::string_view field(Input const& input, LineFields const& fields, std::size_t place) {
        // The name, the start, the arguments, and the end.
        if (place + 2 >= fields.size()) {
            input.refuse(fmt::format("{} has too few arguments", fields[0]));
        }
        return fields[place + 1];
    }
    static Bytes number(Input const& input, LineFields const& fields, std::size_t place) {
        auto const value = parse_whole<Bytes>(field(input, fields, place));
        if (!value || *value >> 63U != 0) {
            input.refuse(fmt::format("{}: argument {} ('{}') must be a whole number from 0 to 2^63 - 1", fields[0],
                                     place, field(input, fields, place)));
        }
        return *value;
    }
    /// One of the numbers of "11,8,8".
    static Bytes part(Input const& input, LineFields const& fields, std::size_t place, std::size_t which) {
        auto const parts = split(field(input, fields, place), ",");
        auto const value = which < parts.size() ? parse_whole<Bytes>(parts[which]) : std::nullopt;
        if (!value || *value >> 31U != 0) {
            input.refuse(fmt::format("{}: argument {} ('{}') must be three numbers with commas", fields[0], place,
                                     field(input, fields, place)));
        }
        return *value;
    }
    static std::vector<Bytes> list(Input const& input, LineFields const& fields, std::size_t place, Bytes size) {
        std::vector<Bytes> counts;
        for (std::string_view const text : split(field(input, fields, place), ",")) {
            auto const value = parse_whole<Bytes>(text);
            if (!value) {
                input.refuse(fmt::format("{}: '{}' must be a count", fields[0], text));
            }
            counts.push_back(product(input, fields[0], *value, size));
        }
        return counts;
    }
    TraceGroupId group(Input const& input, Rank rank, LineFields const& fields, std::size_t place, int& size,
                       int& in_group) {
        size = static_cast<int>(part(input, fields, place, 2));
        in_group = static_cast<int>(part(input, fields, place, 1));
        if (size < 1 || size > most_recorded_ranks || in_group >= size) {
            input.refuse(fmt::format("{}: rank {} of {} in its communicator", fields[0], in_group, size));
        }
        builder_.world_of(std::max(size, rank + 1));
        bool const is_other = in_group != rank && size > 1;
        if (is_other) {
            builder_.incomplete(
                "calls in a communicator that is not MPI_COMM_WORLD, or has its ranks in another order: "
                "liballprof does not record who is in it");
        }
        std::string_view const handle = split(field(input, fields, place), ",")[0];
        return builder_.group({is_other ? std::string(handle) : "", size, {}, 0});
    }

    void add_call(LineFields const& fields, TraceOperation operation, RankProgram& program) {
        operation.dtype = builder_.assumed_dtype().value_or(Dtype{});
        operation.waited_us = since_last_.waited_us;
        operation.waits = std::move(since_last_.waits);
        auto end_us = since_last_.end_us;
        if ((operation.duration_us = duration_us(fields))) {
            operation.start_us = parse_whole<double>(fields[1]);
            end_us = std::max(end_us.value_or(0), *operation.start_us + *operation.duration_us);
        }
        since_last_ = {};
        since_last_.end_us = end_us;
        std::size_t const place = program.operations.size();
        OperationKind const kind = operation.kind;
        program.operations.push_back(std::move(operation));
        if (is_message(kind) && !fields[0].starts_with("MPI_I")) {
            program.operations.back().complete_before = place + 1;
            if (kind == OperationKind::recv) {
                since_last_.waits.push_back({{place}});
            }
        }
    }
    static std::optional<double> duration_us(LineFields const& fields) {
        auto const start = parse_whole<double>(fields[1]);
        auto const end = parse_whole<double>(fields.back());
        return start && end && *end >= *start ? std::optional(*end - *start) : std::nullopt;
    }

    void message(Input const& input, Rank rank, LineFields const& fields, OperationKind kind, CallLayout const& layout,
                 RankProgram& program) {
        TraceOperation operation;
        operation.kind = kind;
        int size = 0;
        int in_group = 0;
        operation.group = group(input, rank, fields, layout.communicator, size, in_group);
        Bytes const bytes =
            product(input, fields[0], number(input, fields, layout.count), part(input, fields, layout.type, 1));
        auto const other = parse_whole<int>(field(input, fields, layout.peer));
        if (!other || *other >= size) {
            input.refuse(fmt::format("{}: '{}' is no rank of {}", fields[0], field(input, fields, layout.peer), size));
        }
        std::string const handle(split(field(input, fields, layout.communicator), ",")[0]);
        int const any_source = is_of_mpich(handle) ? -2 : -1;
        bool const is_proc_null = *other < 0 && (kind == OperationKind::send || *other != any_source);
        if (fields[0].starts_with("MPI_I")) {
            requests_.add(number(input, fields, layout.communicator + 1),
                          is_proc_null ? std::nullopt : std::optional(program.operations.size()));
        }
        if (is_proc_null) {
            builder_.leave_out("message with MPI_PROC_NULL");
            return;
        }
        if (*other >= 0) {
            operation.peer = size == 1 ? rank : *other;
            (kind == OperationKind::send ? operation.sent : operation.received) = bytes;
        }
        operation.tag = parse_whole<int>(field(input, fields, layout.tag)).value_or(0);
        operation.communicator =
            communicators_.try_emplace(handle, static_cast<int>(communicators_.size())).first->second;
        add_call(fields, std::move(operation), program);
    }

    /// A call that is left out, and may complete requests. Most do not tell which: a program asks for a request until
    /// it is complete, so the last one that names it completes it.
    void wait(Input const& input, LineFields const& fields, RankProgram& program) {
        if (fields[0].starts_with("MPI_Wait") ||
            (fields[0].starts_with("MPI_Test") && fields[0] != "MPI_Test_cancelled")) {
            bool const of_one = fields[0] == "MPI_Wait" || fields[0] == "MPI_Test";
            wait_for({number(input, fields, of_one ? 1 : 2), of_one ? 1 : number(input, fields, 1)}, fields, program);
        }
        since_last_.waited_us += duration_us(fields).value_or(0);
    }
    void wait_for(RequestArray array, LineFields const& fields, RankProgram& program) {
        bool const completes = fields[0] == "MPI_Wait" || fields[0] == "MPI_Waitall" ||
                               (fields[0] == "MPI_Waitany" && requests_.wait_for_one(array));
        bool const asks_again = !completes && since_last_.last_asked == array;
        std::set<std::size_t> completed;
        if (!asks_again) {
            for (std::size_t const place : requests_.named(array, completes)) {
                TraceOperation& operation = program.operations[place];
                operation.complete_before = program.operations.size();
                if (operation.kind != OperationKind::send) {
                    completed.insert(place);
                }
            }
            if (completed.empty()) {
                return;
            }
        }
        double const start_us = parse_whole<double>(fields[1]).value_or(0);
        double const since_us = start_us - since_last_.end_us.value_or(start_us);
        double const computed_us = std::max(since_us - since_last_.waited_us - since_last_.computed_us, 0.0);
        if (!std::exchange(since_last_.last_asked, completes ? std::nullopt : std::optional(array))) {
            since_last_.waits.emplace_back();
        }
        since_last_.waits.back().operations.merge(completed);
        since_last_.waits.back().computed_us += computed_us;
        since_last_.computed_us += computed_us;
    }

    void add(Input const& input, Rank rank, LineFields const& fields, RankProgram& program) {
        if (fields[0] == sent_part.name) {
            message(input, rank, fields, OperationKind::send, sent_part, program);
            message(input, rank, fields, OperationKind::recv, received_part, program);
            return;
        }
        CallLayout const* const layout = layout_of(fields[0]);
        if (layout == nullptr) {
            if (moves_data(fields[0])) {
                builder_.incomplete(fmt::format("{} is not read", fields[0]));
            }
            builder_.leave_out(fields[0]);
            if (!works(fields[0])) {
                wait(input, fields, program);
            }
            return;
        }
        OperationKind const kind = *operation_named(layout->name);
        if (layout->tag != 0) {
            message(input, rank, fields, kind, *layout, program);
            return;
        }
        if (fields[0].starts_with("MPI_I")) {
            requests_.add(number(input, fields, layout->communicator + 1), program.operations.size());
        }
        TraceOperation operation;
        operation.kind = kind;
        int ranks = 0;
        int in_group = 0;
        operation.group = group(input, rank, fields, layout->communicator, ranks, in_group);
        if (layout->peer != 0) {
            Bytes const root = number(input, fields, layout->peer);
            if (root >= static_cast<Bytes>(ranks)) {
                input.refuse(fmt::format("{}: root {} of {} ranks", fields[0], root, ranks));
            }
            operation.root = static_cast<int>(root);
        }
        sizes(input, fields, *layout, ranks, in_group, operation);
        if (operation.root.value_or(in_group) != in_group && facts_of(kind).root == RootRole::sends) {
            operation.sent = 0;  // what MPI does not look at here
            operation.send_split = {};
        }
        add_call(fields, std::move(operation), program);
    }

    void sizes(Input const& input, LineFields const& fields, CallLayout const& layout, int ranks, int in_group,
               TraceOperation& operation) {
        auto const members = static_cast<Bytes>(ranks);
        OperationKind const kind = operation.kind;
        if (layout.counts != 0) {
            operation.send_split.parts = list(input, fields, layout.counts, part(input, fields, layout.type, 1));
            operation.sent = total(input, fields[0], operation.send_split.parts);
        } else if (layout.count != 0) {
            Bytes const bytes =
                product(input, fields[0], number(input, fields, layout.count), part(input, fields, layout.type, 1));
            bool const each = kind == OperationKind::exchange || kind == OperationKind::scatter ||
                              kind == OperationKind::reduce_scatter;
            operation.sent = product(input, fields[0], bytes, each ? members : 1);
            if (kind == OperationKind::exchange) {
                operation.send_split.each = bytes;
            }
        }
        if (layout.recv_counts != 0) {
            operation.recv_split.parts =
                list(input, fields, layout.recv_counts, part(input, fields, layout.recv_type, 1));
            operation.received = total(input, fields[0], operation.recv_split.parts);
        } else if (layout.recv_count != 0) {
            Bytes const bytes = product(input, fields[0], number(input, fields, layout.recv_count),
                                        part(input, fields, layout.recv_type, 1));
            operation.received = product(input, fields[0], bytes, kind == OperationKind::scatter ? 1 : members);
            if (kind == OperationKind::exchange) {
                operation.recv_split.each = bytes;
            }
        } else {
            operation.received = operation.sent;
        }
        auto const& parts = parts_of(operation);
        if (!has_root(kind) && !parts.empty() && parts.size() != members) {
            input.refuse(fmt::format("{}: {} counts for {} ranks", fields[0], parts.size(), ranks));
        }
        auto const place = static_cast<std::size_t>(in_group);
        if (kind == OperationKind::reduce_scatter) {
            operation.received = part_of(operation, operation.sent, place, members);
        }
        if (operation.root.value_or(in_group) == in_group && is_in_place(input, fields, layout, kind)) {
            take_other_side(operation, place, members);
        }
    }

    /// MPI_IN_PLACE of Open MPI, or of MPICH.
    static bool is_in_place(Input const& input, LineFields const& fields, CallLayout const& layout,
                            OperationKind kind) {
        constexpr std::array addresses{"1", "-1", "18446744073709551615"};
        auto const buffer = field(input, fields, kind == OperationKind::scatter ? layout.recv_count - 1 : 1);
        return std::find(addresses.begin(), addresses.end(), buffer) != addresses.end();
    }
    static Bytes part_of(TraceOperation const& operation, Bytes whole, std::size_t place, Bytes members) {
        auto const& parts = parts_of(operation);
        return parts.size() == members ? parts[place] : whole / members;
    }
    /// MPI ignores the count of the side that is in place: take it from the other side.
    static void take_other_side(TraceOperation& operation, std::size_t place, Bytes members) {
        if (operation.kind == OperationKind::exchange) {
            operation.sent = operation.received;
            operation.send_split = operation.recv_split;
        } else if (operation.kind == OperationKind::scatter) {
            operation.received = part_of(operation, operation.sent, place, members);
        } else if (facts_of(operation.kind).parts == PartSide::sent) {
            operation.sent = part_of(operation, operation.received, place, members);
        }
    }

    std::map<std::string, int> communicators_;  // numbers of their handles
    struct SinceOperation {
        std::optional<double> end_us;  // of the operation
        double waited_us = 0;          // in calls that are left out, as in MPI_Waitall
        std::vector<Wait> waits;
        double computed_us = 0;                  // before them
        std::optional<RequestArray> last_asked;  // the last wait is of calls that may return before completion
    };
    SinceOperation since_last_;
    OpenRequests requests_;
};

bool is_pmpi(std::string_view /*name*/, std::string_view head) {
    std::size_t begin = 0;
    while (begin < head.size() && (head[begin] == '#' || head[begin] == '\n')) {
        begin = std::min(head.find('\n', begin), head.size() - 1) + 1;
    }
    std::string_view const line = head.substr(begin, head.substr(begin).find('\n'));
    return line.starts_with("MPI_") && line.find(':') != std::string_view::npos;
}

}  // namespace

TraceFormat pmpi_format() {
    return {"pmpi", "traces of MPI calls by liballprof, one file per rank", is_pmpi, make_reader<PmpiReader>};
}

}  // namespace dlmb::trace
