// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Execution traces of MLCommons Chakra (.et): one file per rank, of records with their length in front. Three schemas
// are in the field: eg_def.proto of 2023, where a node has a field for each property; and et_def.proto, where it has a
// list of attributes, with GlobalMetadata of two layouts in front, of which nothing is needed here. The few fields are
// read from the wire: three versions of one protobuf package cannot be linked into one program.
#include "common/base/error.hpp"
#include "common/trace/formats/formats.hpp"
#include "common/trace/formats/torch_record.hpp"
#include "common/trace/json_scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

namespace dlmb::trace {
namespace {

constexpr Bytes most_record = Bytes{64} << 20;

/// A field of a message: a number, or the bytes of a text or of an inner message.
struct Field {
    std::uint64_t number = 0;
    std::uint64_t value = 0;
    std::string_view bytes;
    bool is_bytes = false;
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
        field = {key >> kind_bits, 0, {}, false};
        switch (key & 7U) {
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

private:
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

struct Node {
    std::string name;
    std::uint64_t type = 0;
    std::uint64_t start_us = 0;
    std::uint64_t duration_us = 0;
    std::map<std::string, std::uint64_t, std::less<>> numbers;  // attributes and old fields
    std::string group;
    bool part_of_dimensions = false;  // involved_dim leaves some out
};

constexpr std::uint64_t type_computation = 4;
constexpr std::uint64_t type_send = 5;  // of NodeType in et_def.proto; COMM_RECV_NODE is 6
constexpr std::uint64_t type_collective = 7;

constexpr std::array collective_types{
    OperationKind::all_reduce,     OperationKind::reduce,    OperationKind::all_gather, OperationKind::gather,
    OperationKind::scatter,        OperationKind::broadcast, OperationKind::exchange,   OperationKind::reduce_scatter,
    OperationKind::reduce_scatter, OperationKind::barrier};
/// Of eg_def.proto, from 1.
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
        for (std::uint64_t index = 0; record(input, index, text); ++index) {
            if (index == 0) {
                old = !is_metadata(input, text);
            }
            if (index > 0 || old) {
                std::string const where = fmt::format("record {}", index);
                Node const node = old ? old_node(input, text) : new_node(input, text);
                add(input, where, node, old, program);
            }
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
                  {[](std::string_view /*name*/) { return false; },
                   [](std::string_view, std::uint64_t, std::string_view) {},
                   [&](std::string_view name, std::string_view text) {
                       auto const list = number_list(input, name, parse_piece(input, name, text));
                       std::vector<Rank> members;
                       for (Bytes const rank : list.numbers) {
                           if (rank >= most_ranks) {
                               input.refuse(fmt::format("group {}: rank {} is not below {}", name, rank, most_ranks));
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
            if (field.number == 2 && field.is_bytes) {
                node.name = field.bytes;
            } else if (field.number == 3 && !field.is_bytes) {
                node.type = field.value + 1;  // eg_def.proto has no METADATA_NODE
            } else if (field.number == 14) {
                node.part_of_dimensions |= leaves_out(field);
            } else if (field.number == 15 && !field.is_bytes) {
                node.group = std::to_string(field.value);
            } else if (auto const name = old_field(field.number); !name.empty() && !field.is_bytes) {
                node.numbers[std::string(name)] = field.value;
            }
        }
        return node;
    }

    static Node new_node(Input const& input, std::string_view text) {
        Node node;
        Field field;
        for (ProtobufMessage message(input, text); message.next(field);) {
            switch (field.number) {
            case 2:
                node.name = field.bytes;
                break;
            case 3:
                node.type = field.value;
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

    /// Some writers give numbers as another alternative than the feeder of Chakra takes, so each is read.
    static void attribute(Input const& input, std::string_view text, Node& node) {
        std::string name;
        Field field;
        for (ProtobufMessage message(input, text); message.next(field);) {
            constexpr std::uint64_t bool_list = 28;
            constexpr std::uint64_t string_value = 29;
            if (field.number == 1 && field.is_bytes) {
                name = field.bytes;
            } else if (field.number == bool_list && field.is_bytes && name == "involved_dim") {
                node.part_of_dimensions |= has_false(input, field.bytes);
            } else if (field.number == string_value && field.is_bytes && name == "pg_name") {
                node.group = field.bytes;
            } else if (!field.is_bytes && field.number > 2) {
                bool const zigzag = field.number == 15 || field.number == 17;
                node.numbers[name] = zigzag ? (field.value >> 1U) ^ (~(field.value & 1U) + 1) : field.value;
                if (name == "pg_name") {
                    node.group = std::to_string(field.value);
                }
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

    void add(Input const& input, std::string const& where, Node const& node, bool old, RankProgram& program) {
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
        auto const number = [&](std::string_view name) -> std::optional<std::uint64_t> {
            auto const found = node.numbers.find(name);
            return found == node.numbers.end() ? std::nullopt : std::optional(found->second);
        };
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
            operation.kind = collective(input, where, number("comm_type"), old);
        } else {
            bool const sends = node.type == type_send;
            operation.kind = sends ? OperationKind::send : OperationKind::recv;
            auto const peer = number(sends ? "comm_dst" : "comm_src");
            if (!peer) {
                input.refuse(
                    fmt::format("{} ('{}'): a {} without {}, as the converter from PyTorch writes them; give the "
                                "execution traces of PyTorch themselves",
                                where, node.name, sends ? "send" : "receive", sends ? "comm_dst" : "comm_src"));
            }
            if (*peer >= most_ranks) {
                input.refuse(fmt::format("{} ('{}'): its peer is no rank below {}", where, node.name, most_ranks));
            }
            operation.peer = static_cast<int>(*peer);
            operation.tag = static_cast<std::int64_t>(number("comm_tag").value_or(0));
        }
        auto const size = number("comm_size");
        if (!size && operation.kind != OperationKind::barrier) {
            input.refuse(fmt::format("{} ('{}'): no comm_size", where, node.name));
        }
        Bytes const bytes = size.value_or(0);
        if (bytes >> 63U != 0) {
            input.refuse(fmt::format("{} ('{}'): comm_size is negative or above 2^63 - 1", where, node.name));
        }
        (operation.kind == OperationKind::recv ? operation.received : operation.sent) = bytes;
        if (auto const root = number("root_rank"); root && *root < most_ranks) {
            operation.root = static_cast<int>(*root);
        }
        program.add(std::move(operation));
    }

    static OperationKind collective(Input const& input, std::string const& where, std::optional<std::uint64_t> type,
                                    bool old) {
        if (!type) {
            input.refuse(fmt::format("{}: a collective without comm_type", where));
        }
        std::uint64_t const index = old ? *type - 1 : *type;
        if (index >= (old ? old_collectives.size() : collective_types.size())) {
            input.refuse(fmt::format("{}: comm_type {} is none of Chakra's", where, *type));
        }
        return old ? old_collectives.at(index) : collective_types.at(index);
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
