// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/tuned/step_keys.hpp"

#include "common/backend_kit/step_match.hpp"
#include "common/base/hash.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace dlmb::tuned {
namespace {

OperationKey key_of(StepMatch const& match) {
    std::uint64_t key = 0x9E3779B97F4A7C15ULL;
    auto const add = [&key](std::uint64_t field) { key = splitmix64(key) ^ splitmix64(field); };
    for (Rank const member : match.members) {
        add(static_cast<std::uint64_t>(member));
    }
    add(static_cast<std::uint64_t>(match.from));
    add(static_cast<std::uint64_t>(match.to));
    add(static_cast<std::uint64_t>(match.channel));
    add(match.occurrence);
    return key == no_operation ? 1 : key;
}

}  // namespace

std::vector<OperationKey> operation_keys(Plan const& plan) {
    std::vector<StepMatch> const matches = match_steps(plan);
    std::vector<OperationKey> keys;
    keys.reserve(matches.size());
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        bool const communicates = !std::holds_alternative<Compute>(plan.steps[step].operation);
        keys.push_back(communicates ? key_of(matches[step]) : no_operation);
    }
    return keys;
}

namespace {

/// One rank's side of an exchange.
struct Share {
    OperationKey operation = no_operation;
    Bytes bytes = 0;  // sent, to itself too
    Bytes received = 0;
    Bytes smallest = 0;
    Bytes largest = 0;  // block, those of no bytes included
    bool in_place = false;
};

/// Sums over all ranks of one exchange.
struct Sum {
    Bytes bytes = 0;
    Bytes most = 0;  // that a rank sends or receives
    Bytes smallest = 0;
    Bytes largest = 0;
    bool in_place = false;  // on some rank: one without blocks cannot tell
    std::uint64_t ranks = 0;

    void add(Share const& share) {
        bytes += share.bytes;
        most = std::max({most, share.bytes, share.received});
        smallest = ranks == 0 ? share.smallest : std::min(smallest, share.smallest);
        largest = std::max(largest, share.largest);
        in_place = in_place || share.in_place;
        ++ranks;
    }
    [[nodiscard]] double imbalance() const {
        return bytes == 0 ? 1 : static_cast<double>(most) * static_cast<double>(ranks) / static_cast<double>(bytes);
    }
};

Share share_of(Exchange const& exchange, std::size_t members, OperationKey operation) {
    Share share{.operation = operation, .in_place = exchange.in_place()};
    for (Block const& block : exchange.send) {
        share.bytes += block.bytes;
        share.largest = std::max(share.largest, block.bytes);
        share.smallest = share.smallest == 0 ? block.bytes : std::min(share.smallest, block.bytes);
    }
    for (Block const& block : exchange.recv) {
        share.received += block.bytes;
    }
    if (exchange.send.size() < members) {
        share.smallest = 0;
    }
    return share;
}

/// Collective.
std::map<OperationKey, Sum> exchanges_of(Plan const& plan, std::vector<OperationKey> const& keys,
                                         Bootstrap& bootstrap) {
    std::vector<Share> mine;
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        if (auto const* const exchange = std::get_if<Exchange>(&plan.steps[step].operation)) {
            mine.push_back(share_of(*exchange, plan.groups.at(exchange->group).members.size(), keys[step]));
        }
    }
    std::map<OperationKey, Sum> sums;
    for (std::vector<Share> const& shares : gather<Share>(bootstrap, mine)) {
        for (Share const& share : shares) {
            sums[share.operation].add(share);
        }
    }
    return sums;
}

/// Rules are of messages, exchanges and calls for equal parts; a call with shares is another one.
struct Describe {
    Plan const& plan;
    NodeOfRank const& nodes;
    Operation const& operation;
    Sum const* exchange;  // of this step

    using Found = std::optional<tuning::Key>;

    Found operator()(Exchange const& step) const {
        Found key = common(tuning::TunedOperation::exchange, step.group, exchange->bytes / exchange->ranks);
        key->uniform = exchange->smallest == exchange->largest;
        key->imbalance = exchange->imbalance();
        key->in_place = exchange->in_place;
        return key;
    }
    Found operator()(Send const& step) const {
        return common(tuning::TunedOperation::sendrecv, step.group, step.to.bytes);
    }
    Found operator()(Recv const& step) const {
        return common(tuning::TunedOperation::sendrecv, step.group, step.from.bytes);
    }
    Found operator()(Collective const& step) const {
        auto const tuned = tuning::tuned_operation(step.kind);
        if (!tuned || !step.shares.empty()) {
            return std::nullopt;
        }
        Found key = common(*tuned, step.group, step.bytes);
        key->dtype = name_of(step.element);
        if (reduces(step.kind)) {
            key->reduction = name_of(step.reduction);
        }
        if (!has_root(step.kind)) {  // only the root knows whether it works in place
            key->in_place = sides_of(plan, step).in_place;
        }
        return key;
    }
    template <class Other>
    Found operator()(Other const& /*step*/) const {
        return std::nullopt;
    }

private:
    [[nodiscard]] tuning::Key common(tuning::TunedOperation tuned, GroupId group, Bytes bytes) const {
        auto const& members = plan.groups.at(group).members;
        std::set<Rank> used;
        for (Rank const member : members) {
            used.insert(nodes.at(static_cast<std::size_t>(member)));
        }
        return {.operation = tuned, .bytes = bytes, .ranks = members.size(), .nodes = used.size()};
    }
};

}  // namespace

std::vector<std::optional<tuning::Key>> step_keys(Plan const& plan, MemoryKind memory, NodeOfRank const& nodes,
                                                  Bootstrap& bootstrap) {
    std::vector<OperationKey> const keys = operation_keys(plan);
    std::map<OperationKey, Sum> const exchanges = exchanges_of(plan, keys, bootstrap);
    std::vector<std::optional<tuning::Key>> all;
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        auto const exchange = exchanges.find(keys[step]);
        Operation const& operation = plan.steps[step].operation;
        Sum const* const sum = exchange == exchanges.end() ? nullptr : &exchange->second;
        all.push_back(std::visit(Describe{plan, nodes, operation, sum}, operation));
        if (all.back()) {
            all.back()->memory = name_of(memory);
        }
    }
    return all;
}

}  // namespace dlmb::tuned
