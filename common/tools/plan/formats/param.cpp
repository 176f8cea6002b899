// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The basic JSON of PARAM (--trace-type basic of commsTraceReplay.py): a list of operations, one file per rank. Sizes
// and splits are elements. Names: train/comms/pt/commsTraceReplay.py of PARAM, revision 1e115ff.
#include "common/tools/plan/formats/formats.hpp"
#include "common/tools/plan/formats/torch_record.hpp"

#include <fmt/format.h>

#include <map>

namespace dlmb::trace {
namespace {

struct ParamGroup {
    int size = 0;
    std::vector<Rank> members;
};

class ParamReader : public TraceReader {
public:
    using TraceReader::TraceReader;

    void read(Input& input) override {
        auto const rank = rank_of_name(input.name());
        if (!rank && any_) {
            input.refuse("its name does not tell its rank; name the files 0.json, 1.json, ...");
        }
        any_ = true;
        RankProgram program{{rank.value_or(0)}, {}};
        std::map<Bytes, ParamGroup> groups;
        scan_json(input, {[](std::string_view /*name*/) { return false; },
                          [&](std::string_view /*list*/, std::uint64_t index, Json const& value) {
                              entry(input, fmt::format("entry {}", index), value, groups, program);
                          },
                          [&](std::string_view, Json const&) { input.refuse("a PARAM trace is a list"); }});
        if (program.operations.empty()) {
            input.refuse("no communication in it: no entry with an operation in \"comms\"");
        }
        builder_.add(input.name(), std::move(program));
    }

    /// An old trace does not say who takes part. PARAM replays it with as many ranks as it has files.
    void finish() override {
        Trace& trace = builder_.trace();
        for (TraceGroup& group : trace.groups) {
            if (group.size == 0 && trace.ranks > 1) {
                group.size = trace.ranks;
            }
        }
    }

private:
    void entry(Input const& input, std::string const& where, Json const& json, std::map<Bytes, ParamGroup>& groups,
               RankProgram& program) {
        if (!json.is_object()) {
            input.refuse(fmt::format("{} must be an object", where));
        }
        if (json.contains("compute")) {
            builder_.leave_out("computation");
            return;
        }
        if (!json.contains("comms") || !json["comms"].is_string()) {
            builder_.leave_out("marker");
            return;
        }
        auto const number = [&](char const* name) -> std::optional<Bytes> {
            return json.contains(name) && !json[name].is_null()
                       ? std::optional(whole_number(input, fmt::format("{}.{}", where, name), json[name]))
                       : std::nullopt;
        };
        auto const ranks_of = [&](char const* name) {
            return rank_number(input, fmt::format("{}.{}", where, name), Json(number(name).value_or(0)));
        };
        auto const& name = json["comms"].get_ref<std::string const&>();
        TorchRecord record;
        record.where = where;
        record.name = name;
        ParamGroup& group = groups[number("pg_id").value_or(0)];
        if (int const size = ranks_of("world_size"); size > 0) {
            group.size = size;
        }
        if (json.contains("global_ranks")) {
            std::string const place = where + ".global_ranks";
            group.members = members_of(input, place, number_list(input, place, json["global_ranks"]).numbers);
            group.size = group.members.empty() ? group.size : static_cast<int>(group.members.size());
        }
        auto const kind = operation_named(name);
        if (!kind) {
            (void)operation_of(builder_, input, record);  // leaves it out
            return;
        }
        record.group = group.size > 0 && static_cast<int>(group.members.size()) == group.size
                           ? std::to_string(number("pg_id").value_or(0))
                           : "";
        record.group_size = group.size;
        record.ranks = std::make_shared<NumberList const>(
            NumberList{std::vector<Bytes>(group.members.begin(), group.members.end()), false});
        if (kind != OperationKind::barrier) {
            sizes(input, where, json, *kind, record, number("in_msg_size"), number("out_msg_size"));
        }
        if (is_message(*kind)) {
            char const* const key = kind == OperationKind::send ? "dst_rank" : "src_rank";
            if (number(key)) {
                record.peer = ranks_of(key);
            } else if (name.find("any") == std::string::npos) {
                input.refuse(fmt::format("{}: a {} without {}", where, name_of(*kind), key));
            }
        }
        if (auto operation = operation_of(builder_, input, record)) {
            if (auto const root = number("root"); root && *root < most_recorded_ranks) {
                operation->root = builder_.trace()
                                      .groups[operation->group]
                                      .place_of(static_cast<Rank>(*root))
                                      .value_or(static_cast<int>(*root));
            }
            program.operations.push_back(std::move(*operation));
        }
    }

    static void sizes(Input const& input, std::string const& where, Json const& json, OperationKind kind,
                      TorchRecord& record, std::optional<Bytes> in, std::optional<Bytes> out) {
        if (!in && !out) {
            input.refuse(fmt::format("{}: no in_msg_size and no out_msg_size", where));
        }
        record.in_elements = in.value_or(0);
        record.out_elements = out.value_or(0);
        std::string const dtype =
            json.contains("dtype") && json["dtype"].is_string() ? json["dtype"].get<std::string>() : "";
        record.dtype = dtype_named(dtype);
        if (!record.dtype) {
            input.refuse(fmt::format("{}: dtype '{}' is unknown", where, dtype));
        }
        if (kind != OperationKind::exchange) {
            return;
        }
        record.in_split = number_list(input, where + ".in_split", json.value("in_split", Json()));
        record.out_split = number_list(input, where + ".out_split", json.value("out_split", Json()));
        if (record.group_size == 0) {
            record.group_size = static_cast<int>(record.in_split.numbers.size());
        }
        if (record.group_size > 0 && record.in_split.numbers.empty() &&
            !equal_part(record.in_elements, record.group_size)) {
            input.refuse(
                fmt::format("{}: no in_split, and {} elements are no equal parts for {} ranks; record the splits",
                            where, record.in_elements, record.group_size));
        }
    }

    bool any_ = false;
};

bool is_param(std::string_view /*name*/, std::string_view head) {
    return first_character(head) == '[' && (has_member(head, "comms") || has_member(head, "compute"));
}

}  // namespace

TraceFormat param_format() {
    return {"param", "basic JSON of PARAM, one file per rank", is_param, make_reader<ParamReader>};
}

}  // namespace dlmb::trace
