// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/validate_rule.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace dlmb::tuning {
namespace {

class RuleCheck {
public:
    RuleCheck(Rule const& rule, std::string const& path, std::vector<Problem>& problems)
        : rule_(rule), when_(rule.when), path_(path), problems_(problems) {}

    void run() {
        check_intervals();
        check_words();
        check_conditions_of_operation();
        check_reach();
        check_choice();
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

    void check_intervals() {
        check_interval<Bytes>(when_.bytes, "when.bytes", 0);
        check_interval<std::uint64_t>(when_.ranks, "when.ranks", 1);
        check_interval<std::uint64_t>(when_.nodes, "when.nodes", 1);
        check_interval<std::uint64_t>(when_.ranks_per_node, "when.ppn", 1);
        check_interval<double>(when_.imbalance, "when.imbalance", 1);
        check_interval<std::uint64_t>(when_.group_ops, "when.group.ops", 1);
        check_interval<std::uint64_t>(when_.group_pipe_ops, "when.group.pipe_ops", 1);
    }

    template <std::size_t count>
    void check_word(std::string const& word, std::string_view place, std::array<std::string_view, count> const& words) {
        if (!word.empty() && std::find(words.begin(), words.end(), word) == words.end()) {
            report(place, fmt::format("'{}' is none of {}", word, fmt::join(words, ", ")));
        }
    }

    void check_words() {
        check_word(when_.dtype, "when.dtype", element_words);
        check_word(when_.reduction, "when.reduction", reduction_words);
        check_word(when_.memory, "when.memory", memory_words);
    }

    void check_has(bool present, std::string_view place, bool has) {
        if (present && !has) {
            report(place, fmt::format("{} has no such condition, so the rule would never match; leave it out",
                                      name_of(when_.operation)));
        }
    }

    void check_conditions_of_operation() {
        bool const reduces =
            when_.operation == TunedOperation::allreduce || when_.operation == TunedOperation::reduce_scatter;
        bool const exchanges = when_.operation == TunedOperation::exchange;
        check_has(!when_.reduction.empty(), "when.reduction", reduces);
        check_has(when_.commutative.has_value(), "when.commutative", reduces);
        check_has(when_.uniform.has_value(), "when.uniform", exchanges);
        check_has(when_.imbalance.has_value(), "when.imbalance", exchanges);
        check_has(when_.link.has_value(), "when.link", when_.operation == TunedOperation::sendrecv);
    }

    /// Conditions that contradict each other.
    void check_reach() {
        auto const least = [](auto const& interval) { return interval ? interval->min : 1; };
        std::uint64_t const most_ranks = when_.ranks ? when_.ranks->max : no_limit;
        if (std::max(least(when_.nodes), least(when_.ranks_per_node)) > most_ranks) {
            report("when", fmt::format("can never match: {} ranks cannot fill the nodes", most_ranks));
        }
        if (when_.distribution == Distribution::single_node && least(when_.nodes) > 1) {
            report("when", "can never match: single_node on several nodes");
        }
        if (when_.distribution == Distribution::one_per_node && least(when_.ranks_per_node) > 1) {
            report("when", "can never match: one_per_node with several ranks on each");
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
        bool const plain =
            rule_.choose.method == default_method && !rule_.choose.algorithm && rule_.choose.params == ChoiceParams{};
        if (rule_.status != RuleStatus::chosen && !plain) {
            report("choose", fmt::format("status {} keeps the default: method 'default', no algorithm, no params",
                                         name_of(rule_.status)));
        }
    }

    void check_evidence(Evidence const& evidence) {
        if (!when_.bytes || when_.bytes->max == no_limit) {
            report("when.bytes", "has no max, but nobody measured without an end; give the largest measured size");
        } else if (!std::all_of(evidence.sizes.begin(), evidence.sizes.end(),
                                [&](Bytes size) { return when_.bytes->contains(size); })) {
            report("evidence.sizes", "holds a size outside of when.bytes");
        }
        if (evidence.sizes.empty() || !std::is_sorted(evidence.sizes.begin(), evidence.sizes.end())) {
            report("evidence.sizes", "must hold the measured sizes in ascending order");
        }
        double const shares[] = {evidence.gain, evidence.gain_low, evidence.gain_high};
        double const times[] = {evidence.choice_ns, evidence.runner_up_ns.value_or(1), evidence.default_ns};
        if (!std::all_of(std::begin(times), std::end(times),
                         [](double time) { return std::isfinite(time) && time > 0; })) {
            report("evidence.median_ns", "holds a time that is not above 0");
        }
        if (!std::all_of(std::begin(shares), std::end(shares), [](double share) { return std::isfinite(share); }) ||
            evidence.gain_low > evidence.gain_high) {
            report("evidence.ci", "must be [low, high] around a finite gain");
        }
    }

    Rule const& rule_;
    When const& when_;
    std::string const& path_;
    std::vector<Problem>& problems_;
};

}  // namespace

void validate_rule(Rule const& rule, std::string const& path, std::vector<Problem>& problems) {
    RuleCheck(rule, path, problems).run();
}

}  // namespace dlmb::tuning
