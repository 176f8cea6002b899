// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The basic JSON of PARAM (train/comms/pt/commsTraceReplay.py, revision 1e115ff). Sizes and splits are elements. An
// operation is started by its entry and finished by a "wait" with its req, which stands where the first step waits for
// it: what the plan has in flight together, the replay has, too.
#include "common/base/error.hpp"
#include "common/formats/plan/group_index.hpp"
#include "common/formats/plan/traffic.hpp"
#include "common/tools/plan/exports/exports.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>
#include <set>

namespace dlmb::trace {
namespace {

/// fp8 is none of PARAM's types.
std::string_view param_name(Element element) {
    switch (element) {
    case Element::int8:
        return "int8";
    case Element::int32:
        return "int32";
    case Element::int64:
        return "long";
    case Element::fp16:
        return "float16";
    case Element::bf16:
        return "bfloat16";
    case Element::fp32:
        return "float32";
    case Element::fp64:
        return "float64";
    case Element::byte:
    case Element::fp8:
        break;
    }
    return "byte";
}

/// Writes the entries of one rank.
class RankProgramFile {
public:
    RankProgramFile(Plan const& plan, GroupNumbers const& groups) : plan_(plan), groups_(groups) {}

    std::string write() && {
        std::set<std::size_t> known;
        for (Step const& step : plan_.steps) {
            auto const group = collective_group(step.operation);
            if (group && known.insert(groups_.of(plan_.groups.at(*group))).second) {
                Group const& members = plan_.groups[*group];
                entry(R"("comms":"init","req":-1,"pg_id":{},"global_ranks":[{}],"world_size":{})", groups_.of(members),
                      fmt::join(members.members, ","), members.members.size());
            }
        }
        for (std::size_t id = 0; id < plan_.steps.size(); ++id) {
            id_ = id;
            std::set<std::size_t> requests;  // what this step waits for
            for (StepId const earlier : plan_.steps[id].after) {
                requests.insert(ends_[earlier].begin(), ends_[earlier].end());
            }
            if (std::holds_alternative<Compute>(plan_.steps[id].operation)) {
                ends_.push_back(std::move(requests));
                continue;
            }
            for (std::size_t const request : requests) {
                wait(request);
            }
            std::visit(*this, plan_.steps[id].operation);
            open_.insert(id);
            ends_.push_back({id});
        }
        while (!open_.empty()) {
            wait(*open_.begin());
        }
        return text_.empty() ? "[]\n" : text_ + "\n]\n";
    }

    void operator()(Exchange const& step) {
        std::vector<Bytes> in(plan_.groups.at(step.group).members.size(), 0);
        std::vector<Bytes> out = in;
        for (Block const& block : step.send) {
            in[static_cast<std::size_t>(block.peer)] = block.bytes;
        }
        for (Block const& block : step.recv) {
            out[static_cast<std::size_t>(block.peer)] = block.bytes;
        }
        exchange(step.group, Element::byte, in, out);
    }
    void operator()(Send const& step) {
        message("isend", plan_.me, world_rank(plan_, step.group, step.to.peer), step.to.bytes * step.window.messages);
    }
    void operator()(Recv const& step) {
        message("irecv", world_rank(plan_, step.group, step.from.peer), plan_.me,
                step.from.bytes * step.window.messages);
    }
    void operator()(Put const& /*step*/) { refuse_signals(); }
    void operator()(WaitSignal const& /*step*/) { refuse_signals(); }
    void operator()(AllReduce const& step) { collective("all_reduce", step, step.bytes, step.bytes); }
    void operator()(Reduce const& step) { collective("reduce", step, step.bytes, step.bytes); }
    void operator()(Broadcast const& step) { collective("broadcast", step, step.bytes, step.bytes); }
    void operator()(AllGather const& step) {
        Shares const shares = shares_of(plan_, step);
        if (has_uneven_shares(step)) {
            exchange(step.group, step.element, all(step, shares.of(me(step))), each(step));
        } else {
            collective("all_gather_base", step, shares.of(me(step)), step.bytes);
        }
    }
    void operator()(ReduceScatter const& step) {
        Shares const shares = shares_of(plan_, step);
        if (has_uneven_shares(step)) {
            exchange(step.group, step.element, each(step), all(step, shares.of(me(step))));
        } else {
            collective("reduce_scatter_base", step, step.bytes, shares.of(me(step)));
        }
    }
    void operator()(Gather const& step) {
        if (has_uneven_shares(step)) {
            exchange(step.group, step.element, one(step, shares_of(plan_, step).of(me(step))),
                     me(step) == step.root ? each(step) : all(step, 0));
        } else {
            collective("gather", step, shares_of(plan_, step).of(me(step)), step.bytes);
        }
    }
    void operator()(Scatter const& step) {
        if (has_uneven_shares(step)) {
            exchange(step.group, step.element, me(step) == step.root ? each(step) : all(step, 0),
                     one(step, shares_of(plan_, step).of(me(step))));
        } else {
            collective("scatter", step, step.bytes, shares_of(plan_, step).of(me(step)));
        }
    }
    void operator()(Barrier const& step) {
        entry(R"("comms":"barrier","req":{},"pg_id":{})", id_, groups_.of(plan_.groups.at(step.group)));
    }
    void operator()(Compute const& /*step*/) {}

private:
    [[noreturn]] static void refuse_signals() {
        throw UsageError("the plans have puts, and PARAM has no one-sided operations; GOAL and Chakra have messages");
    }
    using Parts = std::vector<Bytes>;  // in bytes, by rank of the group

    [[nodiscard]] Rank me(auto const& step) const { return rank_in(plan_.groups.at(step.group), plan_.me).value(); }
    [[nodiscard]] Parts all(auto const& step, Bytes part) const {
        return Parts(plan_.groups.at(step.group).members.size(), part);
    }
    [[nodiscard]] Parts one(auto const& step, Bytes part) const {
        Parts parts = all(step, 0);
        parts.at(static_cast<std::size_t>(step.root)) = part;
        return parts;
    }
    [[nodiscard]] static Parts each(auto const& step) { return step.shares; }

    void exchange(GroupId group, Element element, Parts in, Parts out) {
        auto const in_elements = [&](Parts& parts) {
            for (Bytes& part : parts) {
                part /= size_of(element);
            }
            return std::accumulate(parts.begin(), parts.end(), Bytes{0});
        };
        Bytes const in_size = in_elements(in);
        Bytes const out_size = in_elements(out);
        entry(R"("comms":"all_to_allv","req":{},"pg_id":{},"in_msg_size":{},"out_msg_size":{},"in_split":[{}],)"
              R"("out_split":[{}],"dtype":"{}")",
              id_, groups_.of(plan_.groups.at(group)), in_size, out_size, fmt::join(in, ","), fmt::join(out, ","),
              param_name(element));
    }
    void message(std::string_view name, Rank from, Rank to, Bytes bytes) {
        entry(R"("comms":"{}","req":{},"src_rank":{},"dst_rank":{},"use_batch":false,"in_msg_size":{},)"
              R"("out_msg_size":{},"dtype":"byte")",
              name, id_, from, to, bytes, bytes);
    }
    void collective(std::string_view name, auto const& step, Bytes in, Bytes out) {
        Bytes const element = size_of(step.element);
        std::string root;
        if constexpr (requires { step.root; }) {
            root = fmt::format(R"(,"root":{})", world_rank(plan_, step.group, step.root));
        }
        entry(R"("comms":"{}","req":{},"pg_id":{},"in_msg_size":{},"out_msg_size":{},"dtype":"{}"{})", name, id_,
              groups_.of(plan_.groups.at(step.group)), in / element, out / element, param_name(step.element), root);
    }
    void wait(std::size_t const request) {
        if (open_.erase(request) > 0) {
            entry(R"("comms":"wait","req":{})", request);
        }
    }
    template <class... Values>
    void entry(fmt::format_string<Values...> fields, Values&&... values) {
        text_ += text_.empty() ? "[\n{" : ",\n{";
        text_ += fmt::format(fields, std::forward<Values>(values)...);
        text_ += '}';
    }

    Plan const& plan_;
    GroupNumbers const& groups_;
    std::string text_;
    std::size_t id_ = 0;                       // of the step that is written
    std::set<std::size_t> open_;               // operations that nothing waited for
    std::vector<std::set<std::size_t>> ends_;  // by StepId: the operations after which it is over
};

void add_losses(LossCounter& losses, Plan const& plan) {
    for (Step const& step : plan.steps) {
        losses.add_common(step);
        losses.add("computation", std::holds_alternative<Compute>(step.operation));
        losses.add("fp8: it is byte", element_of(step.operation) == Element::fp8);
        losses.add("kind of reduction", std::holds_alternative<AllReduce>(step.operation) ||
                                            std::holds_alternative<Reduce>(step.operation) ||
                                            std::holds_alternative<ReduceScatter>(step.operation));
        losses.add(fmt::format("kind of a collective: {} of unequal parts is all_to_allv", name_of(step.operation)),
                   has_uneven_shares(step.operation));
        losses.add("channel of a message: those between two ranks keep their order",
                   std::holds_alternative<Send>(step.operation) || std::holds_alternative<Recv>(step.operation));
        losses.add("a window of messages: it is one message", messages_of_block(step.operation) > 1);
    }
}

}  // namespace

Losses write_param(PlanSource const& plans, FileSink const& sink) {
    GroupNumbers const groups(plans);
    LossCounter losses;
    plans.each([&](Plan const& plan) {
        add_losses(losses, plan);
        sink(fmt::format("{}.json", plan.me), RankProgramFile(plan, groups).write());
    });
    return losses.take();
}

}  // namespace dlmb::trace
