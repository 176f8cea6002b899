// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Execution traces of MLCommons Chakra (.et), one file per rank: nodes become calls and computations, groups come from
// a file of their own.
#include "common/base/error.hpp"
#include "common/formats/input/json_scan.hpp"
#include "common/tools/plan/formats/chakra_nodes.hpp"
#include "common/tools/plan/formats/formats.hpp"
#include "common/tools/plan/formats/torch_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dlmb::trace {
namespace {

using namespace chakra;

constexpr std::array collective_types{
    OperationKind::all_reduce,     OperationKind::reduce,    OperationKind::all_gather, OperationKind::gather,
    OperationKind::scatter,        OperationKind::broadcast, OperationKind::exchange,   OperationKind::reduce_scatter,
    OperationKind::reduce_scatter, OperationKind::barrier};
/// Numbers of eg_def.proto, from 1.
constexpr std::array old_collectives{OperationKind::all_reduce, OperationKind::exchange, OperationKind::all_gather,
                                     OperationKind::reduce_scatter};

/// Nodes stand in any order; what each waits for (parent; ctrl_deps and data_deps) says in which a rank comes to them.
class NodeOrder {
public:
    NodeOrder(Builder& builder, std::string const& file, std::vector<Node> const& nodes)
        : builder_(builder), file_(file), nodes_(nodes), open_(nodes.size()), followers_(nodes.size()) {}

    /// Places in `nodes`: each behind those that it waits for, else by their ids, as a simulator takes them. A node
    /// that is missing and nodes that wait in a circle make the trace incomplete; `file` is named then.
    std::vector<std::size_t> find() {
        for (std::size_t place = 0; place < nodes_.size(); ++place) {
            auto const [known, is_new] = places_.emplace(nodes_[place].id, place);
            if (!is_new) {
                builder_.incomplete(fmt::format("{}: {} and {} have the same id, {}", file_,
                                                nodes_[known->second].where(), nodes_[place].where(),
                                                nodes_[place].id));
            }
        }
        for (std::size_t place = 0; place < nodes_.size(); ++place) {
            for (std::uint64_t const id : nodes_[place].dependencies) {
                auto const known = places_.find(id);
                if (known == places_.end()) {
                    builder_.incomplete(fmt::format("{}: {} waits for node {}, which is not in the file", file_,
                                                    nodes_[place].where(), id));
                } else {
                    ++open_[place];
                    followers_[known->second].push_back(place);
                }
            }
        }
        for (std::size_t place = 0; place < nodes_.size(); ++place) {
            if (open_[place] == 0) {
                ready_.insert({nodes_[place].id, place});
            }
        }
        go_on();
        if (order_.size() < nodes_.size()) {
            report_circle();
        }
        return std::move(order_);
    }

private:
    void go_on() {
        while (!ready_.empty()) {
            std::size_t const place = ready_.extract(ready_.begin()).value().second;
            order_.push_back(place);
            for (std::size_t const follower : followers_[place]) {
                if (--open_[follower] == 0) {
                    ready_.insert({nodes_[follower].id, follower});
                }
            }
        }
    }

    /// From any node that is left, along what it waits for, a node comes twice.
    void report_circle() {
        std::set<std::size_t> seen;
        std::size_t place = 0;
        while (open_[place] == 0) {
            ++place;
        }
        while (seen.insert(place).second) {
            for (std::uint64_t const id : nodes_[place].dependencies) {
                auto const known = places_.find(id);
                if (known != places_.end() && open_[known->second] > 0) {
                    place = known->second;
                    break;
                }
            }
        }
        std::size_t other = place;
        for (std::uint64_t const id : nodes_[place].dependencies) {
            auto const known = places_.find(id);
            other = known != places_.end() && open_[known->second] > 0 ? known->second : other;
        }
        builder_.incomplete(fmt::format("{}: {} and {} wait for each other, so neither can begin", file_,
                                        nodes_[place].where(), nodes_[other].where()));
        for (place = 0; place < nodes_.size(); ++place) {
            if (open_[place] > 0) {
                order_.push_back(place);
            }
        }
    }

    Builder& builder_;
    std::string const& file_;
    std::vector<Node> const& nodes_;
    std::map<std::uint64_t, std::size_t> places_;  // by id
    std::vector<std::size_t> open_;                // of what each waits for
    std::vector<std::vector<std::size_t>> followers_;
    std::set<std::pair<std::uint64_t, std::size_t>> ready_;
    std::vector<std::size_t> order_;
};

class ChakraReader : public TraceReader {
public:
    using TraceReader::TraceReader;

    void read(Input& input) override {
        if (first_character(input.peek(1)) == '{') {
            read_groups(input);
            return;
        }
        auto const rank = rank_of_name(input.name());
        if (!rank) {
            input.refuse("the name of a Chakra file ends in its rank: NAME.3.et");
        }
        RankProgram program{{*rank}, {}};
        Nodes const file = read_nodes(input);
        for (std::size_t const place : NodeOrder(builder_, input.name(), file.nodes).find()) {
            add(input, file.nodes[place], file.old, program);
        }
        if (program.operations.empty()) {
            input.refuse("no communication in it: no node COMM_COLL_NODE, COMM_SEND_NODE or COMM_RECV_NODE; give the "
                         "traces of a distributed run");
        }
        builder_.add(input.name(), std::move(program));
    }

    /// A group without a name is everybody; one with a name is what the file of groups says, which may come last.
    void finish() override {
        Trace& trace = builder_.trace();
        if (builder_.assumptions().ranks) {
            builder_.world_of(*builder_.assumptions().ranks);
        }
        if (trace.ranks == 1) {
            builder_.incomplete("one file does not tell how many ranks the run had: give the files of all ranks");
        }
        for (TraceGroup& group : trace.groups) {
            auto const found = groups_.find(group.name);
            if (found != groups_.end()) {
                group.members = found->second;
                group.size = static_cast<int>(found->second.size());
            } else if (group.name.empty() && trace.ranks > 1) {
                group.size = trace.ranks;
            } else if (group.name != part_of_dimensions && group.size == 0) {
                builder_.incomplete(
                    fmt::format("the members of group '{}' are in a file of groups (JSON), which is not "
                                "among the files",
                                group.name));
            }
        }
        for (RankProgram& program : trace.programs) {
            for (TraceOperation& operation : program.operations) {
                fill_sizes(trace.groups.at(operation.group).size, operation);
            }
        }
    }

private:
    static constexpr std::string_view part_of_dimensions = "part of the dimensions";

    void read_groups(Input& input) {
        scan_json(input,
                  {[](std::string_view /*name*/) { return false; }, [](std::string_view, std::uint64_t, Json const&) {},
                   [&](std::string_view name, Json const& value) {
                       auto const list = number_list(input, name, value);
                       groups_[std::string(name)] = members_of(input, fmt::format("group {}", name), list.numbers);
                   }});
    }

    void add(Input const& input, Node const& node, bool old, RankProgram& program) {
        if (node.type < type_send || node.type > type_collective) {
            if (node.type == type_computation && node.duration_us > 0) {
                program.add_computation(static_cast<double>(node.duration_us));
                return;
            }
            builder_.leave_out(node.type == type_metadata      ? "metadata"
                               : node.type == type_computation ? "computation without a time"
                                                               : "memory access");
            return;
        }
        TraceOperation operation;
        operation.dtype = builder_.assumed_dtype().value_or(Dtype{});
        operation.label = node.name;
        operation.group =
            builder_.group({node.part_of_dimensions ? std::string(part_of_dimensions) : node.group, 0, {}, 0});
        if (node.part_of_dimensions) {
            builder_.incomplete(
                "involved_dim names part of the dimensions of the network, so groups depend on a file that "
                "is not part of the trace");
        }
        if (node.duration_us > 0) {
            operation.start_us = static_cast<double>(node.start_us);
            operation.duration_us = static_cast<double>(node.duration_us);
        }
        if (node.type == type_collective) {
            operation.kind = collective(input, node, old);
        } else {
            bool const sends = node.type == type_send;
            operation.kind = sends ? OperationKind::send : OperationKind::recv;
            auto const peer = attribute_number(input, node, sends ? "comm_dst" : "comm_src");
            if (!peer) {
                input.refuse(
                    fmt::format("{}: a {} without {}, as the converter from PyTorch writes them; give the execution "
                                "traces of PyTorch themselves",
                                node.where(), sends ? "send" : "receive", sends ? "comm_dst" : "comm_src"));
            }
            if (*peer < 0 || *peer >= most_recorded_ranks) {
                input.refuse(fmt::format("{}: its peer is no rank below {}", node.where(), most_recorded_ranks));
            }
            operation.peer = static_cast<int>(*peer);
            operation.tag = attribute_number(input, node, "comm_tag").value_or(0);
        }
        auto const size = attribute_number(input, node, "comm_size");
        if (!size && operation.kind != OperationKind::barrier) {
            input.refuse(fmt::format("{}: no comm_size", node.where()));
        }
        if (size.value_or(0) < 0) {
            input.refuse(fmt::format("{}: comm_size is {}, which is negative", node.where(), *size));
        }
        auto const bytes = operation.kind == OperationKind::barrier ? 0 : static_cast<Bytes>(size.value_or(0));
        (operation.kind == OperationKind::recv ? operation.received : operation.sent) = bytes;
        if (auto const root = attribute_number(input, node, "root_rank");
            root && *root >= 0 && *root < most_recorded_ranks) {
            operation.root = static_cast<int>(*root);
        }
        program.add(std::move(operation));
    }

    static OperationKind collective(Input const& input, Node const& node, bool old) {
        auto const type = attribute_number(input, node, "comm_type");
        if (!type) {
            input.refuse(fmt::format("{}: a collective without comm_type", node.where()));
        }
        std::int64_t const index = old ? *type - 1 : *type;
        if (index < 0 || index >= static_cast<std::int64_t>(old ? old_collectives.size() : collective_types.size())) {
            input.refuse(fmt::format("{}: comm_type {} is none of Chakra's", node.where(), *type));
        }
        return old ? old_collectives.at(static_cast<std::size_t>(index))
                   : collective_types.at(static_cast<std::size_t>(index));
    }

    /// comm_size is what the rank hands in; of a scatter what the root does.
    void fill_sizes(int ranks, TraceOperation& operation) {
        auto const members = static_cast<Bytes>(std::max(ranks, 1));
        switch (operation.kind) {
        case OperationKind::all_gather:
        case OperationKind::gather:
            operation.received = gathered(operation, members);
            break;
        case OperationKind::scatter:
            if (operation.sent % members != 0) {
                builder_.incomplete(fmt::format("'{}': scatters {} bytes, which are no equal parts for {} ranks",
                                                operation.label, operation.sent, members));
            }
            operation.received = operation.sent / members;
            break;
        case OperationKind::reduce_scatter:
            operation.received = operation.sent / members;
            break;
        case OperationKind::all_reduce:
        case OperationKind::broadcast:
            operation.received = operation.sent;
            break;
        case OperationKind::exchange:
            operation.received = operation.sent;
            split_equally(operation, ranks);
            break;
        default:
            break;
        }
    }
    static Bytes gathered(TraceOperation const& operation, Bytes members) {
        auto const bytes = product(operation.sent, members);
        if (!bytes) {
            throw UsageError(fmt::format("'{}': comm_size {} of each of {} ranks is more than 2^63 - 1 bytes",
                                         operation.label, operation.sent, members));
        }
        return *bytes;
    }

    std::map<std::string, std::vector<Rank>, std::less<>> groups_;
};

/// {"0": [0, 1], "1": [2, 3]}
bool is_group_file(std::string_view head) {
    std::string_view rest = head.substr(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
    for (std::string_view const part : {"{", "\""}) {
        rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
        if (!rest.starts_with(part)) {
            return false;
        }
        rest.remove_prefix(part.size());
    }
    std::size_t const digits = rest.find_first_not_of("0123456789");
    return digits != 0 && digits != std::string_view::npos && rest[digits] == '"';
}

bool is_chakra(std::string_view name, std::string_view head) {
    if (first_character(head) == '{') {
        return is_group_file(head);
    }
    if (name.ends_with(".et") || name.ends_with(".eg")) {
        return true;
    }
    // A record with its length in front, which begins with the text of the version: field 1, then "0.".
    constexpr std::string_view field = "\x0a";
    return head.size() > 4 && head.substr(1, 1) == field && head.substr(3, 2) == "0.";
}

}  // namespace

TraceFormat chakra_format() {
    return {"chakra", "execution traces of MLCommons Chakra (.et), one file per rank, with their file of groups (JSON)",
            is_chakra, make_reader<ChakraReader>};
}

}  // namespace dlmb::trace
