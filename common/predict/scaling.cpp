// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/predict/scaling.hpp"

#include <algorithm>
#include <map>

namespace dlmb::predict {

PlacedTraffic::PlacedTraffic(Topology topology, std::vector<int> nodes, NetworkCosts const& costs,
                             AllreduceBy allreduce)
    : topology_(std::move(topology)), interconnect_(interconnect_of(topology_)), nodes_(std::move(nodes)),
      costs_(costs), allreduce_(topology_.reduction_depth() > 0 ? allreduce : AllreduceBy::ring),
      loads_(*interconnect_) {}

/// Returns the latency.
double PlacedTraffic::send(Rank from, Rank to, double bytes) {
    loads_.add({node_of(from), node_of(to), bytes});
    return latency(from, to);
}

double PlacedTraffic::latency(Rank from, Rank to) const {
    int const source = node_of(from);
    int const target = node_of(to);
    if (source == target) {
        return 0;
    }
    return costs_.latency_ps +
           (costs_.hop_ps > 0 ? std::max(0.0, interconnect_->hops(source, target) - 1) * costs_.hop_ps : 0);
}

/// What a tree of switches adds: each member's bytes in and out, and those of a switch once upwards. Downwards the tree
/// is the same, so that its busiest link is counted already. The routes to one member are such a tree.
void PlacedTraffic::reduce_in_switches(Group const& group, double bytes) {
    auto const nodes = static_cast<LinkId>(interconnect_->nodes());
    std::map<LinkId, double> tree;
    std::vector<RouteLink> route;
    int const root = node_of(group.members.front());
    for (Rank const member : group.members) {
        auto const node = static_cast<LinkId>(node_of(member));
        loads_.add(node, bytes);
        loads_.add(nodes + node, bytes);
        if (node_of(member) != root) {
            interconnect_->route(node_of(member), root, route);
            for (RouteLink const& each : route) {
                if (each.link >= 2 * nodes) {
                    tree[each.link] = std::max(tree[each.link], each.share);
                }
            }
        }
    }
    for (auto const& [link, share] : tree) {
        loads_.add(link, share * bytes);
    }
}

/// Adds what this rank sends in the step. Returns the chain of latencies in it.
double PlacedTraffic::latency_of_step(Plan const& plan, Operation const& operation) {
    auto const group_id = group_of(operation);
    if (!group_id) {
        return 0;
    }
    Group const& group = plan.groups.at(*group_id);
    auto const ranks = static_cast<double>(group.members.size());
    auto const me = static_cast<std::size_t>(std::find(group.members.begin(), group.members.end(), plan.me) -
                                             group.members.begin());
    Rank const next = group.members[(me + 1) % group.members.size()];
    // Data pass all links of a ring in turn. The first rank of a group is asked for all of them.
    auto const around = [&](double bytes, double steps) {
        (void)send(plan.me, next, bytes);
        double sum = 0;
        for (std::size_t at = 0; me == 0 && at < group.members.size(); ++at) {
            sum += latency(group.members[at], group.members[(at + 1) % group.members.size()]);
        }
        return steps * sum / ranks;
    };
    switch (kind_of(operation)) {
    case OperationKind::exchange:
    case OperationKind::send: {
        double longest = 0;
        for (Block const& block : sent_blocks(operation)) {
            auto const bytes = static_cast<double>(block.bytes * messages_of_block(operation));
            longest = std::max(longest, send(plan.me, world_rank(plan, *group_id, block.peer), bytes));
        }
        return longest;
    }
    case OperationKind::all_reduce: {
        auto const bytes = static_cast<double>(std::get<AllReduce>(operation).bytes);
        if (allreduce_ == AllreduceBy::ring) {
            return around(2 * bytes * (ranks - 1) / ranks, 2 * (ranks - 1));
        }
        if (me == 0 && ranks > 1) {
            reduce_in_switches(group, bytes);
        }
        return ranks > 1 ? 2.0 * topology_.reduction_depth() * costs_.latency_ps : 0;
    }
    case OperationKind::reduce_scatter:
        return around(static_cast<double>(std::get<ReduceScatter>(operation).bytes) * (ranks - 1) / ranks, ranks - 1);
    case OperationKind::all_gather:
        return around(static_cast<double>(std::get<AllGather>(operation).bytes) * (ranks - 1) / ranks, ranks - 1);
    case OperationKind::broadcast: {
        auto const& step = std::get<Broadcast>(operation);
        bool const last = (me + 1) % group.members.size() == static_cast<std::size_t>(step.root);
        return last ? 0 : around(static_cast<double>(step.bytes), ranks - 1);
    }
    case OperationKind::reduce: {
        auto const& step = std::get<Reduce>(operation);
        return me == static_cast<std::size_t>(step.root) ? 0 : around(static_cast<double>(step.bytes), ranks - 1);
    }
    case OperationKind::gather: {
        auto const& step = std::get<Gather>(operation);
        Bytes const part = shares_of(plan, step).of(static_cast<Rank>(me));
        return send(plan.me, world_rank(plan, step.group, step.root), static_cast<double>(part));
    }
    case OperationKind::scatter: {
        auto const& step = std::get<Scatter>(operation);
        double longest = 0;
        for (std::size_t at = 0; me == static_cast<std::size_t>(step.root) && at < group.members.size(); ++at) {
            Bytes const part = shares_of(plan, step).of(static_cast<Rank>(at));
            longest = std::max(longest, send(plan.me, group.members[at], static_cast<double>(part)));
        }
        return longest;
    }
    case OperationKind::recv:
    case OperationKind::barrier:
    case OperationKind::compute:
        break;
    }
    return 0;
}

void PlacedTraffic::add(Plan const& plan) {
    std::vector<double> ends(plan.steps.size());
    for (std::size_t index = 0; index < plan.steps.size(); ++index) {
        Step const& step = plan.steps[index];
        double start = 0;
        for (StepId const before : step.after) {
            start = std::max(start, ends[before]);
        }
        ends[index] = start + latency_of_step(plan, step.operation);
        latency_ps_ = std::max(latency_ps_, ends[index]);
    }
}

void PlacedTraffic::add_uniform(double bytes) {
    int const nodes = interconnect_->nodes();
    if (nodes < 2) {
        return;
    }
    LinkLoads const uniform = uniform_loads(*interconnect_, bytes / (nodes - 1));
    for (LinkId link = 0; link < interconnect_->links(); ++link) {
        loads_.add(link, uniform.bytes(link));
    }
    latency_ps_ = std::max(latency_ps_, costs_.latency_ps);
}

Bound PlacedTraffic::bound() const {
    return bound_of(loads_, latency_ps_, costs_.bytes_per_ps);
}

}  // namespace dlmb::predict
