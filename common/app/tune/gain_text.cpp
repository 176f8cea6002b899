// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/tune/gain_text.hpp"

#include "common/app/reporter.hpp"
#include "common/app/tune/table_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace dlmb::app::tune {
namespace {

Row gain_row(tuning::SizeGain const& gain) {
    return {exact_bytes(gain.bytes),
            gain.choice,
            human_us(gain.default_ns),
            human_us(gain.choice_ns),
            fmt::format("{:.2f} [{:.2f}, {:.2f}]", gain.speedup.estimate, gain.speedup.low, gain.speedup.high),
            gain.best,
            fmt::format("{:.2f}", gain.regret),
            fmt::format("{}", gain.launches)};
}

std::string series_text(std::span<tuning::SizeGain const> series) {
    tuning::SizeGain const& first = series.front();
    std::vector<Row> rows{{"bytes", "choice of the table", "default us", "choice us", "speed-up [95 %]", "fastest",
                           "regret", "launches"}};
    std::transform(series.begin(), series.end(), std::back_inserter(rows), gain_row);
    tuning::GainSummary const all = tuning::summary_of(series);
    return fmt::format("\n{} of {} by {} ranks, {}\n{}speed-up  {:.3f} geometric mean, {:.3f} at least; regret {:.3f} "
                       "geometric mean, {:.3f} at most; {} sizes\n",
                       first.scope, name_of(first.place.operation), first.place.ranks, first.place.memory,
                       columns_text(rows), all.speedup, all.speedup_least, all.regret, all.regret_most, series.size());
}

double cost_ns(tuning::ExpectedStep const& step) {
    return step.rule == nullptr ? 0 : step.count * step.rule->evidence->default_ns;
}

Row expected_row(tuning::ExpectedStep const& step) {
    bool const known = step.rule != nullptr;
    return {std::string{name_of(step.demand.place.operation)},
            exact_bytes(step.demand.bytes),
            fmt::format("{}", step.demand.place.ranks),
            fmt::format("{:g}", step.count),
            known                            ? human_us(step.rule->evidence->default_ns)
            : can_be_made(step.demand.place) ? "not measured"
                                             : "one rank has all: no search",
            known ? fmt::format("{:.1f} %", 100 * step.rule->evidence->gain) : "-",
            known ? step.rule->choose.method : "-",
            known ? step.rule->id : "-"};
}

}  // namespace

std::string measured_text(std::vector<tuning::SizeGain> const& gains) {
    std::string text;
    for (auto first = gains.begin(); first != gains.end();) {
        auto const last = std::find_if(first, gains.end(), [&](tuning::SizeGain const& each) {
            return each.scope != first->scope || each.place != first->place;
        });
        text += series_text({first, last});
        first = last;
    }
    return text;
}

std::string expected_text(std::string const& workload, tuning::ExpectedGain const& gain) {
    std::vector<tuning::ExpectedStep> steps = gain.steps;
    std::stable_sort(steps.begin(), steps.end(), [](auto const& a, auto const& b) { return cost_ns(a) > cost_ns(b); });
    std::vector<Row> rows{{"operation", "bytes", "ranks", "times per rank", "default us", "gain", "choice", "rule"}};
    std::transform(steps.begin(), steps.end(), std::back_inserter(rows),
                   [](tuning::ExpectedStep const& step) { return expected_row(step); });
    std::string const text = fmt::format("\n{}\n{}", workload, columns_text(rows));
    if (gain.covered == 0) {
        return text + "expected gain for this workload: unknown, the table has evidence for none of it\n";
    }
    return text + fmt::format("expected gain for this workload: {:.1f} % of the {} us that {:g} operations per rank "
                              "take; for {:g} more there is no evidence\n",
                              100 * gain.saved_ns / gain.default_ns, human_us(gain.default_ns), gain.covered,
                              gain.uncovered);
}

}  // namespace dlmb::app::tune
