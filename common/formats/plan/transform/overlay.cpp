// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/transform/overlay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace dlmb {
namespace {

/// Adds the steps of one plan to another one of the same rank.
class Appender {
public:
    Appender(Plan& all, Plan const& added) : first_step_(static_cast<StepId>(all.steps.size())) {
        for (Group const& group : added.groups) {
            auto const known = std::find(all.groups.begin(), all.groups.end(), group);
            groups_.push_back(static_cast<GroupId>(known - all.groups.begin()));
            if (known == all.groups.end()) {
                all.groups.push_back(group);
            }
        }
        first_buffer_ = static_cast<BufferId>(all.buffers.size());
        all.buffers.insert(all.buffers.end(), added.buffers.begin(), added.buffers.end());
        for (Step const& step : all.steps) {
            std::visit(
                [&](auto const& operation) {
                    if constexpr (requires { operation.batch; }) {
                        first_batch_ = std::max(first_batch_, operation.batch + 1);
                    }
                },
                step.operation);
        }
    }

    Step step(Step step, int channels) const {
        for (StepId& before : step.after) {
            before += first_step_;
        }
        std::visit([&](auto& operation) { renumber(operation, channels); }, step.operation);
        return step;
    }

private:
    void renumber(auto& operation, int channels) const {
        if constexpr (requires { operation.group; }) {
            operation.group = groups_[operation.group];
        }
        if constexpr (requires { operation.channel; }) {
            operation.channel += channels;
            operation.batch += operation.batch >= 0 ? first_batch_ : 0;
        }
        for_each_buffer(operation, [&](BufferId& buffer) { buffer += first_buffer_; });
    }
    void renumber(Compute& operation, int /*channels*/) const {
        if (operation.conversion) {
            operation.conversion->numbers += first_buffer_;
            operation.conversion->packed += first_buffer_;
        }
        if (operation.rearrangement) {
            operation.rearrangement->from += first_buffer_;
            operation.rearrangement->to += first_buffer_;
        }
    }

    StepId first_step_;
    BufferId first_buffer_ = 0;
    int first_batch_ = 0;
    std::vector<GroupId> groups_;
};

}  // namespace

constexpr std::string_view between_names = " + ";

std::string to_string(OverlayNames const& names) {
    return fmt::format("{}{}{}", names.main, between_names, names.beside);
}

OverlayNames overlay_names(std::string_view text) {
    std::size_t const end = std::min(text.find(between_names), text.size());
    std::size_t const begin = std::min(end + between_names.size(), text.size());
    return {std::string(text.substr(0, end)), std::string(text.substr(begin))};
}

Plan moved(Plan plan, Rank by) {
    plan.me += by;
    for (Group& group : plan.groups) {
        for (Rank& member : group.members) {
            member += by;
        }
    }
    return plan;
}

int channels_of(Plan const& plan) {
    int channels = 0;
    for (Step const& step : plan.steps) {
        std::visit(
            [&](auto const& operation) {
                if constexpr (requires { operation.channel; }) {
                    channels = std::max(channels, operation.channel + 1);
                }
            },
            step.operation);
    }
    return channels;
}

Plan overlaid(Plan const& main, Plan const& beside, std::string_view label, int channels) {
    Plan all = beside;
    for (Step& step : all.steps) {
        step.label = fmt::format("{}.{}", label, step.label);
    }
    for (Buffer& buffer : all.buffers) {
        buffer.name = fmt::format("{}.{}", label, buffer.name);
    }
    Appender const appender(all, main);
    for (Step const& step : main.steps) {
        all.steps.push_back(appender.step(step, channels));
    }
    return all;
}

}  // namespace dlmb
