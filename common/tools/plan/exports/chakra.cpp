// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Execution traces of MLCommons Chakra: schema/protobuf/et_def.proto, version 0.0.4, written to the wire as it is read
// (formats/protobuf.hpp says why). Attributes have the alternatives that the feeder of Chakra takes
// (et_feeder_node.cpp); it sees 0 for others. ASTRA-sim runs allreduce, allgather, reduce_scatter and all-to-all of
// equal parts, sends and receives; of a broadcast it replays a time, others end it.
#include "common/formats/plan/group_index.hpp"
#include "common/formats/plan/messages.hpp"
#include "common/formats/plan/traffic.hpp"
#include "common/tools/plan/exports/exports.hpp"
#include "common/tools/plan/formats/chakra_nodes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace dlmb::trace {
namespace {

using namespace chakra;

// CollectiveCommType.
constexpr std::uint64_t all_reduce_type = 0;
constexpr std::uint64_t all_gather_type = 2;
constexpr std::uint64_t all_to_all_type = 6;
constexpr std::uint64_t reduce_scatter_type = 7;

/// Fields of one message of protobuf.
class ProtobufFields {
public:
    ProtobufFields& number(std::uint64_t field, std::uint64_t value) {
        varint(field << 3U);
        varint(value);
        return *this;
    }
    ProtobufFields& text(std::uint64_t field, std::string_view value) {
        varint(field << 3U | 2U);
        varint(value.size());
        bytes_ += value;
        return *this;
    }
    ProtobufFields& packed(std::uint64_t field, std::span<std::uint64_t const> values) {
        ProtobufFields list;
        for (std::uint64_t const value : values) {
            list.varint(value);
        }
        return values.empty() ? *this : text(field, list.bytes_);
    }
    ProtobufFields& attribute(std::string_view name, std::uint64_t alternative, std::uint64_t value) {
        return text(10, ProtobufFields().text(1, name).number(alternative, value).bytes_);
    }
    ProtobufFields& attribute(std::string_view name, std::string_view value) {
        return text(10, ProtobufFields().text(1, name).text(string_val, value).bytes_);
    }
    /// With its length in front, as records stand in a file.
    [[nodiscard]] std::string record() const {
        ProtobufFields length;
        length.varint(bytes_.size());
        return length.bytes_ + bytes_;
    }

private:
    void varint(std::uint64_t value) {
        constexpr std::uint64_t least_of_two_bytes = 0x80;
        for (; value >= least_of_two_bytes; value >>= 7U) {
            bytes_ += static_cast<char>(value | least_of_two_bytes);
        }
        bytes_ += static_cast<char>(value);
    }

    std::string bytes_;
};

struct CollectiveNode {
    std::uint64_t type = 0;
    Bytes bytes = 0;  // that the rank hands in
};

using GroupNumbers = std::map<std::vector<Rank>, std::size_t>;

/// An exchange in which this rank sends and gets equal parts, its own included.
bool is_even(Plan const& plan, Exchange const& step) {
    std::size_t const members = plan.groups.at(step.group).members.size();
    auto const all_equal = [&](std::vector<Block> const& blocks) {
        return blocks.size() == members && std::all_of(blocks.begin(), blocks.end(), [&](Block const& block) {
                   return block.bytes == step.send.front().bytes;
               });
    };
    return all_equal(step.send) && all_equal(step.recv);
}

/// What stays a collective. All ranks of a step must agree, so an exchange does if it is even on each of them.
class Collectives {
public:
    Collectives(PlanSource const& plans, Messages const& messages) : messages_(messages) {
        plans.each([&](Plan const& plan) {
            std::vector<std::uint64_t> const tags = messages_.tags_of(plan);
            for (std::size_t id = 0; id < plan.steps.size(); ++id) {
                auto const* exchange = std::get_if<Exchange>(&plan.steps[id].operation);
                if (exchange != nullptr && !is_even(plan, *exchange)) {
                    uneven_.insert(tags[id]);
                }
            }
        });
    }
    /// By step.
    [[nodiscard]] std::vector<std::optional<CollectiveNode>> of(Plan const& plan) const {
        std::vector<std::uint64_t> const tags = messages_.tags_of(plan);
        std::vector<std::optional<CollectiveNode>> collectives;
        for (std::size_t id = 0; id < plan.steps.size(); ++id) {
            collectives.push_back(of(plan, plan.steps[id].operation, tags[id]));
        }
        return collectives;
    }

private:
    [[nodiscard]] std::optional<CollectiveNode> of(Plan const& plan, Operation const& operation,
                                                   std::uint64_t tag) const {
        if (auto const* exchange = std::get_if<Exchange>(&operation); exchange != nullptr && !uneven_.contains(tag)) {
            return CollectiveNode{all_to_all_type, exchange->send.front().bytes * exchange->send.size()};
        }
        auto const* step = std::get_if<Collective>(&operation);
        if (step == nullptr || has_uneven_shares(operation)) {
            return std::nullopt;
        }
        switch (step->kind) {
        case OperationKind::all_reduce:
            return CollectiveNode{all_reduce_type, step->bytes};
        case OperationKind::all_gather:
            return CollectiveNode{all_gather_type, step->bytes / plan.groups.at(step->group).members.size()};
        case OperationKind::reduce_scatter:
            return CollectiveNode{reduce_scatter_type, step->bytes};
        default:
            return std::nullopt;
        }
    }

    Messages const& messages_;
    std::set<std::uint64_t> uneven_;  // by tag
};

/// Writes the nodes of one rank. A step is over with the nodes of its last round; several are joined by a computation
/// of no time, so that dependencies stay linear.
class RankFile {
public:
    RankFile(Plan const& plan, GroupNumbers const& groups) : plan_(plan), groups_(groups) {
        text_ = ProtobufFields().text(1, "0.0.4").record();
    }

    std::string write(Messages const& messages, std::vector<std::optional<CollectiveNode>> const& collectives) && {
        messages.each(plan_, [&](StepId id, std::span<Message const> of_step) {
            Step const& step = plan_.steps[id];
            begin_.clear();
            for (StepId const earlier : step.after) {
                begin_.insert(begin_.end(), ends_[earlier].begin(), ends_[earlier].end());
            }
            last_.clear();
            if (auto const* compute = std::get_if<Compute>(&step.operation)) {
                add_compute(*compute);
            } else if (collectives[id]) {
                add_collective(step.operation, *collectives[id]);
            } else {
                add_messages(of_step);
            }
            ends_.push_back(last_.empty() ? begin_ : last_);
        });
        return std::move(text_);
    }

private:
    ProtobufFields node(std::string_view name, std::uint64_t type) {
        ProtobufFields fields;
        fields.number(1, next_).text(2, name).number(3, type).packed(5, begin_);
        last_.push_back(next_++);
        return fields;
    }
    void add(ProtobufFields const& node) { text_ += node.record(); }

    void add_compute(Compute const& compute) {
        auto const us_at = [](Nanoseconds time) {
            constexpr Nanoseconds us = 1000;
            return static_cast<std::uint64_t>((time + us / 2) / us);
        };
        // Rounded where the time of the rank stands, so that what is lost of many does not add up.
        std::uint64_t const before = us_at(busy_ns_);
        busy_ns_ += compute.busy_ns;
        add_computation(us_at(busy_ns_) - before, compute.product);
    }
    void add_computation(std::uint64_t us, std::optional<ProductShape> const& product) {
        constexpr Bytes most = ~Bytes{0} >> 1U;
        Bytes operations = 0;
        if (product) {
            operations = 2;
            for (Bytes const edge : {product->rows, product->columns, product->inner}) {
                operations = trace::product(operations, edge).value_or(most);
            }
        }
        ProtobufFields fields = node("compute", type_computation);
        add(fields.number(7, us)
                .attribute("is_cpu_op", bool_val, 0)
                .attribute("num_ops", int64_val, operations)
                .attribute("tensor_size", uint64_val, 0));
    }
    void add_collective(Operation const& operation, CollectiveNode const& collective) {
        Group const& group = plan_.groups.at(*collective_group(operation));
        ProtobufFields fields = node(name_of(operation), type_collective);
        add(fields.attribute("is_cpu_op", bool_val, 0)
                .attribute("comm_type", int64_val, collective.type)
                .attribute("comm_size", int64_val, collective.bytes)
                .attribute("pg_name", std::to_string(groups_.at(group.members))));
    }
    void add_messages(std::span<Message const> messages) {
        int round = 0;
        for (Message const& message : messages) {
            if (std::exchange(round, message.round) != message.round && !last_.empty()) {
                begin_ = std::exchange(last_, {});
            }
            auto const me = static_cast<std::uint64_t>(plan_.me);
            auto const peer = static_cast<std::uint64_t>(message.peer);
            ProtobufFields fields = node(message.sends ? "send" : "recv", message.sends ? type_send : type_recv);
            add(fields.attribute("is_cpu_op", bool_val, 0)
                    .attribute("comm_size", int64_val, std::max<Bytes>(message.bytes, 1))
                    .attribute("comm_src", int32_val, message.sends ? me : peer)
                    .attribute("comm_dst", int32_val, message.sends ? peer : me)
                    .attribute("comm_tag", int32_val, message.tag));
        }
        if (last_.size() > 1) {
            begin_ = std::exchange(last_, {});
            add_computation(0, std::nullopt);
        }
    }

    using NodeIds = std::vector<std::uint64_t>;

    Plan const& plan_;
    GroupNumbers const& groups_;
    std::string text_;
    std::uint64_t next_ = 1;
    Nanoseconds busy_ns_ = 0;
    NodeIds begin_;              // what the next node waits for
    NodeIds last_;               // nodes of this step since its last round began
    std::vector<NodeIds> ends_;  // by StepId: the nodes after which it is over
};

/// The element of a reduction or of a collective that moves typed data; nothing of others.
std::optional<Element> element_of(Operation const& operation) {
    auto const* step = std::get_if<Collective>(&operation);
    return step == nullptr ? std::nullopt : std::optional(step->element);
}

void add_losses(LossCounter& losses, Plan const& plan, std::vector<std::optional<CollectiveNode>> const& collectives) {
    for (std::size_t id = 0; id < plan.steps.size(); ++id) {
        Step const& step = plan.steps[id];
        losses.add_common(step);
        auto const* compute = std::get_if<Compute>(&step.operation);
        losses.add("computation in ns: it is in us", compute != nullptr);
        losses.add("sizes of a matrix product: the number of operations is there",
                   compute != nullptr && compute->product);
        losses.add("element type", element_of(step.operation).value_or(Element::byte) != Element::byte);
        losses.add("kind of reduction", reduces(step.operation) && kind_of(step.operation) != OperationKind::reduce);
        losses.add("a message of 0 bytes: it has 1", is_empty_message(step.operation));
        if (collective_group(step.operation) && !collectives[id]) {
            losses.add(fmt::format("kind and group of a collective: {} is messages",
                                   std::holds_alternative<Exchange>(step.operation) ? "an exchange of unequal parts"
                                   : has_uneven_shares(step.operation)              ? "one of unequal parts"
                                                                       : fmt::format("a {}", name_of(step.operation))));
            losses.add("bytes that a rank gives itself", keeps_bytes(plan, step.operation));
        }
    }
}

}  // namespace

Losses write_chakra(PlanSource const& plans, FileSink const& sink) {
    Messages const messages(plans);
    GroupNumbers const groups = messages.group_numbers();
    Collectives const collectives(plans, messages);
    LossCounter losses;
    plans.each([&](Plan const& plan) {
        auto const kept = collectives.of(plan);
        add_losses(losses, plan, kept);
        sink(fmt::format("plan.{}.et", plan.me), RankFile(plan, groups).write(messages, kept));
    });
    std::string text;
    for (auto const& [members, number] : groups) {
        text += fmt::format("{}\"{}\": [{}]", text.empty() ? "{" : ",\n", number, fmt::join(members, ", "));
    }
    if (!text.empty()) {
        sink("comm_group.json", text + "}\n");
    }
    return losses.take();
}

}  // namespace dlmb::trace
