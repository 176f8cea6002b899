// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/translate.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace dlmb::nccl {
namespace {

using Place = std::optional<std::size_t>;  // in the list of items; nothing sorts first

/// A message's kind, peer in the world and channel: messages that are alike in these keep their order.
using Lane = std::tuple<bool, Rank, int>;

std::optional<Lane> lane_of(Item const& item) {
    auto const* const group = std::get_if<GroupedCall>(&item.work);
    if (group == nullptr || group->sends.size() + group->receives.size() != 1) {
        return std::nullopt;
    }
    Transfer const& transfer = group->sends.empty() ? group->receives.front() : group->sends.front();
    return transfer.channel == Transfer::no_channel
               ? std::nullopt
               : std::optional(Lane{group->sends.empty(), transfer.peer, transfer.channel});
}

class Translator {
public:
    explicit Translator(Plan const& plan)
        : plan_(plan), item_of_(plan.steps.size()), last_call_before_(plan.steps.size()) {}

    void add(StepId step, Item item) {
        bool const computes = item.computes();
        Place const needed = latest(step, !computes);
        last_call_before_[step] = last_call_before(step);
        std::optional<Lane> const lane = lane_of(item);
        Place const group = lane ? group_for(step, *lane, needed) : std::nullopt;
        item_of_[step] = group.value_or(items_.size());
        if (lane) {
            last_of_lane_[*lane] = item_of_[step];
        }
        if (group) {
            append(step, std::get<GroupedCall>(item.work));
            return;
        }
        Place& waited = waited_for_[computes ? 1 : 0];
        if (needed > waited) {
            item.wait = needed;
            waited = needed;
        }
        if (!computes && !lane) {
            run_.clear();
        } else if (lane) {
            run_.push_back({items_.size(), waited});
        }
        items_.push_back(std::move(item));
    }

    [[nodiscard]] std::vector<Item> finish() && { return std::move(items_); }

private:
    /// A group of messages: its place, and the last computation that is complete before it starts.
    struct MessageGroup {
        std::size_t place;
        Place computed;
    };

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

    /// The last item that is no computation which the step waits for by any path.
    [[nodiscard]] Place last_call_before(StepId step) const {
        Place last = latest(step, false);
        for (StepId const earlier : plan_.steps[step].after) {
            last = std::max(last, last_call_before_[earlier]);
        }
        return last;
    }

    /// The first group of the run of messages at the end of the stream that the message can be part of without holding
    /// anything up: it waits for nothing in it or behind it, nor does it overtake its lane; the group need not wait for
    /// a later computation; no computation waits for the group and so would for the message. Whatever a group does not
    /// fulfil the groups before it do not either.
    [[nodiscard]] Place group_for(StepId step, Lane const& lane, Place needed) const {
        auto const before = last_of_lane_.find(lane);
        Place const behind = std::max(last_call_before_[step], waited_for_[1]);
        auto const too_early = [&](MessageGroup const& group) {
            bool const overtakes = before != last_of_lane_.end() && group.place < before->second;
            return overtakes || group.computed < needed || Place{group.place} <= behind;
        };
        auto const found = std::partition_point(run_.begin(), run_.end(), too_early);
        return found == run_.end() ? std::nullopt : Place{found->place};
    }

    void append(StepId step, GroupedCall const& message) {
        auto& group = std::get<GroupedCall>(items_[item_of_[step]].work);
        group.sends.insert(group.sends.end(), message.sends.begin(), message.sends.end());
        group.receives.insert(group.receives.end(), message.receives.begin(), message.receives.end());
        items_[item_of_[step]].steps.push_back(step);
    }

    Plan const& plan_;
    std::vector<Item> items_;
    std::vector<std::size_t> item_of_;          // by step
    std::vector<Place> last_call_before_;       // by step
    std::vector<MessageGroup> run_;             // message groups behind the last call of another kind
    std::map<Lane, std::size_t> last_of_lane_;  // item of its last message
    Place waited_for_[2];  // by stream, communication first: the last item of the other it waits for
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
