// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/group_index.hpp"
#include "common/formats/plan/messages.hpp"
#include "common/formats/plan/plan_text.hpp"

#include <fmt/format.h>

#include <iomanip>
#include <map>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

namespace dlmb {
namespace {

/// Writes one rank's cluster and the edges that begin in it. A step has a name that other ranks know without its plan:
/// that of a collective is its tag, that of a message is its channel and its place in the stream between the two ranks.
class ClusterWriter {
public:
    ClusterWriter(Plan const& plan, Messages const& messages, std::set<std::uint64_t>& hubs, std::string& text)
        : plan_(plan), tags_(messages.tags_of(plan)), hubs_(hubs), text_(text) {}

    void write() {
        for (std::size_t id = 0; id < plan_.steps.size(); ++id) {
            names_.push_back(std::visit([&](auto const& step) { return name(step, id); }, plan_.steps[id].operation));
        }
        add("  subgraph cluster_{} {{\n    label=\"rank {}\"\n", plan_.me, plan_.me);
        for (std::size_t id = 0; id < plan_.steps.size(); ++id) {
            add("    {} [label={}]\n", names_[id], quoted(plan_.steps[id]));
        }
        for (std::size_t id = 0; id < plan_.steps.size(); ++id) {
            for (StepId const earlier : plan_.steps[id].after) {
                add("    {} -> {} [style=dashed]\n", names_[earlier], names_[id]);
            }
        }
        add("  }}\n");
        for (std::size_t id = 0; id < plan_.steps.size(); ++id) {
            id_ = id;
            std::visit(*this, plan_.steps[id].operation);
        }
    }

    void operator()(Exchange const& step) {
        for (Block const& block : step.send) {
            Rank const peer = world_rank(plan_, step.group, block.peer);
            edge(names_[id_], of_collective(peer, tags_[id_]), block.bytes);
        }
    }
    void operator()(Send const& step) {
        Rank const peer = world_rank(plan_, step.group, step.to.peer);
        edge(names_[id_], of_recv(peer, plan_.me, step.channel, sent_.at(id_)), step.to.bytes * step.window.messages);
    }
    void operator()(Recv const& /*step*/) {}
    void operator()(Put const& step) {
        for_each_signal(step.signals, step.send,
                        [&](Signal const& signal, std::span<Block const> before, std::size_t /*first*/) {
                            Rank const peer = world_rank(plan_, step.group, signal.peer);
                            Bytes bytes = 0;
                            for (Block const& block : before) {
                                bytes += block.bytes;
                            }
                            edge(names_[id_], of_signal(peer, plan_.me, streams_[{plan_.me, peer, -1}]++), bytes);
                        });
    }
    void operator()(WaitSignal const& step) {
        for (Signal const& signal : step.signals) {
            Rank const peer = world_rank(plan_, step.group, signal.peer);
            edge(of_signal(plan_.me, peer, received_[{peer, plan_.me, -1}]++), names_[id_], flag_bytes);
        }
    }
    void operator()(Compute const& /*step*/) {}
    void operator()(Barrier const& /*step*/) { to_hub(0); }
    template <class Collective>
    void operator()(Collective const& step) {
        to_hub(step.bytes);
    }

private:
    using MessageStream = std::tuple<Rank, Rank, int>;  // from, to, channel

    static std::string quoted(Step const& step) {
        std::ostringstream label;
        label << std::quoted(step.label);
        return fmt::format("\"{}\\n{}", name_of(step.operation), label.str().substr(1));
    }
    static std::string of_collective(Rank rank, std::uint64_t tag) { return fmt::format("r{}_t{}", rank, tag); }
    static std::string of_recv(Rank me, Rank from, int channel, std::size_t place) {
        return fmt::format("r{}_from{}_c{}_{}", me, from, channel, place);
    }

    std::string name(Send const& step, std::size_t id) {
        Rank const peer = world_rank(plan_, step.group, step.to.peer);
        std::size_t const place = streams_[{plan_.me, peer, step.channel}]++;
        sent_[id] = place;
        return fmt::format("r{}_to{}_c{}_{}", plan_.me, peer, step.channel, place);
    }
    std::string name(Recv const& step, std::size_t /*id*/) {
        Rank const peer = world_rank(plan_, step.group, step.from.peer);
        return of_recv(plan_.me, peer, step.channel, received_[{peer, plan_.me, step.channel}]++);
    }
    static std::string of_signal(Rank me, Rank from, std::size_t place) {
        return fmt::format("r{}_signal{}_{}", me, from, place);
    }
    template <class Other>
    std::string name(Other const& /*step*/, std::size_t id) const {
        return collective_group(plan_.steps[id].operation) ? of_collective(plan_.me, tags_[id])
                                                           : fmt::format("r{}_step{}", plan_.me, id);
    }

    /// What a library does inside is not known: all ranks of a collective meet in one node.
    void to_hub(Bytes bytes) {
        Step const& step = plan_.steps[id_];
        std::uint64_t const tag = tags_[id_];
        if (hubs_.insert(tag).second) {
            add("  t{} [shape=ellipse label={}]\n", tag, quoted(step));
        }
        edge(names_[id_], fmt::format("t{}", tag), bytes);
    }
    void edge(std::string const& from, std::string const& to, Bytes bytes) {
        add("  {} -> {} [label=\"{}\"]\n", from, to, bytes);
    }
    template <class... Values>
    void add(fmt::format_string<Values...> format, Values&&... values) {
        text_ += fmt::format(format, std::forward<Values>(values)...);
    }

    Plan const& plan_;
    std::vector<std::uint64_t> tags_;  // by StepId
    std::set<std::uint64_t>& hubs_;    // collectives whose node is written
    std::string& text_;
    std::size_t id_ = 0;
    std::vector<std::string> names_;                 // by StepId
    std::map<std::size_t, std::size_t> sent_;        // place in its stream by StepId of a Send
    std::map<MessageStream, std::size_t> streams_;   // Sends so far
    std::map<MessageStream, std::size_t> received_;  // Recvs so far
};

}  // namespace

void write_dot(PlanSource const& plans, TextSink const& sink) {
    Messages const messages(plans);
    std::set<std::uint64_t> hubs;
    sink("digraph plan {\n  rankdir=LR\n  node [shape=box]\n");
    plans.each([&](Plan const& plan) {
        std::string text;
        ClusterWriter(plan, messages, hubs, text).write();
        sink(text);
    });
    sink("}\n");
}

}  // namespace dlmb
