// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/plan/summary.hpp"

#include "common/base/error.hpp"
#include "common/tools/plan/iterations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace dlmb::trace {
namespace {

constexpr Bytes most_bytes = ~Bytes{0} >> 1U;

Bytes added(Bytes sum, Bytes each, std::uint64_t times) {
    if (times != 0 && each > (most_bytes - sum) / times) {
        throw UsageError("the trace sends more than 2^63 - 1 bytes from one rank");
    }
    return sum + each * times;
}

struct CallSum {
    std::uint64_t count = 0;
    Bytes bytes = 0;  // payload that the rank sends
};
/// By rank, operation, size of the group (0: the trace does not say) and type.
using CallSums = std::map<std::tuple<Rank, OperationKind, int, std::string>, CallSum>;

CallSums sums_of(Trace const& trace) {
    CallSums all;
    for (RankProgram const& program : trace.programs) {
        // Calls that are alike for every rank: one sum serves all ranks of the program.
        using Alike = std::tuple<OperationKind, TraceGroupId, std::string, int>;
        std::map<Alike, std::pair<TraceOperation const*, CallSum>> alike;
        for (TraceOperation const& operation : program.operations) {
            auto& [call, sum] =
                alike[{operation.kind, operation.group, operation.dtype.name, operation.root.value_or(-1)}];
            call = &operation;
            sum.count = added(sum.count, 1, operation.repeat);
            sum.bytes = added(sum.bytes, operation.sent, operation.repeat);
        }
        for (auto const& [key, one] : alike) {
            auto const& [call, sum] = one;
            for (Rank const rank : program.ranks) {
                CallSum& of_rank = all[{rank, call->kind, trace.groups.at(call->group).size, call->dtype.name}];
                of_rank.count = added(of_rank.count, sum.count, 1);
                of_rank.bytes = added(of_rank.bytes, sends(trace, *call, rank) ? sum.bytes : 0, 1);
            }
        }
    }
    return all;
}

/// One kind of call over all ranks.
struct OperationRow {
    std::uint64_t count = 0;
    double bytes = 0;
    double us = 0;
    double bus_bytes = 0;  // of calls with times
    Bytes least = most_bytes;
    Bytes most = 0;
    double most_of_rank = 0;  // bytes
    std::uint64_t ranks = 0;
};

/// Of what nccl-tests makes the bus bandwidth of a call (its PERFORMANCE.md): of an allreduce 2(n-1)/n of the vector,
/// of what is gathered or scattered n-1 shares, of an exchange (n-1)/n of what is sent, of the others the vector.
double bus_bytes(TraceOperation const& operation, int ranks) {
    double const n = std::max(ranks, 1);
    auto const sent = static_cast<double>(operation.sent);
    auto const received = static_cast<double>(operation.received);
    switch (operation.kind) {
    case OperationKind::all_reduce:
        return 2 * (n - 1) / n * sent;
    case OperationKind::all_gather:
    case OperationKind::gather:
        return (n - 1) * sent;
    case OperationKind::scatter:
        return (n - 1) * received;
    case OperationKind::reduce_scatter:
    case OperationKind::exchange:
        return (n - 1) / n * sent;
    default:
        return std::max(sent, received);
    }
}

/// How many ranks of a program send by a call; all but those that a root sends to.
class SenderCounts {
public:
    explicit SenderCounts(Trace const& trace) : trace_(trace) {}
    [[nodiscard]] std::uint64_t of(RankProgram const& program, TraceOperation const& operation) {
        bool const from_root = facts_of(operation.kind).root == RootRole::sends;
        if (!from_root || !operation.root) {
            return program.ranks.size();
        }
        auto const [place, added_now] = known_.try_emplace({&program, operation.group, *operation.root}, 0);
        if (added_now) {
            place->second = static_cast<std::uint64_t>(std::count_if(
                program.ranks.begin(), program.ranks.end(), [&](Rank rank) { return sends(trace_, operation, rank); }));
        }
        return place->second;
    }

private:
    Trace const& trace_;
    std::map<std::tuple<RankProgram const*, TraceGroupId, int>, std::uint64_t> known_;
};

void add_histogram(std::string& text, Trace const& trace) {
    std::map<int, std::uint64_t> counts;
    SenderCounts senders(trace);
    auto const add = [&](Bytes bytes, std::uint64_t calls) {
        if (calls > 0) {
            int const power = bytes == 0 ? -1 : static_cast<int>(std::bit_width(bytes)) - 1;
            counts[power] += calls;
        }
    };
    for (RankProgram const& program : trace.programs) {
        for (TraceOperation const& operation : program.operations) {
            std::uint64_t const sending = senders.of(program, operation);
            add(operation.sent, sending * operation.repeat);
            add(0, (program.ranks.size() - sending) * operation.repeat);
        }
    }
    std::uint64_t most = 1;
    for (auto const& [power, count] : counts) {
        most = std::max(most, count);
    }
    text += "\nbytes of a call    calls\n";
    for (auto const& [power, count] : counts) {
        constexpr std::uint64_t width = 40;
        std::string const from = power < 0 ? "0" : human_bytes(Bytes{1} << static_cast<unsigned>(power));
        text +=
            fmt::format("{:>14}  {:>7}  {}\n", power < 0 ? from : from + " ..", count,
                        std::string(static_cast<std::size_t>(std::max<std::uint64_t>(count * width / most, 1)), '#'));
    }
}

std::string number_or_dash(std::optional<std::int64_t> const& number) {
    return number ? std::to_string(*number) : "-";
}

/// Names the ranks of a group that did not make a call that others wait in; of some with a dump it was the first call.
void add_laggards(std::string& text, std::set<Rank> const& dumped, std::vector<Progress const*> const& ranks) {
    constexpr std::int64_t none = -1;
    std::map<Rank, std::int64_t> last;
    std::int64_t furthest = none;
    for (Progress const* each : ranks) {
        last[each->rank] = each->enqueued.value_or(none);
        furthest = std::max(furthest, last[each->rank]);
    }
    std::vector<Rank> missing;
    for (Rank const member : ranks.front()->members) {
        if (dumped.contains(member)) {
            last.try_emplace(member, none);
        } else {
            missing.push_back(member);
        }
    }
    std::vector<Rank> behind;
    for (auto const& [rank, number] : last) {
        if (number < furthest) {
            behind.push_back(rank);
        }
    }
    if (!behind.empty()) {
        text += fmt::format("group '{}': rank{} {} did not call collective {}, which others wait in\n",
                            one_line(ranks.front()->group), behind.size() > 1 ? "s" : "", fmt::join(behind, ", "),
                            furthest);
    }
    if (!missing.empty()) {
        text += fmt::format("group '{}': no dump of rank{} {}\n", one_line(ranks.front()->group),
                            missing.size() > 1 ? "s" : "", fmt::join(missing, ", "));
    }
}

/// Reports hanging calls, if any, and the progress of each rank.
std::string progress_text(Trace const& trace) {
    if (trace.progress.empty()) {
        return "";
    }
    constexpr std::size_t most_rows = 64;  // of ranks; those with open calls come first
    std::vector<Progress const*> rows;
    std::map<std::pair<std::string, std::vector<Rank>>, std::vector<Progress const*>> groups;
    for (Progress const& each : trace.progress) {
        rows.push_back(&each);
        groups[{each.group, each.members}].push_back(&each);
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](Progress const* one, Progress const* other) { return one->open.size() > other->open.size(); });
    std::string text = rows.front()->open.empty() ? "\nnothing hung: every call in the dumps completed\n" : "\nhung\n";
    for (Progress const* each : rows) {
        if (each->open.empty()) {
            continue;
        }
        Progress::Call const& first = each->open.front();
        text +=
            fmt::format("rank {}: {} {} of group '{}' is {}, last completed {}{}\n", each->rank, one_line(first.name),
                        first.number, one_line(each->group), one_line(first.state), number_or_dash(each->completed),
                        each->open.size() > 1 ? fmt::format("; {} more calls are open", each->open.size() - 1) : "");
    }
    std::set<Rank> dumped;
    for (RankProgram const& program : trace.programs) {
        dumped.insert(program.ranks.begin(), program.ranks.end());
    }
    for (auto const& [key, ranks] : groups) {
        add_laggards(text, dumped, ranks);
    }
    text += fmt::format("\n{:<6}{:<20}{:>14}{:>14}{:>16}{:>12}\n", "rank", "group", "last enqueued", "last started",
                        "last completed", "open calls");
    for (std::size_t row = 0; row < std::min(rows.size(), most_rows); ++row) {
        Progress const& each = *rows[row];
        text += fmt::format("{:<6}{:<20}{:>14}{:>14}{:>16}{:>12}\n", each.rank, one_line(each.group).substr(0, 19),
                            number_or_dash(each.enqueued), number_or_dash(each.started), number_or_dash(each.completed),
                            each.open.size());
    }
    return text + (rows.size() > most_rows ? fmt::format("and {} more, with --json\n", rows.size() - most_rows) : "");
}

}  // namespace

std::string summary_json(Trace const& trace) {
    using OrderedJson = nlohmann::ordered_json;
    OrderedJson const head{
        {"format", trace.format}, {"ranks", trace.ranks}, {"complete", trace.complete()}, {"why_not", trace.why_not}};
    std::string text = head.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
    text.pop_back();
    text += ",\"operations\":[";
    char const* separator = "\n";
    for (auto const& [key, sum] : sums_of(trace)) {
        auto const& [rank, kind, size, dtype] = key;
        OrderedJson const object{{"rank", rank},
                                 {"operation", name_of(kind)},
                                 {"group_size", size == 0 ? OrderedJson() : OrderedJson(size)},
                                 {"dtype", dtype},
                                 {"count", sum.count},
                                 {"bytes", sum.bytes}};
        text += separator;
        text += object.dump();
        separator = ",\n";
    }
    text += "]";
    OrderedJson more = OrderedJson::object();
    for (auto const& [what, times] : notes_of(trace)) {
        more["notes"].push_back({{"text", what}, {"count", times}});
    }
    for (Progress const& each : trace.progress) {
        auto const number = [](std::optional<std::int64_t> const& told) {
            return told ? OrderedJson(*told) : OrderedJson();
        };
        OrderedJson open = OrderedJson::array();
        for (Progress::Call const& call : each.open) {
            open.push_back({{"number", call.number}, {"call", call.name}, {"state", call.state}});
        }
        more["progress"].push_back({{"rank", each.rank},
                                    {"group", each.group},
                                    {"last_enqueued", number(each.enqueued)},
                                    {"last_started", number(each.started)},
                                    {"last_completed", number(each.completed)},
                                    {"open", std::move(open)}});
    }
    for (auto const& [name, value] : more.items()) {
        text += fmt::format(",\n\"{}\":{}", name, value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace));
    }
    return text + "}\n";
}

std::string summary_text(Trace const& trace) {
    std::map<std::tuple<OperationKind, int, std::string>, OperationRow> rows;
    for (auto const& [key, sum] : sums_of(trace)) {
        auto const& [rank, kind, size, dtype] = key;
        OperationRow& row = rows[{kind, size, dtype}];
        auto const bytes = static_cast<double>(sum.bytes);
        ++row.ranks;
        row.count += sum.count;
        row.bytes += bytes;
        row.most_of_rank = std::max(row.most_of_rank, bytes);
    }
    double all_us = 0;
    SenderCounts senders(trace);
    for (RankProgram const& program : trace.programs) {
        for (TraceOperation const& operation : program.operations) {
            OperationRow& row = rows[{operation.kind, trace.groups.at(operation.group).size, operation.dtype.name}];
            std::uint64_t const sending = senders.of(program, operation);
            row.least = std::min(row.least, sending < program.ranks.size() ? 0 : operation.sent);
            row.most = std::max(row.most, sending > 0 ? operation.sent : 0);
            if (operation.duration_us) {
                auto const calls = static_cast<double>(operation.repeat * program.ranks.size());
                row.us += *operation.duration_us * calls;
                row.bus_bytes += bus_bytes(operation, trace.groups.at(operation.group).size) * calls;
                all_us += *operation.duration_us * calls;
            }
        }
    }
    std::string text = fmt::format("format {}, {} rank{}{}\n", trace.format, trace.ranks, trace.ranks == 1 ? "" : "s",
                                   trace.iterations > 0 ? fmt::format(", {} iteration{} marked", trace.iterations,
                                                                      trace.iterations == 1 ? "" : "s")
                                                        : "");
    if (Repetition const repetition = trace.iterations == 0 ? find_repetition(trace) : Repetition();
        repetition.times > 0) {
        text += fmt::format("no iterations marked; {}\n", repetition.text);
    }
    text += trace.complete() ? "complete\n" : "not complete:\n";
    for (std::string const& reason : trace.why_not) {
        text += fmt::format("  {}\n", one_line(reason));
    }
    text += fmt::format("\n{:<15}{:>7}  {:<8}{:>9}{:>10}{:>10}{:>10}{:>11}{:>8}{:>12}\n", "operation", "group", "dtype",
                        "calls", "sent", "smallest", "largest", "max/mean", "time", "busbw GB/s");
    for (auto const& [key, row] : rows) {
        auto const& [kind, size, dtype] = key;
        double const mean = row.bytes / static_cast<double>(row.ranks);
        constexpr double bytes_per_us_of_gb = 1000;
        text += fmt::format(
            "{:<15}{:>7}  {:<8}{:>9}{:>10}{:>10}{:>10}{:>11}{:>8}{:>12}\n", name_of(kind),
            size == 0 ? "?" : std::to_string(size), dtype, row.count,
            human_bytes(static_cast<Bytes>(std::min(row.bytes, 9.0e18))), human_bytes(row.least), human_bytes(row.most),
            mean > 0 ? fmt::format("{:.3f}", row.most_of_rank / mean) : "-",
            row.us > 0 ? fmt::format("{:.1f} %", 100 * row.us / all_us) : "-",
            row.us > 0 && row.bus_bytes > 0 ? fmt::format("{:.2f}", row.bus_bytes / row.us / bytes_per_us_of_gb) : "-");
    }
    add_histogram(text, trace);
    text += progress_text(trace);
    text += trace.notes.empty() ? "" : "\nnotes\n";
    for (auto const& [what, times] : trace.notes) {
        text += fmt::format("  {} ({})\n", one_line(what), times);
    }
    text += trace.left_out.empty() ? "" : "\nleft out\n";
    for (auto const& [what, times] : trace.left_out) {
        text += fmt::format("  {} ({})\n", one_line(what), times);
    }
    return text;
}

}  // namespace dlmb::trace
