// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/guidelines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace dlmb::predict {
namespace {

using Sizes = std::map<std::uint64_t, TimeRange>;
using Calls = std::map<std::string, std::map<Collective, Sizes>>;

TimeRange sum(TimeRange const& left, TimeRange const& right) {
    return {left.time + right.time, left.low + right.low, left.high + right.high,
            left.has_interval && right.has_interval};
}

TimeRange times(TimeRange const& range, double count) {
    return {count * range.time, count * range.low, count * range.high, range.has_interval};
}

std::string text_of(Guideline const& guideline) {
    std::string text = fmt::format("{} <= {}", name_of(guideline.call), name_of(guideline.mock.front()));
    for (std::size_t index = 1; index < guideline.mock.size(); ++index) {
        text += fmt::format(" + {}", name_of(guideline.mock[index]));
    }
    return text;
}

/// The checks of one collective in one setting.
class Checker {
public:
    Checker(GuidelineCheck& found, double least_excess) : found_(found), least_excess_(least_excess) {}

    void check(std::string const& setting, std::map<Collective, Sizes> const& measured) {
        for (auto const& [collective, sizes] : measured) {
            for (auto const& [bytes, time] : sizes) {
                subject_ = {"", setting, collective, bytes, 0, time, {}};
                check_larger(sizes);
                check_split(sizes);
                for (Guideline const& guideline : pattern_guidelines()) {
                    if (guideline.call == collective) {
                        check_mock(guideline, measured);
                    }
                }
            }
        }
    }

private:
    void check_larger(Sizes const& sizes) {
        for (auto larger = sizes.upper_bound(subject_.bytes); larger != sizes.end(); ++larger) {
            consider(larger->first, larger->second);
        }
        keep_worst("{}: a larger vector is not faster");
    }

    void check_split(Sizes const& sizes) {
        for (auto const& [bytes, time] : sizes) {
            if (bytes > 0 && bytes < subject_.bytes && subject_.bytes % bytes == 0) {
                auto const calls = subject_.bytes / bytes;
                consider(bytes, times(time, static_cast<double>(calls)));
            }
        }
        keep_worst("{}: a split vector is not faster");
    }

    void check_mock(Guideline const& guideline, std::map<Collective, Sizes> const& measured) {
        TimeRange together{0, 0, 0, true};
        std::uint64_t largest = 0;
        for (Collective const part : guideline.mock) {
            auto const sizes = measured.find(part);
            if (sizes == measured.end()) {
                return;
            }
            auto const next = sizes->second.lower_bound(subject_.bytes);
            if (next == sizes->second.end() || (next->first != subject_.bytes && next->first / 2 >= subject_.bytes)) {
                return;
            }
            together = sum(together, next->second);
            largest = std::max(largest, next->first);
        }
        consider(largest, together);
        keep_worst(text_of(guideline));
    }

    void consider(std::uint64_t bytes, TimeRange const& mock) {
        Violation candidate = subject_;
        candidate.mock_bytes = bytes;
        candidate.mock_us = mock;
        if (!worst_ || candidate.excess_low() > worst_->excess_low()) {
            worst_ = std::move(candidate);
        }
    }

    /// `{}` of the text stands for the collective.
    void keep_worst(std::string text) {
        if (!worst_) {
            return;
        }
        ++found_.checks;
        if (worst_->excess_low() > least_excess_) {
            if (text.starts_with("{}")) {
                text.replace(0, 2, name_of(subject_.collective));
            }
            worst_->guideline = std::move(text);
            found_.violations.push_back(*std::move(worst_));
        }
        worst_.reset();
    }

    GuidelineCheck& found_;
    double least_excess_;
    Violation subject_;
    std::optional<Violation> worst_;
};

}  // namespace

std::vector<Guideline> const& pattern_guidelines() {
    using enum Collective;
    static std::vector<Guideline> const guidelines{
        {allreduce, {reduce, bcast}},
        {allreduce, {reduce_scatter, allgather}},
        {reduce, {allreduce}},
        {reduce, {reduce_scatter, gather}},
        {reduce_scatter, {reduce, scatter}},
        {reduce_scatter, {allreduce}},
        {bcast, {scatter, allgather}},
        {bcast, {allreduce}},  // the others give zeros
        {allgather, {gather, bcast}},
        {allgather, {alltoall}},
        {allgather, {allreduce}},  // of a vector that is zero but for the own block
        {gather, {allgather}},
        {gather, {reduce}},  // the same
        {scatter, {bcast}},
    };
    return guidelines;
}

GuidelineCheck check_guidelines(std::vector<TimedCall> const& calls, double least_excess) {
    Calls by_setting;
    for (TimedCall const& call : calls) {
        by_setting[call.setting][call.collective][call.bytes] = call.us;
    }
    GuidelineCheck found;
    Checker checker(found, least_excess);
    for (auto const& [setting, measured] : by_setting) {
        checker.check(setting, measured);
    }
    std::stable_sort(found.violations.begin(), found.violations.end(),
                     [](Violation const& left, Violation const& right) {
                         return std::tuple(right.has_interval(), right.excess_low()) <
                                std::tuple(left.has_interval(), left.excess_low());
                     });
    return found;
}

}  // namespace dlmb::predict
