// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Workloads of AICB (CSV): what one rank does, for all ranks that the line in front names; of a pipeline one such
// section per stage. Sizes are bytes: the result of an all_gather, the input of a reduce_scatter, all that is sent of
// an all_to_all (utils/utils.py and log_analyzer of AICB, revision 23eec3c). Bandwidths in it are not read.
#include "common/tools/plan/formats/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace dlmb::trace {
namespace {

constexpr std::uint64_t most_count = std::uint64_t{1} << 32U;

/// A line of the file by the names in its header.
class AicbRow {
public:
    AicbRow(std::vector<std::string_view> const& columns, std::vector<std::string_view> cells)
        : columns_(columns), cells_(std::move(cells)) {}
    /// Empty where the file has no such column, or it says None.
    [[nodiscard]] std::string_view operator[](std::string_view name) const {
        auto const column = std::find(columns_.begin(), columns_.end(), name);
        std::size_t const place = static_cast<std::size_t>(column - columns_.begin());
        std::string_view const cell = place < cells_.size() ? cells_[place] : std::string_view();
        return cell == "None" ? std::string_view() : cell;
    }

private:
    std::vector<std::string_view> const& columns_;
    std::vector<std::string_view> cells_;
};

/// A call. Its group is made at the end of the file, when all sizes are known.
struct AicbCall {
    TraceOperation operation;
    std::string group;      // "tp_group"
    int size = 0;           // of the group
    std::string direction;  // "send_next"
};

/// The ranks that a section is the view of, and what they do.
struct Section {
    std::vector<Rank> ranks;
    std::vector<AicbCall> calls;
    int iterations = 0;  // that have ended
};

class AicbReader : public TraceReader {
public:
    using TraceReader::TraceReader;

    void read(Input& input) override {
        std::vector<Section> sections;
        std::string header;
        std::vector<std::string_view> columns;
        std::vector<Rank> ranks;
        std::string_view line;
        while (input.line(line)) {
            if (line.find_first_not_of(" \t") == std::string_view::npos) {
                continue;
            }
            if (line.starts_with('[')) {
                ranks = ranks_of(input, line);
                columns.clear();
            } else if (line.starts_with("comm_type,")) {
                header = line;
                columns = split(header, ",");
                sections.push_back({std::exchange(ranks, {}), {}, 0});
            } else if (columns.empty()) {
                input.refuse("the header comm_type,... is missing");
            } else {
                add(input, AicbRow(columns, cells_of(input, line)), sections.back());
            }
        }
        finish_file(input, sections);
    }

private:
    /// "[rank0 ~ rank127]" or "[ pp_stage0: [rank0, rank1] ]".
    static std::vector<Rank> ranks_of(Input const& input, std::string_view line) {
        std::vector<Rank> ranks;
        for (std::size_t place = line.find("rank"); place != std::string_view::npos;
             place = line.find("rank", place + 4)) {
            std::string_view const rest = line.substr(place + 4);
            auto const number = parse_whole<Rank>(rest.substr(0, rest.find_first_not_of("0123456789")));
            if (!number || *number >= most_recorded_ranks) {
                input.refuse("the line in front of the header must name ranks, as [rank0 ~ rank7]");
            }
            ranks.push_back(*number);
        }
        if (line.find('~') != std::string_view::npos && ranks.size() == 2 && ranks[0] <= ranks[1]) {
            Rank const last = ranks.back();
            ranks.pop_back();
            while (ranks.back() < last) {
                ranks.push_back(ranks.back() + 1);
            }
        }
        if (ranks.empty()) {
            input.refuse("the line in front of the header must name ranks, as [rank0 ~ rank7]");
        }
        return ranks;
    }

    /// Commas in brackets and quotes do not separate.
    static std::vector<std::string_view> cells_of(Input const& input, std::string_view line) {
        std::vector<std::string_view> cells;
        int depth = 0;
        bool quoted = false;
        std::size_t begin = 0;
        for (std::size_t place = 0; place <= line.size(); ++place) {
            char const character = place < line.size() ? line[place] : ',';
            quoted ^= character == '"';
            depth += character == '(' || character == '[' ? 1 : 0;
            depth -= character == ')' || character == ']' ? 1 : 0;
            if ((character == ',' && depth == 0 && !quoted) || place == line.size()) {
                cells.push_back(line.substr(begin, place - begin));
                begin = place + 1;
            }
        }
        constexpr std::size_t most_cells = 64;
        if (cells.size() > most_cells) {
            input.refuse("more than 64 columns");
        }
        return cells;
    }

    void add(Input const& input, AicbRow const& row, Section& section) {
        std::string_view type = row["comm_type"];
        if (!type.starts_with("CommType.")) {
            input.refuse(fmt::format("comm_type '{}' must be CommType.all_reduce or the like", type));
        }
        type.remove_prefix(std::string_view("CommType.").size());
        if (type == "epoch_end") {
            ++section.iterations;
            return;
        }
        auto const kind = operation_named(type);
        if (!kind) {
            if (type != "computation") {
                input.refuse(fmt::format("comm_type '{}' is unknown", type));
            }
            builder_.leave_out("computation");
            return;
        }
        TraceOperation operation;
        operation.kind = *kind;
        operation.dtype = builder_.assumed_dtype().value_or(Dtype{});
        operation.label = row["stage"];
        operation.iteration = section.iterations;
        constexpr std::uint64_t most_bytes = ~std::uint64_t{0} >> 1U;
        Bytes const bytes =
            *kind == OperationKind::barrier ? 0 : whole_text(input, "msg_size", row["msg_size"], most_bytes);
        operation.sent = bytes;
        operation.received = bytes;
        if (auto const count = row["count"]; !count.empty()) {
            operation.repeat = whole_text(input, "count", count, most_count);
        }
        if (*kind == OperationKind::broadcast || *kind == OperationKind::reduce) {
            operation.root = 0;  // AICB: the first of the group, whatever column src says
        }
        std::string_view group = row["comm_group"];
        if (group.starts_with("CommGroup.")) {
            group.remove_prefix(std::string_view("CommGroup.").size());
        }
        auto const told = row["comm_group_size"];
        int const size =
            told.empty() ? 0 : static_cast<int>(whole_text(input, "comm_group_size", told, most_recorded_ranks));
        section.calls.push_back({std::move(operation), std::string(group), size, std::string(row["additional"])});
    }

    /// Megatron's order, as AICB has it: tensor groups are consecutive ranks, then come the experts, copies of the data
    /// and stages of the pipeline (workload_applyer.py, "tp-cp-ep-dp-pp"); copies of what is no expert follow tensor
    /// groups at once. Of others it is not told.
    static TraceGroup group_of(std::string const& name, int size, std::map<std::string, int> const& sizes, int world) {
        auto const size_of = [&](char const* group) -> std::int64_t {
            auto const found = sizes.find(group);
            return found == sizes.end() ? 1 : found->second;
        };
        std::int64_t stride = 0;
        if (size == world || size == 1 || name == "tp_group" || name == "ep_tp_group") {
            stride = 1;
        } else if (name == "dp_group" || name == "ep_group") {
            stride = size_of("tp_group");
        } else if (name == "ep_dp_group") {
            stride = size_of("tp_group") * size_of("ep_group");
        } else if (name == "pp_group" && size > 0) {
            stride = world / size;
        }
        bool const fits = stride > 0 && size > 0 && world % (stride * size) == 0;
        TraceGroup group{name, size, {}, fits ? static_cast<int>(stride) : 0};
        return group;
    }

    void finish_file(Input const& input, std::vector<Section>& sections) {
        bool const any = std::any_of(sections.begin(), sections.end(),
                                     [](Section const& section) { return !section.calls.empty(); });
        if (!any) {
            input.refuse("no communication in it");
        }
        std::map<std::string, int> sizes;
        int world = 0;
        for (Section const& section : sections) {
            for (AicbCall const& call : section.calls) {
                sizes[call.group] = std::max(sizes[call.group], call.size);
                world = std::max(world, call.size);
            }
            for (Rank const rank : section.ranks) {
                world = std::max(world, rank + 1);
            }
        }
        if (auto const assumed = builder_.assumptions().ranks) {
            world = std::max(world, *assumed);
        }
        builder_.world_of(world);
        Trace& trace = builder_.trace();
        for (std::size_t stage = 0; stage < sections.size(); ++stage) {
            Section& section = sections[stage];
            trace.iterations = std::max(trace.iterations, section.iterations);
            if (section.ranks.empty() && sections.size() > 1) {
                input.refuse(
                    "a section of several does not say of which ranks it is; the line [ pp_stage0: [rank0, ...] ] "
                    "must stand in front of each header");
            }
            RankProgram program{section.ranks, {}};
            for (Rank rank = 0; section.ranks.empty() && rank < std::max(world, 1); ++rank) {
                program.ranks.push_back(rank);
            }
            for (AicbCall& call : section.calls) {
                TraceOperation& operation = call.operation;
                if (operation.iteration == section.iterations) {  // behind the last end
                    operation.iteration.reset();
                }
                operation.group = builder_.group(group_of(call.group, call.size, sizes, world));
                bool const is_message_beyond = is_message(operation.kind) &&
                                               !to_neighbour(input, call, section.ranks.size(), stage, sections.size());
                if (!is_message_beyond) {
                    fill_sizes(operation, trace.groups[operation.group].size);
                    program.operations.push_back(std::move(operation));
                }
            }
            builder_.add(input.name(), std::move(program));
        }
    }

    static void fill_sizes(TraceOperation& operation, int ranks) {
        auto const members = static_cast<Bytes>(std::max(ranks, 1));
        if (operation.kind == OperationKind::all_gather) {
            operation.sent = operation.received / members;
        } else if (operation.kind == OperationKind::reduce_scatter) {
            operation.received = operation.sent / members;
        } else if (operation.kind == OperationKind::exchange) {
            split_equally(operation, ranks);
        }
    }

    /// False: AICB passes over what would go beyond the first or the last stage. `apart`: ranks of a stage.
    bool to_neighbour(Input const& input, AicbCall& call, std::size_t apart, std::size_t stage, std::size_t stages) {
        TraceOperation& operation = call.operation;
        bool const next = call.direction.ends_with("next");
        if (!next && !call.direction.ends_with("prev")) {
            input.refuse(fmt::format("'{}' in column additional must be send_next, send_prev, recv_next or recv_prev",
                                     call.direction));
        }
        (operation.kind == OperationKind::send ? operation.received : operation.sent) = 0;
        if (stages == 1) {
            builder_.incomplete(
                "it has sends and receives between stages of a pipeline, but the view of one stage alone");
            return true;
        }
        if (next ? stage + 1 == stages : stage == 0) {
            builder_.leave_out("message beyond the first or the last stage");
            return false;
        }
        operation.peer = next ? static_cast<int>(apart) : -static_cast<int>(apart);
        operation.peer_is_offset = true;
        return true;
    }
};

bool is_aicb(std::string_view /*name*/, std::string_view head) {
    std::size_t const header = head.find("comm_type,comm_group");
    return header == 0 ||
           (header != std::string_view::npos && head[header - 1] == '\n' && first_character(head) == '[');
}

}  // namespace

TraceFormat aicb_format() {
    return {"aicb", "workloads of AICB (CSV)", is_aicb, make_reader<AicbReader>};
}

}  // namespace dlmb::trace
