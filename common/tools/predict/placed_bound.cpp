// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/placed_bound.hpp"

#include "common/base/error.hpp"
#include "common/tools/predict/simulator/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace dlmb::predict {
namespace {

constexpr Picoseconds ps_per_ns = 1000;

/// The machine with nothing but L.
Machine latencies_of(Machine const& machine) {
    Machine bare;
    bare.ranks_per_node = machine.ranks_per_node;
    bare.eager_limit = machine.eager_limit;
    for (std::size_t level = 0; level < bare.levels.size(); ++level) {
        for (SizeSegment const& segment : machine.levels[level]) {
            bare.levels[level].push_back({segment.up_to, {.latency = segment.parameters.latency}});
        }
    }
    return bare;
}

/// Ranks of one node need no network.
bool is_on_one_node(Group const& group, std::vector<int> const& nodes) {
    auto const node_of = [&](Rank rank) { return nodes.at(static_cast<std::size_t>(rank)); };
    return std::all_of(group.members.begin(), group.members.end(),
                       [&](Rank rank) { return node_of(rank) == node_of(group.members.front()); });
}

/// Adds a tree of switches: each node's bytes in and out, and those of a switch once upwards. Downwards the tree is the
/// same, so that its busiest link is counted already. The routes to one node are such a tree.
void reduce_in_switches(Group const& group, double bytes, Interconnect const& interconnect,
                        std::vector<int> const& nodes, LinkLoads& loads) {
    auto const inner = 2 * static_cast<LinkId>(interconnect.nodes());
    std::set<LinkId> tree;
    std::vector<LinkId> route;
    std::set<int> members;
    for (Rank const member : group.members) {
        members.insert(nodes.at(static_cast<std::size_t>(member)));
    }
    int const root = nodes.at(static_cast<std::size_t>(group.members.front()));
    for (int const node : members) {
        loads.add(static_cast<LinkId>(node), bytes);
        loads.add(inner / 2 + static_cast<LinkId>(node), bytes);
        if (node != root) {
            interconnect.route(node, root, route);
            std::copy_if(route.begin(), route.end(), std::inserter(tree, tree.end()),
                         [inner](LinkId link) { return link >= inner; });
        }
    }
    for (LinkId const link : tree) {
        loads.add(link, bytes);
    }
}

Collective const* allreduce_in(Step const& step) {
    auto const* const collective = std::get_if<Collective>(&step.operation);
    return collective != nullptr && collective->kind == OperationKind::all_reduce ? collective : nullptr;
}

/// Computations take no time, and what switches reduce is no message: it takes `tree_ps`.
Plan without_computation(Plan plan, bool in_switches, Picoseconds tree_ps, std::vector<int> const& nodes) {
    for (Step& step : plan.steps) {
        auto const* const allreduce = allreduce_in(step);
        if (std::holds_alternative<Compute>(step.operation)) {
            step.operation = Compute{};
        } else if (allreduce != nullptr && in_switches) {
            bool const alone = is_on_one_node(plan.groups[allreduce->group], nodes);
            step.operation = Compute{.busy_ns = alone ? 0 : tree_ps / ps_per_ns};
        }
    }
    return plan;
}

/// Ranks that stand for others send what these send, moved on.
void add_messages(Program const& program, std::vector<int> const& nodes, LinkLoads& loads) {
    auto const node_of = [&](Rank rank) { return nodes.at(static_cast<std::size_t>(rank % program.world)); };
    for (Rank rank = 0; rank < program.ranks(); ++rank) {
        std::map<Rank, double> bytes_to;
        auto const at = static_cast<std::size_t>(rank);
        for (TaskId task = program.first_task[at]; task < program.first_task[at + 1]; ++task) {
            if (program.tasks[task].kind == TaskKind::send) {
                bytes_to[program.tasks[task].peer] += static_cast<double>(program.tasks[task].amount);
            }
        }
        for (auto const& [to, bytes] : bytes_to) {
            for (Rank further = 0; further < program.world; further += program.ranks()) {
                loads.add(node_of(rank + further), node_of(to + further), bytes);
            }
        }
    }
}

}  // namespace

Bound bound_of_plans(PlanSource const& plans, LoweringChoice choice, Machine const& machine,
                     Interconnect const& interconnect, std::vector<int> const& nodes, double bytes_per_ps) {
    Topology const& topology = interconnect.topology();
    LinkLoads loads(interconnect);
    auto const asked = choice.algorithms.find(OperationKind::all_reduce);
    bool const in_switches = asked != choice.algorithms.end() && asked->second == in_network;
    if (in_switches) {
        if (topology.reduction_depth() == 0) {
            throw UsageError(fmt::format("topology '{}' has no switches that reduce", topology.text()));
        }
        choice.algorithms.erase(asked);
        plans.each([&](Plan const& plan) {
            for (Step const& step : plan.steps) {
                auto const* const allreduce = allreduce_in(step);
                Group const* const group = allreduce == nullptr ? nullptr : &plan.groups[allreduce->group];
                if (group != nullptr && !is_on_one_node(*group, nodes) && group->members.front() == plan.me) {
                    reduce_in_switches(*group, static_cast<double>(allreduce->bytes), interconnect, nodes, loads);
                }
            }
        });
    }
    Machine bare = latencies_of(machine);
    Picoseconds const latency = bare.level(Level::system).front().parameters.latency;
    PlanSource const messages(plans.ranks(), [&](Rank rank) {
        return without_computation(plans.of(rank), in_switches, 2 * Picoseconds{topology.reduction_depth()} * latency,
                                   nodes);
    });
    Program program = lower(messages, choice, period_of(messages, choice, std::max(1, machine.ranks_per_node)));
    add_messages(program, nodes, loads);
    auto const chain = static_cast<double>(simulate(std::move(program), bare).time);
    return bound_of(loads, chain, bytes_per_ps);
}

}  // namespace dlmb::predict
