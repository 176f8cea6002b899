// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/plan/group_index.hpp"
#include "common/plan/plan_text.hpp"
#include "common/plan/step_tags.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace dlmb {
namespace {

using Label = std::uint64_t;

/// Writes one rank's block. A step begins after one label and ends in one label, so that dependencies between steps
/// with many messages stay linear; the calc of 0 that joins several messages costs nothing.
class RankWriter {
public:
    RankWriter(Plan const& plan, StepTags const& tags, std::string& text)
        : plan_(plan), tags_(tags.of(plan)), text_(text) {}

    void write() {
        add("rank {} {{\n", plan_.me);
        for (std::size_t id = 0; id < plan_.steps.size(); ++id) {
            step_ = static_cast<StepId>(id);
            begin_.clear();
            for (StepId const earlier : plan_.steps[id].after) {
                begin_.push_back(end_[earlier]);
            }
            last_.clear();
            std::visit(*this, plan_.steps[id].operation);
            end_.push_back(join());
        }
        add("}}\n");
    }

    void operator()(Exchange const& step) {
        Tag const tag = tags_[step_];
        for (Block const& block : step.recv) {
            recv(block.bytes, world(step.group, block.peer), tag);
        }
        for (Block const& block : step.send) {
            send(block.bytes, world(step.group, block.peer), tag);
        }
    }
    void operator()(Send const& step) {
        for (Bytes message = 0; message < step.window.messages; ++message) {
            send(step.to.bytes, world(step.group, step.to.peer), static_cast<Tag>(step.channel));
        }
    }
    void operator()(Recv const& step) {
        for (Bytes message = 0; message < step.window.messages; ++message) {
            recv(step.from.bytes, world(step.group, step.from.peer), static_cast<Tag>(step.channel));
        }
    }
    void operator()(AllGather const& step) {
        std::vector<Rank> const& members = plan_.groups[step.group].members;
        Shares const shares = shares_of(plan_, step);
        Tag const tag = tags_[step_];
        for (std::size_t place = 0; place < members.size(); ++place) {
            recv(shares.of(static_cast<Rank>(place)), members[place], tag);
        }
        for (Rank const peer : members) {
            send(shares.of(my_place(step.group)), peer, tag);
        }
    }
    void operator()(Gather const& step) {
        to_root(step, [shares = shares_of(plan_, step)](Rank place) { return shares.of(place); });
    }
    void operator()(Reduce const& step) {
        to_root(step, [&step](Rank /*place*/) { return step.bytes; });
    }
    void operator()(Scatter const& step) {
        from_root(step, [shares = shares_of(plan_, step)](Rank place) { return shares.of(place); });
    }
    void operator()(Broadcast const& step) {
        from_root(step, [&step](Rank /*place*/) { return step.bytes; });
    }
    // Dissemination: in round k a rank has heard of 2^k others.
    void operator()(Barrier const& step) {
        std::vector<Rank> const& members = plan_.groups[step.group].members;
        auto const me = static_cast<std::size_t>(my_place(step.group));
        Tag const tag = tags_[step_];
        for (std::size_t distance = 1; distance < members.size(); distance *= 2) {
            begin_round();
            recv(1, members[(me + members.size() - distance) % members.size()], tag);
            send(1, members[(me + distance) % members.size()], tag);
        }
    }
    // Chunk indices run so that a rank forwards what it has just received: in round t of a reduce-scatter that leaves
    // chunk r on rank r it sends chunk r - 1 - t. The all-gather after it goes on with the finished chunk: r - t.
    void operator()(ReduceScatter const& step) {
        ring(step.group, 1,
             [shares = shares_of(plan_, step)](std::size_t chunk) { return shares.of(static_cast<Rank>(chunk)); });
    }
    void operator()(AllReduce const& step) {
        Bytes const ranks = plan_.groups[step.group].members.size();
        Bytes const elements = step.bytes / size_of(step.element);
        // The first (elements mod ranks) chunks have one element more.
        auto const chunk_bytes = [&](std::size_t chunk) {
            return (elements / ranks + (chunk < elements % ranks ? 1 : 0)) * size_of(step.element);
        };
        ring(step.group, 1, chunk_bytes);
        ring(step.group, 0, chunk_bytes);
    }
    void operator()(Compute const& step) { message("calc {}", step.busy_ns); }

private:
    [[nodiscard]] Rank world(GroupId group, Rank peer) const { return world_rank(plan_, group, peer); }

    [[nodiscard]] Rank my_place(GroupId group) const { return rank_in(plan_.groups[group], plan_.me).value(); }

    /// One message from every rank to the root; `bytes_of` their group rank.
    template <class Step, class BytesOf>
    void to_root(Step const& step, BytesOf bytes_of) {
        Tag const tag = tags_[step_];
        Rank const root = world(step.group, step.root);
        if (root != plan_.me) {
            send(bytes_of(my_place(step.group)), root, tag);
            return;
        }
        std::vector<Rank> const& members = plan_.groups[step.group].members;
        for (std::size_t place = 0; place < members.size(); ++place) {
            recv(bytes_of(static_cast<Rank>(place)), members[place], tag);
        }
    }
    /// The same the other way round.
    template <class Step, class BytesOf>
    void from_root(Step const& step, BytesOf bytes_of) {
        Tag const tag = tags_[step_];
        Rank const root = world(step.group, step.root);
        if (root != plan_.me) {
            recv(bytes_of(my_place(step.group)), root, tag);
            return;
        }
        std::vector<Rank> const& members = plan_.groups[step.group].members;
        for (std::size_t place = 0; place < members.size(); ++place) {
            send(bytes_of(static_cast<Rank>(place)), members[place], tag);
        }
    }

    /// One pass around the ring: every rank sends a chunk to the next one and gets one from the previous, ranks - 1
    /// times, each round after the one before it.
    template <class ChunkBytes>
    void ring(GroupId group, std::size_t first_behind, ChunkBytes chunk_bytes) {
        std::vector<Rank> const& members = plan_.groups[group].members;
        std::size_t const ranks = members.size();
        auto const me = static_cast<std::size_t>(my_place(group));
        Tag const tag = tags_[step_];
        for (std::size_t round = 0; round + 1 < ranks; ++round) {
            begin_round();
            std::size_t const sent = me + 2 * ranks - first_behind - round;
            recv_some(chunk_bytes((sent - 1) % ranks), members[(me + ranks - 1) % ranks], tag);
            send_some(chunk_bytes(sent % ranks), members[(me + 1) % ranks], tag);
        }
    }
    /// What follows starts after everything that was written of this step.
    void begin_round() {
        if (!last_.empty()) {
            begin_ = std::exchange(last_, {});
        }
    }
    void send_some(Bytes bytes, Rank to, Tag tag) {
        if (bytes > 0) {
            send(bytes, to, tag);
        }
    }
    void recv_some(Bytes bytes, Rank from, Tag tag) {
        if (bytes > 0) {
            recv(bytes, from, tag);
        }
    }

    void send(Bytes bytes, Rank to, Tag tag) {
        if (to != plan_.me) {
            message("send {}b to {} tag {}", bytes, to, tag);
        }
    }
    void recv(Bytes bytes, Rank from, Tag tag) {
        if (from != plan_.me) {
            message("recv {}b from {} tag {}", bytes, from, tag);
        }
    }

    /// A line with a label of its own that requires what the step begins after.
    template <class... Values>
    void message(fmt::format_string<Values...> format, Values&&... values) {
        Label const label = next_++;
        add("l{}: ", label);
        add(format, std::forward<Values>(values)...);
        add("\n");
        for (Label const earlier : begin_) {
            add("l{} requires l{}\n", label, earlier);
        }
        last_.push_back(label);
    }
    /// The one label that a later step waits for.
    Label join() {
        if (last_.size() != 1) {
            begin_round();
            message("calc 0");
            return last_.back();
        }
        return last_.front();
    }

    template <class... Values>
    void add(fmt::format_string<Values...> format, Values&&... values) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    }

    Plan const& plan_;
    std::vector<Tag> tags_;  // by StepId
    std::string& text_;
    StepId step_ = 0;
    Label next_ = 1;
    std::vector<Label> begin_;  // what the next message requires
    std::vector<Label> last_;   // messages of this step since its last round began
    std::vector<Label> end_;    // by StepId
};

}  // namespace

void write_goal(PlanSource const& plans, TextSink const& sink) {
    StepTags const tags(plans);
    sink(fmt::format("num_ranks {}\n", plans.ranks()));
    plans.each([&](Plan const& plan) {
        std::string text = "\n";
        RankWriter(plan, tags, text).write();
        sink(text);
    });
}

std::string to_goal(PlanSource const& plans) {
    std::string text;
    write_goal(plans, [&](std::string_view piece) { text += piece; });
    return text;
}

}  // namespace dlmb
