// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/table/query.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace dlmb::tuning {
namespace {

/// What is wrong with one rule, whatever the others say.
class RuleCheck {
public:
    /// `confirms`: whether the table's choices had to be confirmed.
    RuleCheck(Rule const& rule, bool confirms, std::string const& path, std::vector<TableProblem>& problems)
        : rule_(rule), when_(rule.when), confirms_(confirms), path_(path), problems_(problems) {}

    void run() {
        check_interval<Bytes>(when_.bytes, "when.bytes", 0);
        check_interval<std::uint64_t>(when_.ranks, "when.ranks", 1);
        check_interval<std::uint64_t>(when_.nodes, "when.nodes", 1);
        check_interval<double>(when_.imbalance, "when.imbalance", 1);
        check_word(when_.dtype, "when.dtype", element_words);
        check_word(when_.reduction, "when.reduction", reduction_words);
        check_word(when_.memory, "when.memory", memory_words);
        check_conditions_of_operation();
        check_choice();
        check_candidate();
        if (rule_.evidence) {
            check_evidence(*rule_.evidence);
        }
    }

private:
    void report(std::string_view place, std::string what) {
        problems_.push_back({fmt::format("{}.{}", path_, place), std::move(what)});
    }

    template <class Number>
    void check_interval(std::optional<Interval<Number>> const& interval, std::string_view place, Number least) {
        if (!interval) {
            return;
        }
        // Written so that a bound that is not a number fails as well.
        if (!(interval->min <= interval->max)) {
            report(place, fmt::format("min {} is above max {}", interval->min, interval->max));
        } else if (interval->min < least) {
            report(place, fmt::format("min {} is below {}, the least there is", interval->min, least));
        }
    }

    template <std::size_t count>
    void check_word(std::string const& word, std::string_view place, std::array<std::string_view, count> const& words) {
        if (!word.empty() && std::find(words.begin(), words.end(), word) == words.end()) {
            report(place, fmt::format("'{}' is none of {}", word, fmt::join(words, ", ")));
        }
    }

    void check_conditions_of_operation() {
        bool const reduces =
            when_.operation == TunedOperation::allreduce || when_.operation == TunedOperation::reduce_scatter;
        bool const exchanges = when_.operation == TunedOperation::exchange;
        auto const never = [&](std::string_view place, bool present) {
            if (present) {
                report(place, fmt::format("{} has no such condition, so the rule would never match; leave it out",
                                          name_of(when_.operation)));
            }
        };
        never("when.reduction", !reduces && !when_.reduction.empty());
        never("when.uniform", !exchanges && when_.uniform);
        never("when.imbalance", !exchanges && when_.imbalance);
        if (when_.ranks && when_.nodes && when_.nodes->min > when_.ranks->max) {
            report("when", fmt::format("can never match: {} ranks cannot fill the nodes", when_.ranks->max));
        }
    }

    void check_choice() {
        if (rule_.scope.empty()) {
            report("scope", "is empty; write 'select' or the name of a backend");
        }
        if (rule_.choose.backend.empty()) {
            report("choose.backend", "is empty; name the backend");
        } else if (rule_.scope != select_scope && rule_.choose.backend != rule_.scope) {
            report("choose.backend", fmt::format("is '{}' in the scope of '{}'; only scope 'select' chooses a backend",
                                                 rule_.choose.backend, rule_.scope));
        }
        if (rule_.choose.method.empty()) {
            report("choose.method", "is empty; write 'default' for the backend's own choice");
        }
        if (rule_.status != RuleStatus::chosen && !rule_.choose.keeps_default()) {
            report("choose", fmt::format("status {} keeps the default: method 'default', no algorithm, no params",
                                         name_of(rule_.status)));
        }
    }

    void check_candidate() {
        if (is_open(rule_.status) != rule_.candidate.has_value()) {
            report("candidate",
                   fmt::format("{} status {}; undecided and unconfirmed have one, others have none",
                               rule_.candidate ? "must not be with" : "is missing with", name_of(rule_.status)));
        }
        if (!rule_.candidate) {
            return;
        }
        if (rule_.candidate->choose.keeps_default() && rule_.scope != select_scope) {
            report("candidate.choose", "is the default, which is what stands");
        }
        Candidate const& candidate = *rule_.candidate;
        if (!std::isfinite(candidate.gain) || !std::isfinite(candidate.gain_low) ||
            !std::isfinite(candidate.gain_high) || candidate.gain_low > candidate.gain_high) {
            report("candidate.ci", "must be [low, high] around a finite gain");
        }
    }

    void check_evidence(Evidence const& evidence) {
        auto const& sizes = evidence.sizes;
        if (!when_.bytes || when_.bytes->max == no_limit) {
            report("when.bytes", "has no max, but nobody measured without an end; give the largest measured size");
        } else if (!std::all_of(sizes.begin(), sizes.end(), [&](Bytes size) { return when_.bytes->contains(size); })) {
            report("evidence.sizes", "holds a size outside of when.bytes");
        }
        if (sizes.empty() || !std::is_sorted(sizes.begin(), sizes.end())) {
            report("evidence.sizes", "must hold the measured sizes in ascending order");
        }
        if (evidence.foreign && evidence.confirmed > 0) {
            report("evidence.confirmed", "is above 0, but no launch confirms foreign evidence");
        }
        if (evidence.predicted && (evidence.foreign || evidence.confirmed > 0 || evidence.launches > 0)) {
            report("evidence.predicted", "is of times that nobody measured, but there are launches of them");
        }
        if (evidence.predicted && !(evidence.predicted->held_out_error.value_or(0) >= 0)) {
            report("evidence.predicted.held_out_error", "must be a share, not below 0");
        }
        for (double const time : {evidence.choice_ns, evidence.runner_up_ns.value_or(1), evidence.default_ns}) {
            if (!std::isfinite(time) || time <= 0) {
                report("evidence.median_ns", "holds a time that is not above 0");
                return;
            }
        }
        check_choice_of(evidence);
        if (std::string const problem = problem_of_gain(evidence); !problem.empty()) {
            std::size_t const colon = problem.find(": ");
            report(problem.substr(0, colon), problem.substr(colon + 2));
        }
    }

    /// What is chosen was faster than the default, and fresh launches confirmed what was measured.
    void check_choice_of(Evidence const& evidence) {
        if (rule_.status != RuleStatus::chosen) {
            return;
        }
        if (confirms_ && !evidence.foreign && !evidence.predicted && evidence.confirmed == 0) {
            report("evidence.confirmed", "is 0, but the policy has each choice confirmed by fresh launches");
        }
        // A model may have the same algorithm for both.
        bool const faster = evidence.choice_ns < evidence.default_ns && evidence.gain > 0;
        bool const equal = evidence.choice_ns == evidence.default_ns && evidence.gain == 0;
        if (!faster && !(evidence.predicted && equal)) {
            report("evidence.median_ns", "the choice is not faster than the default; keep the default, or correct it");
        }
    }

    Rule const& rule_;
    When const& when_;
    bool confirms_;
    std::string const& path_;
    std::vector<TableProblem>& problems_;
};

/// Against the rules before it; there are some dozens of them.
void check_disjoint(std::vector<Rule> const& rules, std::size_t i, std::string const& path,
                    std::vector<TableProblem>& problems) {
    Rule const& rule = rules[i];
    for (std::size_t j = 0; j < i; ++j) {
        Rule const& earlier = rules[j];
        if (earlier.scope != rule.scope) {
            continue;
        }
        if (covers(earlier.when, rule.when)) {
            problems.push_back({path, fmt::format("'{}' is dead: '{}' before it matches all that it does; remove one "
                                                  "of them",
                                                  rule.id, earlier.id)});
        } else if (meets(earlier.when, rule.when)) {
            problems.push_back({path, fmt::format("'{}' overlaps '{}'; split them so that no operation matches both",
                                                  rule.id, earlier.id)});
        }
    }
}

}  // namespace

std::vector<TableProblem> validate(TuningTable const& table) {
    std::vector<TableProblem> problems;
    if (table.system.key.empty()) {
        problems.push_back({"system.key", "is empty; a table holds for one system, give its key"});
    }
    if (table.system.cpu.empty()) {
        problems.push_back({"system.cpu", "is empty; name the processor"});
    }
    std::set<std::string_view> ids;
    for (std::size_t i = 0; i < table.rules.size(); ++i) {
        Rule const& rule = table.rules[i];
        std::string const path = fmt::format("rules[{}]", i);
        RuleCheck(rule, table.policy.confirm_launches > 0, path, problems).run();
        // An empty name would be that of any machine that failed to ask its driver.
        if (table.system.gpu.empty() && !rule.when.memory.empty() && !is_of_host(rule.when.memory)) {
            problems.push_back(
                {path + ".when.memory",
                 fmt::format("is {}, but 'system' names no gpu that this was measured on", rule.when.memory)});
        }
        if (rule.id.empty()) {
            problems.push_back({path + ".id", "is empty; every rule needs a name of its own"});
        } else if (!ids.insert(rule.id).second) {
            problems.push_back({path + ".id", fmt::format("'{}' is there twice; ids are unique", rule.id)});
        }
        check_disjoint(table.rules, i, path, problems);
    }
    return problems;
}

}  // namespace dlmb::tuning
