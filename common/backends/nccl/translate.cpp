// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/translate.hpp"

#include "common/plan/precedence.hpp"

#include <algorithm>

namespace dlmb::nccl {
namespace {

using Place = std::optional<std::size_t>;  // in the list of items; nothing sorts first

bool is_message(Operation const& operation) {
    return std::holds_alternative<Send>(operation) || std::holds_alternative<Recv>(operation);
}

class Translator {
public:
    explicit Translator(Plan const& plan) : plan_(plan), item_of_(plan.steps.size()) {}

    void add(StepId step, Item item) {
        bool const computes = item.computes();
        Place const needed = latest(step, !computes);
        if (joins_last_group(step, needed)) {
            append(step, std::get<GroupedCall>(item.work));
            return;
        }
        Place& waited = waited_for_[computes ? 1 : 0];
        if (needed > waited) {
            item.wait = needed;
            waited = needed;
        }
        item_of_[step] = items_.size();
        if (!computes) {
            last_call_ = items_.size();
        }
        items_.push_back(std::move(item));
    }

    [[nodiscard]] std::vector<Item> finish() && { return std::move(items_); }

private:
    /// The last item, among computations or among the others, that a step waits for.
    [[nodiscard]] Place latest(StepId step, bool computations) const {
        Place last;
        for (StepId const earlier : plan_.steps[step].after) {
            if (items_[item_of_[earlier]].computes() == computations) {
                last = std::max(last, Place{item_of_[earlier]});
            }
        }
        return last;
    }

    /// Whether the message may become part of the group before it without holding anything up: not when the group would
    /// have to wait for a later computation, nor when a computation waits for the group and would wait for the message.
    [[nodiscard]] bool joins_last_group(StepId step, Place needed) const {
        if (!is_message(plan_.steps[step].operation) || !last_call_ || waited_for_[1] >= last_call_ ||
            needed > waited_for_[0]) {
            return false;
        }
        std::vector<StepId> const& group = items_[*last_call_].steps;
        return std::all_of(group.begin(), group.end(), [&](StepId earlier) {
            return is_message(plan_.steps[earlier].operation) && !waits_for(plan_, step, earlier);
        });
    }

    void append(StepId step, GroupedCall const& message) {
        auto& group = std::get<GroupedCall>(items_[*last_call_].work);
        group.sends.insert(group.sends.end(), message.sends.begin(), message.sends.end());
        group.receives.insert(group.receives.end(), message.receives.begin(), message.receives.end());
        items_[*last_call_].steps.push_back(step);
        item_of_[step] = *last_call_;
    }

    Plan const& plan_;
    std::vector<Item> items_;
    std::vector<std::size_t> item_of_;  // by step
    Place last_call_;                   // the last item that communicates
    Place waited_for_[2];               // by stream, communication first: the last item of the other it waits for
};

}  // namespace

Expected<std::vector<Item>, Unsupported> translate(Plan const& plan, Buffers const& buffers,
                                                   CommunicatorLookup const& communicators,
                                                   CallSettings const& settings) {
    Translator translator(plan);
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        Expected<Item, Unsupported> made = call_of(plan, step, buffers, communicators, settings);
        if (!made) {
            return made.error();
        }
        translator.add(step, std::move(made).value());
    }
    return std::move(translator).finish();
}

}  // namespace dlmb::nccl
