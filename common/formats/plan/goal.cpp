// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/messages.hpp"
#include "common/formats/plan/plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace dlmb {
namespace {

using Label = std::uint64_t;

/// Writes one rank's block. A step begins after one label and ends in one label, so that dependencies between steps
/// with many messages stay linear; the calc of 0 that joins several messages costs nothing. Simulators subtract 1 of
/// a size, so a message without bytes is written as one of a byte.
class RankWriter {
public:
    RankWriter(Plan const& plan, std::string& text) : plan_(plan), text_(text) {}

    void write(Messages const& messages) {
        add("rank {} {{\n", plan_.me);
        messages.each(plan_, [&](StepId id, std::span<Message const> of_step) {
            begin_.clear();
            for (StepId const earlier : plan_.steps[id].after) {
                begin_.push_back(end_[earlier]);
            }
            last_.clear();
            if (auto const* compute = std::get_if<Compute>(&plan_.steps[id].operation)) {
                statement("calc {}", compute->busy_ns);
            }
            int round = 0;
            for (Message const& message : of_step) {
                if (std::exchange(round, message.round) != message.round) {
                    begin_round();
                }
                Bytes const bytes = std::max<Bytes>(message.bytes, 1);
                message.sends ? statement("send {}b to {} tag {}", bytes, message.peer, message.tag)
                              : statement("recv {}b from {} tag {}", bytes, message.peer, message.tag);
            }
            end_.push_back(join());
        });
        add("}}\n");
    }

private:
    /// What follows starts after everything that was written of this step.
    void begin_round() {
        if (!last_.empty()) {
            begin_ = std::exchange(last_, {});
        }
    }
    /// A line with a label of its own that requires what the step begins after.
    template <class... Values>
    void statement(fmt::format_string<Values...> format, Values&&... values) {
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
            statement("calc 0");
            return last_.back();
        }
        return last_.front();
    }

    template <class... Values>
    void add(fmt::format_string<Values...> format, Values&&... values) {
        text_ += fmt::format(format, std::forward<Values>(values)...);
    }

    Plan const& plan_;
    std::string& text_;
    Label next_ = 1;
    std::vector<Label> begin_;  // what the next statement requires
    std::vector<Label> last_;   // statements of this step since its last round began
    std::vector<Label> end_;    // by StepId
};

}  // namespace

void write_goal(PlanSource const& plans, TextSink const& sink) {
    Messages const messages(plans);
    sink(fmt::format("num_ranks {}\n", plans.ranks()));
    plans.each([&](Plan const& plan) {
        std::string text = "\n";
        RankWriter(plan, text).write(messages);
        sink(text);
    });
}

}  // namespace dlmb
