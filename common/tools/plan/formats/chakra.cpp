// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Execution traces of MLCommons Chakra (.et): one file per rank, of records with their length in front. Three schemas
// are in the field: eg_def.proto of 2023, where a node has a field for each property; and et_def.proto, where it has a
// list of attributes, with GlobalMetadata of two layouts in front, of which nothing is needed here. The few fields are
// read from the wire: three versions of one protobuf package cannot be linked into one program. Nodes stand in any
// order; what each waits for (parent; ctrl_deps and data_deps) says in which a rank comes to them.
#include "common/base/error.hpp"
#include "common/formats/input/json_scan.hpp"
#include "common/tools/plan/formats/formats.hpp"
#include "common/tools/plan/formats/torch_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace dlmb::trace {
namespace {

constexpr Bytes most_record = Bytes{64} << 20;

/// A field of a message: a number, or the bytes of a text or of an inner message.
struct Field {
    std::uint64_t number = 0;
    std::uint64_t value = 0;
    std::string_view bytes;
    bool is_bytes = false;
    unsigned wire = 0;  // how it is written: 0 varint, 1 eight bytes, 2 bytes, 5 four bytes
};

/// Goes through the fields of one message.
class ProtobufMessage {
public:
    ProtobufMessage(Input const& input, std::string_view text) : input_(input), rest_(text) {}

    [[nodiscard]] bool next(Field& field) {
        if (rest_.empty()) {
            return false;
        }
        constexpr unsigned kind_bits = 3;
        std::uint64_t const key = varint();
        field = {key >> kind_bits, 0, {}, false, static_cast<unsigned>(key & 7U)};
        switch (field.wire) {
        case 0:
            field.value = varint();
            break;
        case 1:
            field.value = fixed(8);
            break;
        case 2:
            field.is_bytes = true;
            field.bytes = take(varint());
            break;
        case 5:
            field.value = fixed(4);
            break;
        default:
            input_.refuse("no Chakra trace: a field of a kind that protobuf does not have");
        }
        return true;
    }
    [[nodiscard]] bool at_end() const { return rest_.empty(); }
    std::uint64_t varint() {
        std::uint64_t value = 0;
        constexpr unsigned most_shift = 63;
        for (unsigned shift = 0; shift <= most_shift; shift += 7) {
            auto const byte = static_cast<unsigned char>(take(1)[0]);
            value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
            if ((byte & 0x80U) == 0) {
                return value;
            }
        }
        input_.refuse("no Chakra trace: a number of more than 10 bytes");
    }

private:
    std::uint64_t fixed(std::size_t bytes) {
        std::uint64_t value = 0;
        std::string_view const text = take(bytes);
        for (std::size_t place = 0; place < bytes; ++place) {
            value |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[place])) << (8 * place);
        }
        return value;
    }
    std::string_view take(std::uint64_t bytes) {
        if (bytes > rest_.size()) {
            input_.refuse("no Chakra trace, or a damaged one: a field is longer than its record");
        }
        std::string_view const taken = rest_.substr(0, bytes);
        rest_.remove_prefix(taken.size());
        return taken;
    }

    Input const& input_;
    std::string_view rest_;
};

/// The value of an attribute. Beyond 2^63 - 1 there is no size, rank or tag.
using AttributeValue = std::variant<std::int64_t, double, std::string>;

struct Node {
    std::uint64_t record = 0;
    std::uint64_t id = 0;
    std::vector<std::uint64_t> dependencies;  // nodes that end before it begins
    std::string name;
    std::uint64_t type = 0;
    std::uint64_t start_us = 0;
    std::uint64_t duration_us = 0;
    std::map<std::string, AttributeValue, std::less<>> values;  // attributes and old fields
    std::string group;
    bool part_of_dimensions = false;  // involved_dim leaves some out

    [[nodiscard]] std::string where() const { return fmt::format("record {} ('{}')", record, name); }
};

AttributeValue whole_value(std::uint64_t number) {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return number <= most ? AttributeValue(static_cast<std::int64_t>(number))
                          : AttributeValue(static_cast<double>(number));
}

/// The alternatives of AttributeProto (et_def.proto) that are one number or text; nothing for lists, and for what is
/// not written as its type.
std::optional<AttributeValue> attribute_value(Field const& field) {
    enum Type : std::uint64_t {
        double_val = 3,
        float_val = 5,
        int32_val = 7,
        int64_val = 9,
        uint32_val = 11,
        uint64_val = 13,
        sint32_val = 15,
        sint64_val = 17,
        fixed32_val = 19,
        fixed64_val = 21,
        sfixed32_val = 23,
        sfixed64_val = 25,
        bool_val = 27,
        string_val = 29
    };
    constexpr unsigned varint = 0;
    constexpr unsigned eight_bytes = 1;
    constexpr unsigned bytes = 2;
    constexpr unsigned four_bytes = 5;
    auto const written = [&](unsigned wire, auto const& value) {
        return field.wire == wire ? std::optional<AttributeValue>(value()) : std::nullopt;
    };
    auto const low = static_cast<std::uint32_t>(field.value);
    switch (field.number) {
    case double_val:
        return written(eight_bytes, [&] { return AttributeValue(std::bit_cast<double>(field.value)); });
    case float_val:
        return written(four_bytes, [&] { return AttributeValue(static_cast<double>(std::bit_cast<float>(low))); });
    case int32_val:
    case int64_val:
        return written(varint, [&] { return AttributeValue(static_cast<std::int64_t>(field.value)); });
    case uint32_val:
    case uint64_val:
    case bool_val:
        return written(varint, [&] { return whole_value(field.value); });
    case sint32_val:
    case sint64_val:
        return written(varint, [&] {
            return AttributeValue(static_cast<std::int64_t>((field.value >> 1U) ^ (~(field.value & 1U) + 1)));
        });
    case fixed32_val:
        return written(four_bytes, [&] { return whole_value(low); });
    case fixed64_val:
        return written(eight_bytes, [&] { return whole_value(field.value); });
    case sfixed32_val:
        return written(four_bytes, [&] { return AttributeValue(std::int64_t{static_cast<std::int32_t>(low)}); });
    case sfixed64_val:
        return written(eight_bytes, [&] { return AttributeValue(static_cast<std::int64_t>(field.value)); });
    case string_val:
        return written(bytes, [&] { return AttributeValue(std::string(field.bytes)); });
    default:
        return std::nullopt;
    }
}

std::string attribute_text(AttributeValue const& value) {
    return std::visit([](auto const& each) { return fmt::format("{}", each); }, value);
}

/// An attribute that is a whole number, in whichever type it is written; nothing where it is missing.
std::optional<std::int64_t> attribute_number(Input const& input, Node const& node, std::string_view name) {
    auto const found = node.values.find(name);
    if (found == node.values.end()) {
        return std::nullopt;
    }
    std::optional<std::int64_t> number;
    if (auto const* const integer = std::get_if<std::int64_t>(&found->second)) {
        number = *integer;
    } else if (auto const* const real = std::get_if<double>(&found->second)) {
        constexpr double beyond = 0x1p63;
        number = *real > -beyond && *real < beyond && std::floor(*real) == *real
                     ? std::optional(static_cast<std::int64_t>(*real))
                     : std::nullopt;
    } else {
        number = parse_whole<std::int64_t>(std::get<std::string>(found->second));
    }
    if (!number) {
        input.refuse(fmt::format("{}: {} is {}, which is no whole number below 2^63", node.where(), name,
                                 attribute_text(found->second).substr(0, 64)));
    }
    return number;
}

/// The order in which a rank comes to its nodes: each behind those that it waits for, else by their ids, as a simulator
/// takes them. The order of the file says nothing.
class NodeOrder {
public:
    NodeOrder(Builder& builder, std::string const& file, std::vector<Node> const& nodes)
        : builder_(builder), file_(file), nodes_(nodes), open_(nodes.size()), followers_(nodes.size()) {}

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

constexpr std::uint64_t type_computation = 4;
constexpr std::uint64_t type_send = 5;  // of NodeType in et_def.proto; COMM_RECV_NODE is 6
constexpr std::uint64_t type_collective = 7;

constexpr std::array collective_types{
    OperationKind::all_reduce,     OperationKind::reduce,    OperationKind::all_gather, OperationKind::gather,
    OperationKind::scatter,        OperationKind::broadcast, OperationKind::exchange,   OperationKind::reduce_scatter,
    OperationKind::reduce_scatter, OperationKind::barrier};
/// Numbers of eg_def.proto, from 1.
constexpr std::array old_collectives{OperationKind::all_reduce, OperationKind::exchange, OperationKind::all_gather,
                                     OperationKind::reduce_scatter};

/// The fields of a node in eg_def.proto that are numbers.
std::string_view old_field(std::uint64_t number) {
    switch (number) {
    case 13:
        return "comm_type";
    case 15:
        return "communicator";
    case 16:
        return "comm_src";
    case 17:
        return "comm_dst";
    case 18:
        return "comm_size";
    case 19:
        return "comm_tag";
    default:
        return "";
    }
}

class ChakraReader : public Reader {
public:
    explicit ChakraReader(Builder& builder) : builder_(builder) {}

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
        bool old = false;
        std::string text;
        std::vector<Node> nodes;
        for (std::uint64_t index = 0; record(input, index, text); ++index) {
            if (index == 0) {
                old = !is_metadata(input, text);
            }
            if (index > 0 || old) {
                Node node = old ? old_node(input, text) : new_node(input, text);
                node.record = index;
                nodes.push_back(std::move(node));
            }
        }
        for (std::size_t const place : NodeOrder(builder_, input.name(), nodes).find()) {
            add(input, nodes[place], old, program);
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
        scan_json(input, {[](std::string_view /*name*/) { return false; },
                          [](std::string_view, std::uint64_t, std::string_view) {},
                          [&](std::string_view name, std::string_view text) {
                              auto const list = number_list(input, name, parse_piece(input, name, text));
                              std::vector<Rank> members;
                              for (Bytes const rank : list.numbers) {
                                  if (rank >= most_recorded_ranks) {
                                      input.refuse(fmt::format("group {}: rank {} is not below {}", name, rank,
                                                               most_recorded_ranks));
                                  }
                                  members.push_back(static_cast<Rank>(rank));
                              }
                              groups_[std::string(name)] = std::move(members);
                          }});
    }

    /// The next record; false at the end. A record without bytes is metadata at the begin, and ends the file elsewhere.
    static bool record(Input& input, std::uint64_t index, std::string& text) {
        std::uint64_t length = 0;
        constexpr unsigned most_shift = 28;
        for (unsigned shift = 0;; shift += 7) {
            std::string_view const held = input.peek(1);
            if (held.empty()) {
                if (shift == 0) {
                    return false;
                }
                input.refuse("cut off in the length of a record");
            }
            auto const byte = static_cast<unsigned char>(held[0]);
            input.skip(1);
            length |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
            if ((byte & 0x80U) == 0) {
                break;
            }
            if (shift >= most_shift) {
                input.refuse("no Chakra trace: the length of a record has more than 5 bytes");
            }
        }
        if (length > most_record) {
            input.refuse(fmt::format("no Chakra trace: a record of {} bytes; the most is {}", length, most_record));
        }
        std::string_view const held = input.peek(length);
        if (held.size() < length) {
            input.refuse(fmt::format("cut off: record {} has {} bytes, but {} follow", index, length, held.size()));
        }
        text = held.substr(0, length);
        input.skip(text.size());
        return index == 0 || !text.empty();
    }

    /// GlobalMetadata begins with a text or a message, a node of the old schema with its number.
    static bool is_metadata(Input const& input, std::string_view text) {
        Field field;
        ProtobufMessage message(input, text);
        return !message.next(field) || field.is_bytes;
    }

    static Node old_node(Input const& input, std::string_view text) {
        Node node;
        Field field;
        for (ProtobufMessage message(input, text); message.next(field);) {
            if (field.number == 1 && !field.is_bytes) {
                node.id = field.value;
            } else if (field.number == 2 && field.is_bytes) {
                node.name = field.bytes;
            } else if (field.number == 4) {
                dependencies(input, field, node);
            } else if (field.number == 3 && !field.is_bytes) {
                node.type = field.value + 1;  // eg_def.proto has no METADATA_NODE
            } else if (field.number == 14) {
                node.part_of_dimensions |= leaves_out(field);
            } else if (field.number == 15 && !field.is_bytes) {
                node.group = std::to_string(field.value);
            } else if (auto const name = old_field(field.number); !name.empty() && !field.is_bytes) {
                node.values[std::string(name)] = whole_value(field.value);
            }
        }
        return node;
    }

    static Node new_node(Input const& input, std::string_view text) {
        Node node;
        Field field;
        for (ProtobufMessage message(input, text); message.next(field);) {
            switch (field.number) {
            case 1:
                node.id = field.value;
                break;
            case 2:
                node.name = field.bytes;
                break;
            case 3:
                node.type = field.value;
                break;
            case 4:
            case 5:
                dependencies(input, field, node);
                break;
            case 6:
                node.start_us = field.value;
                break;
            case 7:
                node.duration_us = field.value;
                break;
            case 10:
                if (field.is_bytes) {
                    attribute(input, field.bytes, node);
                }
                break;
            default:
                break;
            }
        }
        return node;
    }

    /// Repeated numbers stand alone or packed.
    static void dependencies(Input const& input, Field const& field, Node& node) {
        if (!field.is_bytes) {
            node.dependencies.push_back(field.value);
            return;
        }
        for (ProtobufMessage packed(input, field.bytes); !packed.at_end();) {
            node.dependencies.push_back(packed.varint());
        }
    }

    /// Some writers give numbers as another alternative than the feeder of Chakra takes, so each is read.
    static void attribute(Input const& input, std::string_view text, Node& node) {
        std::string name;
        Field field;
        for (ProtobufMessage message(input, text); message.next(field);) {
            constexpr std::uint64_t bool_list = 28;
            if (field.number == 1 && field.is_bytes) {
                name = field.bytes;
            } else if (field.number == bool_list && field.is_bytes && name == "involved_dim") {
                node.part_of_dimensions |= has_false(input, field.bytes);
            } else if (auto const value = attribute_value(field); value && name == "pg_name") {
                node.group = attribute_text(*value);
            } else if (value) {
                node.values[name] = *value;
            }
        }
    }
    static bool has_false(Input const& input, std::string_view list) {
        Field field;
        for (ProtobufMessage message(input, list); message.next(field);) {
            if (leaves_out(field)) {
                return true;
            }
        }
        return false;
    }
    /// Repeated bools stand alone or packed.
    static bool leaves_out(Field const& field) {
        return field.is_bytes ? field.bytes.find('\0') != std::string_view::npos : field.value == 0;
    }

    void add(Input const& input, Node const& node, bool old, RankProgram& program) {
        if (node.type < type_send || node.type > type_collective) {
            if (node.type == type_computation && node.duration_us > 0) {
                program.add_computation(static_cast<double>(node.duration_us));
                return;
            }
            builder_.leave_out(node.type == 1                  ? "metadata"
                               : node.type == type_computation ? "computation without a time"
                                                               : "memory access");
            return;
        }
        TraceOperation operation;
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
        auto const bytes = static_cast<Bytes>(size.value_or(0));
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
            if (auto const part = equal_part(operation.sent, ranks); part && ranks > 0) {
                operation.send_split.each = operation.recv_split.each = part;
            }
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

    Builder& builder_;
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

Format chakra_format() {
    return {"chakra", "execution traces of MLCommons Chakra (.et), one file per rank, with their file of groups (JSON)",
            is_chakra,
            [](Builder& builder) -> std::unique_ptr<Reader> { return std::make_unique<ChakraReader>(builder); }};
}

}  // namespace dlmb::trace
