// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/plan/builder.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

namespace dlmb::trace {
namespace {

constexpr std::size_t most_reasons = 20;

bool is_digit(char character) {
    return std::isdigit(static_cast<unsigned char>(character)) != 0;
}

/// "1, 2, 5 and 90 more".
std::string listed(std::vector<Rank> const& ranks) {
    constexpr std::size_t most = 8;
    if (ranks.size() <= most) {
        return fmt::format("{}", fmt::join(ranks, ", "));
    }
    return fmt::format("{} and {} more", fmt::join(ranks.begin(), ranks.begin() + most, ", "), ranks.size() - most);
}

/// Why a collective of `ranks` is no step of a plan; empty: it is one.
std::string why_no_step(TraceOperation const& operation, int ranks) {
    auto const kind = operation.kind;
    bool const gathers = kind == OperationKind::all_gather;
    if ((gathers || kind == OperationKind::reduce_scatter) && parts_of(operation).empty()) {
        Bytes const whole = gathers ? operation.received : operation.sent;
        Bytes const part = gathers ? operation.sent : operation.received;
        if (product(part, static_cast<Bytes>(ranks)) != whole) {
            return fmt::format("{}: {} bytes are not {} parts of {}: parts are not equal, and the trace has those of "
                               "one rank",
                               name_of(kind), whole, ranks, part);
        }
    }
    if (has_root(kind) && has_parts(kind) && !product(own_part(operation), static_cast<Bytes>(ranks))) {
        return fmt::format("{}: {} bytes of each of {} ranks are more than 2^63 - 1", name_of(kind),
                           own_part(operation), ranks);
    }
    if (reduces(kind) && !element_named(operation.dtype.name)) {
        return fmt::format("{}: no backend reduces {}", name_of(kind), operation.dtype.name);
    }
    Bytes const size = operation.dtype.bytes;
    if (kind != OperationKind::exchange && (operation.sent % size != 0 || operation.received % size != 0)) {
        return fmt::format("{}: {} bytes are no whole number of {}", name_of(kind),
                           operation.sent % size != 0 ? operation.sent : operation.received, operation.dtype.name);
    }
    return "";
}

/// The fact that a plan needs and the trace lacks of an operation of `ranks`; empty: none.
std::string_view open_in(TraceOperation const& operation, int ranks) {
    auto const count = static_cast<std::size_t>(ranks);
    if (is_message(operation.kind) && !operation.peer) {
        return "which rank the peer is";
    }
    if (has_root(operation.kind) && !operation.root) {
        return "which rank is the root: give --assume root=N";
    }
    bool const known = operation.send_split.is_known(count) && operation.recv_split.is_known(count);
    return operation.kind == OperationKind::exchange && !known ? "how much goes to which rank" : "";
}

}  // namespace

TraceGroupId Builder::group(TraceGroup group) {
    auto& groups = trace_.groups;
    if (group.size == 0 && assumptions_.ranks) {
        group.size = *assumptions_.ranks;
    }
    auto const found = std::find(groups.begin(), groups.end(), group);
    if (found != groups.end()) {
        return static_cast<TraceGroupId>(found - groups.begin());
    }
    groups.push_back(std::move(group));
    return static_cast<TraceGroupId>(groups.size() - 1);
}

void Builder::add(std::string_view file, RankProgram program) {
    for (Rank const rank : program.ranks) {
        if (rank < 0 || rank >= most_recorded_ranks) {
            throw UsageError(fmt::format("{}: rank {} is not from 0 to {}", file, rank, most_recorded_ranks - 1));
        }
        if (!seen_.insert(rank).second) {
            throw UsageError(fmt::format("{}: rank {} is in another file, too; give one file per rank", file, rank));
        }
        world_of(rank + 1);
    }
    trace_.programs.push_back(std::move(program));
}

void Builder::incomplete(std::string reason) {
    if (reasons_.size() < most_reasons && reasons_.insert(reason).second) {
        trace_.why_not.push_back(std::move(reason));
    }
}

void Builder::check_ranks() {
    std::vector<Rank> missing;
    for (Rank rank = 0; rank < trace_.ranks; ++rank) {
        if (!seen_.contains(rank)) {
            missing.push_back(rank);
        }
    }
    if (!missing.empty()) {
        incomplete(fmt::format("{} of {} ranks missing ({}): give the files of all ranks", missing.size(), trace_.ranks,
                               listed(missing)));
    }
}

void Builder::fill_groups() {
    for (TraceGroup& group : trace_.groups) {
        bool const is_told = group.size == 1 || group.size == trace_.ranks;
        if (is_told && group.members.empty() && !group.is_unknown) {
            group.stride = 1;  // the rank alone, or everybody, in order
        }
    }
}

void Builder::assume_roots() {
    for (RankProgram& program : trace_.programs) {
        for (TraceOperation& operation : program.operations) {
            if (has_root(operation.kind) && !operation.root) {
                operation.root = assumptions_.root;
            }
        }
    }
}

void Builder::check_operation(Rank rank, TraceOperation const& operation, bool is_told) {
    TraceGroup const& group = trace_.groups.at(operation.group);
    if (group.is_unknown) {
        incomplete(fmt::format("rank {}: {} names no process group, so which ranks take part is not known", rank,
                               name_of(operation.kind)));
    } else if (group.size > 1 && group.size != trace_.ranks && group.stride == 0 && group.members.empty()) {
        incomplete(group.name.empty() ? fmt::format("the trace does not say which {} of the {} ranks are in a group",
                                                    group.size, trace_.ranks)
                                      : fmt::format("the trace does not say which ranks group '{}' of {} has",
                                                    group.name, group.size));
    }
    if (group.size == 0) {
        incomplete(fmt::format("the trace does not say how many ranks take part in {}: give --assume ranks=N",
                               name_of(operation.kind)));
        return;
    }
    if (auto const open = open_in(operation, group.size); !open.empty() && !is_told) {
        incomplete(fmt::format("{}: the trace does not say {}", name_of(operation.kind), open));
    }
    if (std::string reason = is_message(operation.kind) ? "" : why_no_step(operation, group.size); !reason.empty()) {
        incomplete(std::move(reason));
    }
}

/// A plan needs the rank among the members of its groups, each of them once, and roots and peers that are there.
void Builder::check_groups(RankProgram const& program) {
    std::set<TraceGroupId> checked;
    for (TraceOperation const& operation : program.operations) {
        TraceGroup const& group = trace_.groups.at(operation.group);
        bool const is_new = checked.insert(operation.group).second;
        auto const last_of = [&](Rank rank) {
            return rank + static_cast<std::int64_t>(group.size - 1 - *group.place_of(rank)) * group.stride;
        };
        auto const beyond = std::find_if(program.ranks.begin(), program.ranks.end(), [&](Rank rank) {
            return is_new && group.stride > 0 && last_of(rank) >= trace_.ranks;
        });
        if (beyond != program.ranks.end()) {
            incomplete(fmt::format("group '{}' of rank {} has rank {}, which is not among the {} ranks of the run",
                                   group.name, *beyond, last_of(*beyond), trace_.ranks));
        }
        if (is_new && !group.members.empty()) {
            std::set<Rank> const members(group.members.begin(), group.members.end());
            if (members.size() != group.members.size()) {
                incomplete(fmt::format("group '{}' has a rank twice: {}", group.name, listed(group.members)));
            }
            for (Rank const rank : program.ranks) {
                if (!members.contains(rank)) {
                    incomplete(fmt::format("rank {} has calls in group '{}', which has ranks {}", rank, group.name,
                                           listed(group.members)));
                }
            }
        }
        if (operation.root && group.size > 0 && *operation.root >= group.size) {
            incomplete(fmt::format("rank {}: {} in group '{}' has root {}, but the group has {} ranks",
                                   program.ranks.front(), name_of(operation.kind), group.name, *operation.root,
                                   group.size));
        }
        if (operation.peer && !operation.peer_is_offset && *operation.peer >= trace_.ranks) {
            incomplete(fmt::format("rank {}: {} with rank {}, which is not among the {} ranks of the run",
                                   program.ranks.front(), name_of(operation.kind), *operation.peer, trace_.ranks));
        }
    }
}

/// More than an hour between two calls is no computation, but a fault of a clock, unless the trace has computations.
void Builder::forget_long_pauses(RankProgram& program) {
    constexpr double longest_us = 3.6e9;
    std::optional<double> busy_until_us;
    for (TraceOperation& operation : program.operations) {
        if (program.computed_after_us || !operation.start_us || !operation.duration_us) {
            continue;
        }
        double const pause_us = *operation.start_us - busy_until_us.value_or(*operation.start_us);
        if (pause_us - operation.waited_us > longest_us) {
            operation.waited_us = pause_us;
            for (Wait& wait : operation.waits) {
                wait.computed_us = 0;
            }
            note("pauses of more than an hour, as of a clock that was set; they are no computation");
        }
        double const end_us = *operation.start_us + *operation.duration_us;
        busy_until_us = std::max(busy_until_us.value_or(end_us), end_us);
    }
}

/// A call cannot end before it begins.
void Builder::forget_wrong_times() {
    for (RankProgram& program : trace_.programs) {
        for (TraceOperation& operation : program.operations) {
            double const duration_us = operation.duration_us.value_or(0);
            bool const wrong =
                !(std::isfinite(duration_us) && duration_us >= 0) || !std::isfinite(operation.start_us.value_or(0));
            if (wrong) {
                operation.start_us.reset();
                operation.duration_us.reset();
                note("calls with a negative duration; their times are left out", operation.repeat);
            }
        }
        forget_long_pauses(program);
    }
    std::uint64_t backward = 0;
    for (RankProgram const& program : trace_.programs) {
        auto const& marks = program.iterations_us;
        backward += static_cast<std::uint64_t>(std::count_if(
            marks.begin(), marks.end(), [](auto const& times) { return !(times.first <= times.second); }));
    }
    if (backward == 0) {
        return;
    }
    note("iterations that end before they begin; no mark of an iteration is used", backward);
    trace_.iterations = 0;
    for (RankProgram& program : trace_.programs) {
        program.iterations_us.clear();
        for (TraceOperation& operation : program.operations) {
            operation.iteration.reset();
        }
    }
}

Trace Builder::finish() {
    if (assumptions_.dtype && !reads_dtype_) {
        throw UsageError(
            fmt::format("--assume dtype={}: the trace tells its types; leave it out", assumptions_.dtype->name));
    }
    if (assumptions_.ranks && trace_.ranks > *assumptions_.ranks) {
        throw UsageError(fmt::format("--assume ranks={}: the trace has {} ranks", *assumptions_.ranks, trace_.ranks));
    }
    if (is_proved_) {
        return std::move(trace_);
    }
    if (assumptions_.ranks) {
        world_of(*assumptions_.ranks);
    }
    for (TraceGroup const& group : trace_.groups) {
        world_of(group.size);
        for (Rank const member : group.members) {
            world_of(member + 1);
        }
    }
    assume_roots();
    bool const is_told = !trace_.why_not.empty();  // by readers, which know better what a call lacks
    for (RankProgram const& program : trace_.programs) {
        for (TraceOperation const& operation : program.operations) {
            check_operation(program.ranks.front(), operation, is_told);
        }
    }
    fill_groups();
    check_ranks();
    for (RankProgram const& program : trace_.programs) {
        check_groups(program);
    }
    forget_wrong_times();
    for (std::string& reason : mismatches(trace_)) {
        incomplete(std::move(reason));
    }
    auto& programs = trace_.programs;
    std::sort(programs.begin(), programs.end(),
              [](RankProgram const& one, RankProgram const& other) { return one.ranks < other.ranks; });
    return std::move(trace_);
}

std::optional<Bytes> product(Bytes a, Bytes b) {
    constexpr auto most = static_cast<Bytes>(std::numeric_limits<std::int64_t>::max());
    return a != 0 && b > most / a ? std::nullopt : std::optional(a * b);
}

Bytes product(Input const& input, std::string_view where, Bytes a, Bytes b) {
    auto const bytes = product(a, b);
    if (!bytes) {
        input.refuse(fmt::format("{}: {} times {} bytes is more than 2^63 - 1", where, a, b));
    }
    return *bytes;
}

Bytes total(Input const& input, std::string_view where, std::span<Bytes const> parts) {
    Bytes sum = 0;
    for (Bytes const part : parts) {
        sum += part;
        if (sum >> 63U != 0) {
            input.refuse(fmt::format("{}: its parts together are more than 2^63 - 1", where));
        }
    }
    return sum;
}

Bytes whole_text(Input const& input, std::string_view name, std::string_view text, Bytes most) {
    auto const value = parse_whole<Bytes>(text.substr(0, text.size() - (text.ends_with(".0") ? 2 : 0)));
    if (!value || *value > most) {
        input.refuse(fmt::format("{} '{}' must be a whole number from 0 to {}", name, text, most));
    }
    return *value;
}

std::optional<Rank> rank_of_name(std::string_view name) {
    std::string_view stem = name.substr(name.find_last_of("/:") + 1);
    auto const number_at = [&](std::size_t begin) -> std::optional<Rank> {
        std::size_t end = begin;
        while (end < stem.size() && is_digit(stem[end])) {
            ++end;
        }
        return end == begin ? std::nullopt : parse_whole<Rank>(stem.substr(begin, end - begin));
    };
    if (std::size_t const word = stem.find("rank"); word != std::string_view::npos) {
        std::size_t place = word + 4;
        while (place < stem.size() && std::string_view("-_.=").find(stem[place]) != std::string_view::npos) {
            ++place;
        }
        if (auto const rank = number_at(place)) {
            return rank;
        }
    }
    // The last part between separators that is a number, the endings aside.
    for (std::string_view const ending : {".gz", ".json", ".jsonl", ".txt", ".csv", ".et", ".log", ".pt.trace"}) {
        if (stem.ends_with(ending)) {
            stem.remove_suffix(ending.size());
        }
    }
    std::string_view const last = stem.substr(stem.find_last_of("._-") + 1);
    return !last.empty() && std::all_of(last.begin(), last.end(), is_digit) ? parse_whole<Rank>(last) : std::nullopt;
}

std::optional<Bytes> equal_part(Bytes bytes, int ranks) {
    auto const parts = static_cast<Bytes>(std::max(ranks, 1));
    return bytes % parts == 0 ? std::optional(bytes / parts) : std::nullopt;
}

void split_equally(TraceOperation& exchange, int ranks) {
    if (auto const part = equal_part(exchange.sent, ranks); part && ranks > 0) {
        exchange.send_split.each = exchange.recv_split.each = part;
    }
}

}  // namespace dlmb::trace
