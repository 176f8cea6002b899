// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Execution traces of PyTorch (ExecutionTraceObserver), schemas 1.0.x and 1.1.x: one JSON file per rank. Up to 1.0.1 a
// node holds inputs and input_types, later inputs.values and inputs.types, and from 1.1 on the attributes of the call.
// Places of the arguments of record_param_comms: torch/csrc/distributed/c10d/ParamCommsUtils.cpp of PyTorch.
#include "common/tools/plan/formats/formats.hpp"
#include "common/tools/plan/formats/torch_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace dlmb::trace {
namespace {

struct ProcessGroup {
    int size = 0;
    std::shared_ptr<NumberList const> ranks;
};

struct TraceFile {
    std::map<std::string, ProcessGroup> groups;
    std::vector<TorchRecord> calls;
    bool ended = false;
};

bool is_tensor(Json const& value) {
    constexpr std::size_t fields = 6;  // tensor, storage, offset, elements, bytes of an element, device
    return value.is_array() && value.size() >= fields && value[0].is_number() && value[3].is_number() &&
           value[5].is_string();
}

class ExecutionTraceReader : public TraceReader {
public:
    using TraceReader::TraceReader;

    void read(Input& input) override {
        TraceFile file;
        scan_json(input, {[](std::string_view name) { return name == "nodes"; },
                          [&](std::string_view /*list*/, std::uint64_t index, Json const& value) {
                              node(input, file, index, value);
                          },
                          [&](std::string_view name, Json const& value) {
                              if (name == "schema") {
                                  schema(input, value);
                              } else if (name == "finish_ts") {
                                  file.ended = true;
                              }
                          }});
        finish_file(input, file);
    }

    void finish() override { forget_callers_as_roots(builder_.trace()); }

private:
    static void schema(Input const& input, Json const& version) {
        std::string const text = version.is_string() ? version.get<std::string>() : std::string();
        if (!text.starts_with("1.0") && !text.starts_with("1.1")) {
            input.refuse(fmt::format("schema {} is unknown; 1.0.x and 1.1.x are read",
                                     version.dump(-1, ' ', false, Json::error_handler_t::replace)));
        }
    }

    static Json const& part(Json const& node, char const* old_name, char const* side, char const* part) {
        static Json const none = Json::array();
        if (node.contains(old_name) && node[old_name].is_array()) {
            return node[old_name];
        }
        if (node.contains(side) && node[side].is_object() && node[side].contains(part) && node[side][part].is_array()) {
            return node[side][part];
        }
        return none;
    }

    void node(Input const& input, TraceFile& file, std::uint64_t index, Json const& node) {
        if (!node.is_object() || !node.contains("name") || !node["name"].is_string()) {
            return;
        }
        auto const& name = node["name"].get_ref<std::string const&>();
        std::string const where = fmt::format("nodes[{}]", index);
        if (name.find("process_group:init") != std::string::npos) {
            add_groups(input, file, where, part(node, "inputs", "inputs", "values"));
        } else if (name == "record_param_comms") {
            add_call(input, file, where, node);
        }
    }

    void add_groups(Input const& input, TraceFile& file, std::string const& where, Json const& values) {
        if (values.empty() || !values[0].is_string()) {
            return;
        }
        auto const& text = values[0].get_ref<std::string const&>();
        Json const list = Json::parse(text, nullptr, false);
        if (!list.is_array()) {
            builder_.incomplete(fmt::format("{}: {}: the list of process groups is cut off", input.name(), where));
            return;
        }
        for (Json const& each : list) {
            if (!each.is_object()) {
                continue;
            }
            ProcessGroup group;
            group.size = rank_number(input, where + ".group_size", each.value("group_size", Json(0U)));
            group.ranks =
                std::make_shared<NumberList const>(number_list(input, where + ".ranks", each.value("ranks", Json())));
            if (group.size == 0) {
                group.size = static_cast<int>(group.ranks->numbers.size());
            }
            // Calls name a group by its name, or before 1.0.3 by an address.
            for (char const* const key : {"pg_name", "backend_id", "uid"}) {
                if (each.contains(key)) {
                    file.groups[key_of(each[key])] = group;
                }
            }
        }
    }

    static std::string key_of(Json const& value) {
        if (value.is_array() && !value.empty()) {
            return key_of(value[0]);  // [name, description]
        }
        return value.is_string() ? value.get<std::string>()
                                 : value.dump(-1, ' ', false, Json::error_handler_t::replace);
    }
    /// Elements of all tensors in `value`, one by one; their dtype is told by `types` and their own size of an element.
    static void tensors(Input const& input, std::string const& where, Json const& value, std::vector<Bytes>& elements,
                        std::optional<Bytes>& element_bytes) {
        if (is_tensor(value)) {
            elements.push_back(whole_number(input, where, value[3]));
            element_bytes = whole_number(input, where, value[4]);
        } else if (value.is_array()) {
            for (Json const& inner : value) {
                tensors(input, where, inner, elements, element_bytes);
            }
        }
    }

    static std::optional<Dtype> dtype_of(Json const& types, std::size_t index) {
        if (types.size() <= index || !types[index].is_string()) {
            return std::nullopt;
        }
        auto const& text = types[index].get_ref<std::string const&>();
        std::size_t const begin = text.find("Tensor(");
        if (begin == std::string::npos) {
            return std::nullopt;
        }
        return dtype_named(text.substr(begin, text.find(')', begin) + 1 - begin));
    }

    void add_call(Input const& input, TraceFile& file, std::string const& where, Json const& node) {
        Json const& values = part(node, "inputs", "inputs", "values");
        Json const& types = part(node, "input_types", "inputs", "types");
        Json const& outputs = part(node, "outputs", "outputs", "values");
        // [tensors,] sequence number, group, rank, name, in split, out split [, first rank, stride] [, size of the
        // group]
        constexpr std::size_t with_tensors = 4;
        std::size_t name = with_tensors;
        if (values.size() > 3 && values[3].is_string()) {
            name = 3;
        }
        if (values.size() <= name || !values[name].is_string()) {
            input.refuse(fmt::format("{}: record_param_comms has no name of an operation in its inputs", where));
        }
        TorchRecord record;
        record.where = where;
        record.name = values[name].get<std::string>();
        record.group = key_of(values[name - 2]);
        auto const kind = operation_named(record.name);
        if (!kind) {
            file.calls.push_back(std::move(record));
            return;
        }
        if (values[name - 1].is_number_unsigned()) {
            record.argument = rank_number(input, where + ".rank", values[name - 1]);
        }
        std::vector<Bytes> in;
        std::vector<Bytes> out;
        std::optional<Bytes> element_bytes;
        if (name == with_tensors) {
            tensors(input, where + ".inputs", values[0], in, element_bytes);
            record.dtype = dtype_of(types, 0);
        }
        tensors(input, where + ".outputs", outputs, out, element_bytes);
        if (!record.dtype) {
            record.dtype = dtype_of(part(node, "output_types", "outputs", "types"), 0);
        }
        record.in_elements = total(input, where, in);
        record.out_elements = total(input, where, out);
        if (values.size() > name + 2) {
            record.in_split = number_list(input, where + ".in_split", values[name + 1]);
            record.out_split = number_list(input, where + ".out_split", values[name + 2]);
        }
        // The size of the group stands behind the splits, or behind the first rank and the stride.
        std::size_t const size = values.size() > name + 5 ? name + 5 : name + 3;
        if (values.size() > size && values[size].is_number_unsigned()) {
            record.group_size = rank_number(input, where + ".group_size", values[size]);
        }
        if (kind == OperationKind::exchange && record.in_split.numbers.empty() && in.size() > 1) {
            record.in_split.numbers = in;
        }
        if (kind == OperationKind::exchange && record.out_split.numbers.empty() && out.size() > 1) {
            record.out_split.numbers = out;
        }
        attributes(input, where, node, record);
        if (record.dtype && element_bytes && record.dtype->bytes != *element_bytes) {
            input.refuse(fmt::format("{}: its elements have {} bytes, but {} has {}", where, *element_bytes,
                                     record.dtype->name, record.dtype->bytes));
        }
        learn_size(file, record);
        file.calls.push_back(std::move(record));
    }

    /// Schema 1.1 says most of it by name.
    static void attributes(Input const& input, std::string const& where, Json const& node, TorchRecord& record) {
        if (!node.contains("attrs") || !node["attrs"].is_array()) {
            return;
        }
        for (Json const& attribute : node["attrs"]) {
            if (!attribute.is_object() || !attribute.contains("value")) {
                continue;
            }
            std::string const name = attribute.contains("name") ? key_of(attribute["name"]) : std::string();
            Json const& value = attribute["value"];
            std::string const place = fmt::format("{}.attrs.{}", where, name);
            if (name == "in_msg_nelems") {
                record.in_elements = whole_number(input, place, value);
            } else if (name == "out_msg_nelems") {
                record.out_elements = whole_number(input, place, value);
            } else if (name == "group_size" || name == "pg_size") {
                record.group_size = rank_number(input, place, value);
            } else if (name == "dtype" && value.is_string() && dtype_named(value.get_ref<std::string const&>())) {
                record.dtype = dtype_named(value.get_ref<std::string const&>());
            }
        }
    }

    /// Traces before 1.0.2 tell the size of a group only by how many parts its exchanges have.
    static void learn_size(TraceFile& file, TorchRecord const& record) {
        ProcessGroup& group = file.groups[record.group];
        if (group.size == 0) {
            group.size = record.group_size;
        }
        if (group.size == 0 && !record.in_split.cut) {
            group.size = static_cast<int>(record.in_split.numbers.size());
        }
    }

    /// The rank of this file: that of a group of which it is known who is in it, or of the largest one.
    [[nodiscard]] static std::optional<Rank> rank_of(Input const& input, TraceFile const& file) {
        int world = 0;
        for (auto const& [name, group] : file.groups) {
            world = std::max(world, group.size);
        }
        for (TorchRecord const& record : file.calls) {
            if (auto const rank = own_rank(record, world)) {
                return rank;
            }
        }
        return rank_of_name(input.name());
    }

    void finish_file(Input const& input, TraceFile& file) {
        bool const any = std::any_of(file.calls.begin(), file.calls.end(), [](TorchRecord const& record) {
            return operation_named(record.name).has_value();
        });
        if (!any) {
            input.refuse(
                "no communication in it (no node record_param_comms with an operation); record a run of several "
                "ranks that uses torch.distributed, after init_process_group()");
        }
        for (TorchRecord& record : file.calls) {
            if (auto const known = file.groups.find(record.group); known != file.groups.end()) {
                record.group_size = known->second.size;
                record.ranks = known->second.ranks;
            }
        }
        auto const rank = rank_of(input, file);
        if (!rank) {
            input.refuse(
                "neither its process groups nor the name of the file tell the rank; name it like trace.3.json");
        }
        if (!file.ended) {
            builder_.incomplete(fmt::format("{}: no finish_ts: the observer was not stopped", input.name()));
        }
        RankProgram program{{*rank}, {}};
        for (TorchRecord& record : file.calls) {
            // Before 1.0.3 a group has an address for a name, another one in each process.
            if (record.group.size() > 5 && record.group.find_first_not_of("0123456789") == std::string::npos) {
                record.group.clear();
            }
            if (auto operation = operation_of(builder_, input, record)) {
                program.operations.push_back(std::move(*operation));
            }
        }
        builder_.add(input.name(), std::move(program));
    }
};

bool is_execution_trace(std::string_view /*name*/, std::string_view head) {
    return first_character(head) == '{' && has_member(head, "schema") && has_member(head, "nodes");
}

}  // namespace

TraceFormat execution_trace_format() {
    return {"pytorch-et", "execution traces of PyTorch (schema 1.0.x, 1.1.x), one file per rank", is_execution_trace,
            make_reader<ExecutionTraceReader>};
}

}  // namespace dlmb::trace
