// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/plan/formats/torch_record.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dlmb::trace {
namespace {

/// Parts in bytes of parts in rows. PyTorch splits along the first dimension: a row has as many elements as make the
/// whole fit. Where none fit, the tensor is larger than what is sent (pytorch pull request 149485).
std::vector<Bytes> parts_of(Builder& builder, Input const& input, TorchRecord const& record,
                            std::vector<Bytes> const& rows, Bytes elements, Bytes element_bytes) {
    Bytes total = 0;
    for (Bytes const part : rows) {
        total = std::min(total + part, Bytes{1} << 63U);
    }
    bool const fits = total > 0 && elements % total == 0;
    Bytes const row = fits ? std::max<Bytes>(elements / total, 1) : 1;
    if (total > 0 && elements != total) {
        builder.note(fits ? "sizes of rows of uneven exchanges, which the trace does not tell, are elements over rows"
                          : "sizes of rows of uneven exchanges are guessed to be one element: the elements are no "
                            "multiple of the rows");
    }
    std::vector<Bytes> parts;
    for (Bytes const part : rows) {
        parts.push_back(product(input, record.where, product(input, record.where, part, row), element_bytes));
    }
    return parts;
}

/// One side of an exchange.
void split(Builder& builder, Input const& input, TorchRecord const& record, NumberList const& rows, Bytes elements,
           Bytes element_bytes, int ranks, Bytes& bytes, SplitBytes& split) {
    if (rows.cut) {
        builder.incomplete(fmt::format("{}: {}: its list of split sizes is cut off", input.name(), record.where));
        return;
    }
    if (!rows.numbers.empty() && ranks != 0 && rows.numbers.size() != static_cast<std::size_t>(ranks)) {
        builder.incomplete(
            fmt::format("{}: {}: {} split sizes for {} ranks", input.name(), record.where, rows.numbers.size(), ranks));
    }
    if (!rows.numbers.empty()) {
        split.parts = parts_of(builder, input, record, rows.numbers, elements, element_bytes);
        bytes = total(input, record.where, split.parts);
        return;
    }
    if (ranks == 0) {
        return;
    }
    if (auto const part = equal_part(elements, ranks)) {
        split.each = *part * element_bytes;
    } else {
        builder.incomplete(fmt::format("{}: {}: no split sizes, and {} elements are no equal parts for {} ranks",
                                       input.name(), record.where, elements, ranks));
    }
}

NumberList const& listed_ranks(TorchRecord const& record) {
    static NumberList const none;
    return record.ranks ? *record.ranks : none;
}

TraceGroup group_of(Builder& builder, Input const& input, TorchRecord const& record) {
    TraceGroup group{record.group, record.group_size, {}, 0, record.has_no_group};
    auto const& [ranks, cut] = listed_ranks(record);
    if (cut) {
        builder.incomplete(fmt::format("{}: the list of ranks of group '{}' is cut off", input.name(), record.group));
    } else if (!ranks.empty()) {
        group.members = members_of(input, record.where, ranks);
        group.size = static_cast<int>(ranks.size());
        if (record.group_size != 0 && record.group_size != group.size) {
            builder.incomplete(fmt::format("{}: {}: group '{}' has {} ranks, but lists {}", input.name(), record.where,
                                           record.group, record.group_size, group.size));
        }
    }
    return group;
}

/// The world rank of a rank in the group; without a list of its ranks the group is everybody.
std::optional<int> member(TorchRecord const& record, int place) {
    auto const& [ranks, cut] = listed_ranks(record);
    if (ranks.empty() && !cut) {
        return place;
    }
    bool const listed = !cut && static_cast<std::size_t>(place) < ranks.size();
    return listed ? std::optional(static_cast<int>(ranks[static_cast<std::size_t>(place)])) : std::nullopt;
}

}  // namespace

int rank_number(Input const& input, std::string_view where, Json const& value) {
    Bytes const number = whole_number(input, where, value);
    if (number > most_recorded_ranks) {
        input.refuse(fmt::format("{} is {}, more than {} ranks", where, number, most_recorded_ranks));
    }
    return static_cast<int>(number);
}

std::vector<Rank> members_of(Input const& input, std::string_view where, std::span<Bytes const> ranks) {
    std::vector<Rank> members;
    for (Bytes const rank : ranks) {
        if (rank >= most_recorded_ranks) {
            input.refuse(fmt::format("{}: rank {} is not below {}", where, rank, most_recorded_ranks));
        }
        members.push_back(static_cast<Rank>(rank));
    }
    return members;
}

NumberList regular_ranks(NumberList listed, int size, Bytes start, Bytes stride) {
    auto const ranks = static_cast<Bytes>(size);
    bool const fits = stride > 0 && start <= most_recorded_ranks && stride <= most_recorded_ranks &&
                      ranks * stride <= 2 * Bytes{most_recorded_ranks};
    if (!listed.cut || !fits) {
        return listed;
    }
    for (std::size_t place = 0; place + 1 < listed.numbers.size(); ++place) {  // the last may stand behind the gap
        if (listed.numbers[place] != start + place * stride) {
            return listed;
        }
    }
    NumberList all;
    for (Bytes place = 0; place < ranks; ++place) {
        all.numbers.push_back(start + place * stride);
    }
    return all;
}

std::optional<Rank> own_rank(TorchRecord const& record, int world) {
    auto const kind = operation_named(record.name);
    bool const is_own = record.argument && kind && !is_message(*kind) && !has_root(*kind);
    bool const is_known = !listed_ranks(record).numbers.empty() || (world > 0 && record.group_size == world);
    return is_own && is_known ? member(record, *record.argument) : std::nullopt;
}

void forget_callers_as_roots(Trace& trace) {
    for (RankProgram const& program : trace.programs) {
        for (TraceOperation const& operation : program.operations) {
            TraceGroup const& group = trace.groups.at(operation.group);
            Rank const rank = program.ranks.front();
            if (operation.root && operation.root != (group.members.empty() ? rank : group.place_of(rank))) {
                return;
            }
        }
    }
    for (RankProgram& program : trace.programs) {
        for (TraceOperation& operation : program.operations) {
            operation.root.reset();
        }
    }
}

NumberList number_list(Input const& input, std::string_view where, Json const& value) {
    NumberList list;
    if (value.is_null()) {
        return list;
    }
    if (value.is_array()) {
        for (Json const& number : value) {
            if (number.is_string() && number.get_ref<std::string const&>() == "...") {
                list.cut = true;
            } else {
                list.numbers.push_back(whole_number(input, where, number));
            }
        }
        return list;
    }
    if (!value.is_string()) {
        input.refuse(fmt::format("{} must be a list of numbers", where));
    }
    for (std::string_view const word : words(value.get_ref<std::string const&>(), "[]() ,")) {
        if (word.find("...") != std::string_view::npos) {
            list.cut = true;
        } else {
            list.numbers.push_back(whole_number(input, where, Json(word)));
        }
    }
    return list;
}

std::optional<TraceOperation> operation_of(Builder& builder, Input const& input, TorchRecord const& record) {
    auto const kind = operation_named(record.name);
    if (!kind) {
        std::string const name = record.name.substr(0, 64);
        bool const brackets = name == "coalesced" || name.find("oalescing") != std::string::npos;
        if (name != "wait" && name != "init" && !brackets) {
            builder.incomplete(
                fmt::format("{}: {}: '{}' is no operation that is known", input.name(), record.where, name));
        }
        builder.leave_out(name);
        return std::nullopt;
    }
    TraceOperation operation;
    operation.kind = *kind;
    operation.start_us = record.start_us;
    operation.duration_us = record.duration_us;
    operation.group = builder.group(group_of(builder, input, record));
    int const ranks = builder.trace().groups[operation.group].size;
    if (*kind == OperationKind::barrier) {
        return operation;
    }
    if (!record.dtype) {
        input.refuse(fmt::format("{}: no dtype, or one that is unknown", record.where));
    }
    operation.dtype = *record.dtype;
    Bytes const element = operation.dtype.bytes;
    operation.sent = product(input, record.where, record.in_elements, element);
    operation.received = product(input, record.where, record.out_elements, element);
    if (*kind == OperationKind::exchange) {
        split(builder, input, record, record.in_split, record.in_elements, element, ranks, operation.sent,
              operation.send_split);
        split(builder, input, record, record.out_split, record.out_elements, element, ranks, operation.received,
              operation.recv_split);
    } else if (*kind == OperationKind::recv) {
        operation.received = std::max(operation.sent, operation.received);
        operation.sent = 0;
    } else if (*kind == OperationKind::send) {
        operation.received = 0;
    }
    if (has_root(*kind)) {
        operation.root = record.argument;
    } else if (is_message(*kind)) {
        operation.peer = record.peer || !record.argument ? record.peer : member(record, *record.argument);
        if (!operation.peer) {
            builder.incomplete(
                fmt::format("{}: {}: it does not say which rank the peer is", input.name(), record.where));
        }
    }
    return operation;
}

}  // namespace dlmb::trace
