// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/plan/plans.hpp"

#include "common/base/error.hpp"
#include "common/base/lower_case.hpp"
#include "common/formats/plan/builder.hpp"
#include "common/formats/plan_file/plan_file.hpp"
#include "common/tools/plan/builder.hpp"
#include "common/tools/plan/formats/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <tuple>

namespace dlmb::trace {
namespace {

constexpr Bytes most_blocks = Bytes{1} << 24U;  // of the exchanges of one rank

/// The phase that a name of the trace tells, and the layer: "forward.layer3". Names themselves stay out of plans.
std::string phase_named(std::string_view label) {
    std::string const text = lower_case(label);
    struct PhaseWord {
        std::string_view word;
        std::string_view phase;
    };
    constexpr std::array words{PhaseWord{"forward", "forward"}, PhaseWord{"fwd", "forward"},
                               PhaseWord{"backward", "backward"}, PhaseWord{"bwd", "backward"},
                               PhaseWord{"optimizer", "optimizer"}};
    std::string_view phase;
    std::size_t last = 0;
    for (PhaseWord const& each : words) {
        std::size_t const place = text.rfind(each.word);
        if (place != std::string::npos && (phase.empty() || place > last)) {
            phase = each.phase;
            last = place;
        }
    }
    if (phase.empty()) {
        return "";
    }
    std::string result(phase);
    constexpr std::string_view layer = "layer";
    std::size_t digits = text.rfind(layer);
    if (digits != std::string::npos) {
        digits = text.find_first_not_of("s_.-[ ", digits + layer.size());
        std::size_t const end = digits == std::string::npos ? digits : text.find_first_not_of("0123456789", digits);
        std::string const number = digits == std::string::npos ? "" : text.substr(digits, end - digits);
        constexpr std::size_t most_digits = 6;
        result += number.empty() || number.size() > most_digits ? "" : ".layer" + number;
    }
    return result;
}

/// Details of a collective, the same on all of its ranks.
struct SharedDetails {
    std::string phase;
    std::vector<Bytes> parts;  // of a gather or scatter, by rank of the group; empty: not listed
};

/// The details of collectives that one rank tells and the others need: the phase is what the first of them says, parts
/// are what the root says, for the others know their own alone.
class Details {
public:
    /// How many collectives of each group a rank had so far.
    using CollectiveCounts = std::map<std::vector<Rank>, std::size_t>;

    explicit Details(Trace const& trace) : trace_(trace) {
        for (RankProgram const& program : trace.programs) {
            CollectiveCounts counts;
            for (TraceOperation const& operation : program.operations) {
                has_messages_ = has_messages_ || is_message(operation.kind);
                if (program.ranks.size() == 1 && !is_message(operation.kind)) {
                    add(operation, program.ranks.front(), counts);
                }
            }
        }
    }

    /// Whether any rank has some: then all have the group of everybody, to which these belong.
    [[nodiscard]] bool has_messages() const { return has_messages_; }

    [[nodiscard]] SharedDetails next(TraceOperation const& operation, Rank rank, RankProgram const& program,
                                     CollectiveCounts& counts) const {
        if (is_message(operation.kind) || program.ranks.size() > 1) {
            return {phase_named(operation.label), {}};
        }
        if (details_.empty()) {
            return {};
        }
        auto members = members_of(operation, rank);
        std::size_t const number = counts[members]++;
        auto const found = details_.find(std::pair(std::move(members), number));
        return found == details_.end() ? SharedDetails{} : found->second;
    }

private:
    void add(TraceOperation const& operation, Rank rank, CollectiveCounts& counts) {
        auto members = members_of(operation, rank);
        std::size_t const number = counts[members]++;
        std::string phase = phase_named(operation.label);
        bool const is_root = operation.root && trace_.groups.at(operation.group).place_of(rank) == operation.root;
        std::vector<Bytes> const none;
        auto const& parts = is_root && has_parts(operation.kind) ? parts_of(operation) : none;
        if (phase.empty() && parts.empty()) {
            return;
        }
        SharedDetails& details = details_[std::pair(std::move(members), number)];
        if (details.phase.empty()) {
            details.phase = std::move(phase);
        }
        if (!parts.empty()) {
            details.parts = parts;
        }
    }
    [[nodiscard]] std::vector<Rank> members_of(TraceOperation const& operation, Rank rank) const {
        return trace_.groups.at(operation.group).members_around(rank);
    }

    Trace const& trace_;
    std::map<std::pair<std::vector<Rank>, std::size_t>, SharedDetails> details_;
    bool has_messages_ = false;
};

/// For how long a rank does not communicate.
class Pauses {
public:
    Pauses(RankProgram const& program, std::optional<int> iteration) : program_(program) {
        if (iteration && static_cast<std::size_t>(*iteration) < program.iterations_us.size()) {
            std::tie(busy_until_us_, end_us_) = program.iterations_us[static_cast<std::size_t>(*iteration)];
            begin_us_ = busy_until_us_;
        }
    }

    /// An operation of another iteration: where the trace marks no times of iterations, the end of the earlier ones is
    /// the begin of this one.
    void pass_over(TraceOperation const& operation) {
        if (!end_us_ && operation.start_us && operation.duration_us) {
            busy_until_us_ = std::max(busy_until_us_.value_or(0), *operation.start_us + *operation.duration_us);
        }
    }
    [[nodiscard]] static Nanoseconds before(Wait const& wait) { return in_ns(wait.computed_us); }
    /// Computation in the trace, or the time from the end of all earlier operations to the start, less waiting and what
    /// was computed before waits.
    [[nodiscard]] Nanoseconds before(TraceOperation const& operation) {
        took_last_ = &operation == &program_.operations.back();
        if (program_.computed_after_us) {
            return in_ns(operation.computed_us);
        }
        if (!operation.start_us || !operation.duration_us) {
            return 0;
        }
        double pause_us = busy_until_us_ ? *operation.start_us - *busy_until_us_ - operation.waited_us : 0;
        for (Wait const& wait : operation.waits) {
            pause_us -= wait.computed_us;
        }
        begin_us_ = begin_us_.value_or(busy_until_us_.value_or(*operation.start_us));
        busy_until_us_ = std::max(busy_until_us_.value_or(0), *operation.start_us + *operation.duration_us);
        timed_ = true;
        return in_ns(pause_us);
    }
    /// Times of an operation, from the begin of the iteration or of the first operation.
    [[nodiscard]] std::optional<std::pair<Nanoseconds, Nanoseconds>> recorded(TraceOperation const& operation) const {
        bool const told = begin_us_ && operation.start_us && operation.duration_us && operation.repeat == 1 &&
                          *operation.start_us >= *begin_us_;
        return told ? std::optional(std::pair(in_ns(*operation.start_us - *begin_us_), in_ns(*operation.duration_us)))
                    : std::nullopt;
    }
    [[nodiscard]] Nanoseconds behind_last() const {
        if (program_.computed_after_us) {
            return took_last_ ? in_ns(*program_.computed_after_us) : 0;
        }
        return timed_ && end_us_ ? in_ns(*end_us_ - *busy_until_us_) : 0;
    }

private:
    static Nanoseconds in_ns(double us) {
        constexpr double longest_us = 9e15;  // in ns below 2^63
        return us > 0 ? std::llround(std::min(us, longest_us) * nanoseconds_per_microsecond) : 0;
    }

    RankProgram const& program_;
    std::optional<double> begin_us_;
    std::optional<double> busy_until_us_;
    std::optional<double> end_us_;
    bool took_last_ = program_.operations.empty();  // the last operation; with none there is nothing to wait for
    bool timed_ = false;
};

class PlanMaker {
public:
    PlanMaker(Trace const& trace, Details const& details, RankProgram const& program, Rank rank,
              PlanRequest const& request)
        : trace_(trace), all_details_(details), program_(program), rank_(rank), request_(request),
          pauses_(program, request.iteration), plan_(rank) {}

    Plan make() && {
        // A trace of a model moves far more than fits in memory.
        plan_.share_buffers(true);
        for (TraceOperation const& operation : program_.operations) {
            SharedDetails details = all_details_.next(operation, rank_, program_, counts_);
            label_ = details.phase.empty() ? std::string(name_of(operation.kind))
                                           : fmt::format("{}.{}", details.phase, name_of(operation.kind));
            parts_ = std::move(details.parts);
            if (request_.iteration && operation.iteration != request_.iteration) {
                pauses_.pass_over(operation);
                continue;
            }
            for (Wait const& wait : operation.waits) {
                compute(Pauses::before(wait), std::nullopt);
                complete(wait, place_of(operation));
            }
            Nanoseconds const pause_ns = pauses_.before(operation);
            auto const recorded = pauses_.recorded(operation);
            compute(pause_ns, recorded ? std::optional(recorded->first - pause_ns) : std::nullopt);
            if (operation.repeat > most_steps - steps_) {
                throw UsageError(fmt::format("rank {} has more than {} calls", rank_, most_steps));
            }
            for (std::uint64_t call = 0; call < operation.repeat; ++call) {
                ++steps_;
                add(operation);
                recorded_.push_back(recorded);
            }
        }
        compute(pauses_.behind_last(), std::nullopt);
        if (all_details_.has_messages()) {
            everybody();
        }
        if (request_.recorded != nullptr) {
            request_.recorded->at(static_cast<std::size_t>(rank_)) = std::move(recorded_);
        }
        return std::move(plan_).finish();
    }

private:
    struct InFlight {
        StepId step = 0;
        std::size_t until = 0;  // place of the first operation behind its wait; 0: the next collective completes it
    };
    /// A receive or collective that no wait has completed.
    struct OpenStep {
        StepId step = 0;
        bool is_collective = false;
        std::vector<StepId> behind = {};  // those that a collective waited for
    };

    void compute(Nanoseconds time_ns, std::optional<Nanoseconds> begin_ns) {
        if (time_ns <= 0) {
            return;
        }
        recorded_.push_back(begin_ns ? std::optional(std::pair(*begin_ns, time_ns)) : std::nullopt);
        std::vector<StepId> after = last_;
        if (request_.waits != MessageWaits::none) {
            after.insert(after.end(), received_.begin(), received_.end());
            received_.clear();
        }
        last_ = {plan_.compute(time_ns, "compute", std::move(after))};
    }

    [[nodiscard]] std::size_t place_of(TraceOperation const& operation) const {
        return static_cast<std::size_t>(&operation - program_.operations.data());
    }

    /// A call that asked whether operations were complete may name them before they were.
    void complete(Wait const& wait, std::size_t before) {
        for (std::size_t const place : wait.operations) {
            if (program_.operations[place].complete_before == before) {
                if (auto const open = open_.extract(place)) {
                    complete(open.mapped(), place);
                }
            }
        }
    }
    /// Everything waits for a collective from here on, and so for what it waited for itself.
    void complete(OpenStep const& open, std::size_t place) {
        if (!open.is_collective) {
            received_.push_back(open.step);
            return;
        }
        std::erase_if(last_, [&](StepId each) {
            return std::find(open.behind.begin(), open.behind.end(), each) != open.behind.end();
        });
        last_.push_back(open.step);
        std::erase_if(in_flight_, [&](InFlight const& each) { return each.step < open.step && each.until <= place; });
    }

    void add(TraceOperation const& operation) {
        std::vector<Rank> members = trace_.groups.at(operation.group).members_around(rank_);
        if (is_message(operation.kind)) {
            add_message(operation);
            return;
        }
        std::size_t const place = place_of(operation);
        auto const is_complete = [place](InFlight const& each) { return each.until <= place; };
        std::vector<StepId> after;
        for (InFlight const& each : in_flight_) {
            if (is_complete(each)) {
                after.push_back(each.step);
            }
        }
        // Messages in flight waited for what was last, unless a computation came behind them.
        for (StepId const before : last_) {
            if (after.empty() || before > after.back()) {
                after.push_back(before);
            }
        }
        Bytes const ranks = members.size();
        GroupId const group = plan_.group({std::move(members)});
        StepId const step = add_collective(operation, group, ranks, label_, std::move(after));
        if (operation.complete_before) {
            in_flight_.push_back({step, *operation.complete_before});
            open_.emplace(place, OpenStep{step, true, last_});
            return;
        }
        std::erase_if(in_flight_, is_complete);
        received_.clear();
        last_ = {step};
    }

    StepId add_collective(TraceOperation const& operation, GroupId group, Bytes ranks, std::string const& label,
                          std::vector<StepId> after) {
        if (operation.kind == OperationKind::exchange) {
            if ((blocks_ += 2 * ranks) > most_blocks) {
                throw UsageError(fmt::format("the exchanges of rank {} have more than {} blocks", rank_, most_blocks));
            }
            return plan_.exchange(group, operation.send_split.listed(ranks), operation.recv_split.listed(ranks), label,
                                  std::move(after));
        }
        if (operation.kind == OperationKind::barrier) {
            return plan_.barrier(group, label, std::move(after));
        }
        SharedBytes bytes(reduces(operation.kind) ? operation.sent : std::max(operation.sent, operation.received));
        if (has_parts(operation.kind)) {
            bytes = whole(operation, ranks);
        }
        return plan_.collective({operation.kind,
                                 group,
                                 has_root(operation.kind) ? operation.root.value() : 0,
                                 {},
                                 {},
                                 bytes.bytes,
                                 element_named(operation.dtype.name).value_or(Element::byte),
                                 Reduction::sum,
                                 std::move(bytes.shares)},
                                label, std::move(after));
    }

    GroupId everybody() { return plan_.group(consecutive_group({.ranks = trace_.ranks}, rank_, trace_.ranks)); }

    void add_message(TraceOperation const& operation) {
        Rank const peer = operation.peer.value() + (operation.peer_is_offset ? rank_ : 0);
        // Messages of different tags may overtake each other, those of one may not.
        bool const is_channel = operation.tag >= 0 && operation.tag <= most_channels;
        int const channel = is_channel ? static_cast<int>(operation.tag) : 0;
        bool const sends = operation.kind == OperationKind::send;
        StepId const step = sends ? plan_.send(everybody(), peer, operation.sent, channel, -1, label_, last_)
                                  : plan_.recv(everybody(), peer, operation.received, channel, -1, label_, last_);
        auto until = operation.complete_before;
        if (sends && request_.waits != MessageWaits::all) {
            until.reset();
        } else if (request_.waits != MessageWaits::none) {
            until = until.value_or(0);
        }
        if (until) {
            in_flight_.push_back({step, *until});
        }
        if (!sends && program_.tells_waits) {
            open_.emplace(place_of(operation), OpenStep{step});
        } else if (!sends) {
            received_.push_back(step);
        }
    }

    /// Bytes of all that is gathered or scattered: the parts that are listed, of a root by itself, or as many as this
    /// rank's for each.
    [[nodiscard]] SharedBytes whole(TraceOperation const& operation, Bytes ranks) const {
        auto const& parts = has_root(operation.kind) ? parts_ : parts_of(operation);
        if (parts.empty()) {
            return own_part(operation) * ranks;
        }
        Bytes const first = parts.front();
        bool const equal = std::all_of(parts.begin(), parts.end(), [first](Bytes each) { return each == first; });
        return equal ? SharedBytes(first * ranks) : SharedBytes(parts);
    }

    Trace const& trace_;
    Details const& all_details_;
    RankProgram const& program_;
    Rank rank_;
    PlanRequest const& request_;
    Pauses pauses_;
    Details::CollectiveCounts counts_;
    std::string label_;
    std::vector<Bytes> parts_;  // of the gather or scatter, if its root lists them
    PlanBuilder plan_;
    RecordedTimes recorded_;  // by step
    std::uint64_t steps_ = 0;
    Bytes blocks_ = 0;
    std::vector<StepId> last_;
    std::vector<InFlight> in_flight_;
    std::map<std::size_t, OpenStep> open_;  // by place in the program
    std::vector<StepId> received_;          // other receives that no computation has waited for
};

}  // namespace

PlanSource plans_of(Trace const& trace, PlanRequest const& request) {
    if (!trace.requests.empty()) {
        throw UsageError("the trace has requests and no communication; dlmb_plan summary shows them");
    }
    if (trace.format == plan_format_name) {
        throw UsageError("the files are plans already; dlmb_plan transform, overlay, rescale and export read them");
    }
    if (!trace.complete()) {
        throw UsageError(fmt::format("the trace is not complete: {}", trace.why_not.front()));
    }
    std::map<Rank, RankProgram const*> programs;
    for (RankProgram const& program : trace.programs) {
        for (Rank const rank : program.ranks) {
            programs.emplace(rank, &program);
        }
    }
    auto details = std::make_shared<Details const>(trace);
    return {static_cast<std::size_t>(trace.ranks),
            [&trace, programs = std::move(programs), details, request](Rank rank) {
                return PlanMaker(trace, *details, *programs.at(rank), rank, request).make();
            }};
}

}  // namespace dlmb::trace
