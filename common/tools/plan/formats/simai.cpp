// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Workloads of SimAI and ASTRA-sim 1 (text): a header, the number of layers, and a line per layer with a computation
// and a communication for the forward pass, the gradients of the input and those of the weights. Sizes are bytes, of a
// whole gathered or unreduced vector. The first two are among the ranks of one model, the last among its copies; a
// suffix of the operation names another group (Workload.cc of SimAI).
#include "common/tools/plan/formats/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace dlmb::trace {
namespace {

struct Header {
    std::map<std::string, int, std::less<>> numbers;
    [[nodiscard]] int operator[](std::string_view name) const {
        auto const found = numbers.find(name);
        return found == numbers.end() ? 0 : found->second;
    }
};

class SimaiReader : public TraceReader {
public:
    using TraceReader::TraceReader;

    void read(Input& input) override {
        std::string_view line;
        if (!input.line(line)) {
            input.refuse("it is empty");
        }
        Header header = header_of(input, line);
        if (header["all_gpus"] == 0 && builder_.assumptions().ranks) {
            header.numbers["all_gpus"] = *builder_.assumptions().ranks;
        }
        if (!input.line(line)) {
            input.refuse("the number of layers is missing in the second line");
        }
        auto const layers = words(line, " \t");
        auto const expected = layers.size() == 1 ? parse_whole<std::uint64_t>(layers[0]) : std::nullopt;
        if (!expected) {
            input.refuse("the second line must be the number of layers");
        }
        RankProgram program;
        std::uint64_t count = 0;
        while (input.line(line)) {
            auto const cells = words(line, " \t");
            if (!cells.empty()) {
                layer(input, header, cells, program);
                ++count;
            }
        }
        if (count != *expected) {
            input.refuse(fmt::format("{} layers follow, but the second line says {}", count, *expected));
        }
        if (program.operations.empty()) {
            input.refuse("no communication in it: every operation is NONE");
        }
        // Workloads of old have no all_gpus: then the ranks of one model are there.
        int const ranks = std::max({header["all_gpus"], header["model_parallel_NPU_group"], 1});
        for (Rank rank = 0; rank < ranks; ++rank) {
            program.ranks.push_back(rank);
        }
        if (header["pp"] > 1) {
            builder_.leave_out("messages between stages of the pipeline, which the format does not have");
        }
        builder_.add(input.name(), std::move(program));
    }

private:
    /// Others of the header, such as pp_comm (bytes), are not used, and are not always followed by a number.
    static Header header_of(Input const& input, std::string_view line) {
        constexpr std::array<std::string_view, 4> used{"model_parallel_NPU_group:", "ep:", "pp:", "all_gpus:"};
        Header header;
        auto const cells = words(line, " \t");
        for (std::size_t place = 1; place + 1 < cells.size(); ++place) {
            std::string_view const name = cells[place];
            if (std::find(used.begin(), used.end(), name) != used.end()) {
                auto const number = parse_whole<int>(cells[place + 1]);
                if (!number || *number < 0 || *number > most_recorded_ranks) {
                    input.refuse(fmt::format("{} '{}' must be a number from 0 to {}", name, cells[place + 1],
                                             most_recorded_ranks));
                }
                header.numbers.emplace(name.substr(0, name.size() - 1), *number);
            }
        }
        return header;
    }

    void layer(Input const& input, Header const& header, std::vector<std::string_view> const& cells,
               RankProgram& program) {
        constexpr std::size_t least = 12;  // name, dependency, three times (time, operation, bytes), time of the update
        if (cells.size() < least) {
            input.refuse(fmt::format("a layer has {} columns, but here are {}", least, cells.size()));
        }
        constexpr std::array<std::string_view, 3> phases{"forward", "backward", "weights"};
        constexpr std::size_t first = 2;
        constexpr std::size_t columns = 3;
        for (std::size_t phase = 0; phase < phases.size(); ++phase) {
            std::size_t const at = first + phase * columns;
            add(input, header, cells[at + 1], cells[at + 2], phase == 2, std::string(phases.at(phase)), program);
            auto const time = parse_whole<double>(cells[at]);
            if (!time || *time < 0) {
                input.refuse(fmt::format("'{}' must be the time of a computation", cells[at]));
            }
            builder_.leave_out("computation");
        }
    }

    void add(Input const& input, Header const& header, std::string_view name, std::string_view size, bool of_weights,
             std::string label, RankProgram& program) {
        constexpr Bytes most = ~Bytes{0} >> 1U;
        Bytes const bytes = whole_text(input, "bytes", size, most);
        if (name == "NONE") {
            return;
        }
        std::size_t const suffix = name.find('_');
        auto const kind = operation_named(name.substr(0, suffix));
        if (!kind) {
            input.refuse(fmt::format("operation '{}' is unknown", name));
        }
        if (bytes == 0 && *kind != OperationKind::barrier) {
            builder_.leave_out("operation of 0 bytes");
            return;
        }
        TraceOperation operation;
        operation.kind = *kind;
        operation.dtype = builder_.assumed_dtype().value_or(Dtype{});
        operation.label = std::move(label);
        TraceGroup group = group_of(header, suffix == std::string_view::npos ? "" : name.substr(suffix), of_weights);
        auto const members = static_cast<Bytes>(std::max(group.size, 1));
        operation.group = builder_.group(std::move(group));
        operation.sent = *kind == OperationKind::all_gather ? bytes / members : bytes;
        operation.received = *kind == OperationKind::reduce_scatter ? bytes / members : bytes;
        if (*kind == OperationKind::exchange) {
            split_equally(operation, static_cast<int>(members));
        }
        program.operations.push_back(std::move(operation));
    }

    [[nodiscard]] static TraceGroup group_of(Header const& header, std::string_view suffix, bool of_weights) {
        int const all = header["all_gpus"];
        int const tensor = std::max(header["model_parallel_NPU_group"], 1);
        int const stages = std::max(header["pp"], 1);
        int const experts = std::max(header["ep"], 1);
        auto const copies = static_cast<int>(all / (std::int64_t{tensor} * stages));
        // Experts lie in consecutive models, their copies where these are over (MockNcclGroup.cc of SimAI).
        bool const fits = copies > 0 && copies % experts == 0;
        if (suffix == "_EP") {
            return {"ep", experts, {}, fits ? tensor : 0};
        }
        if (suffix == "_DP_EP") {
            return {"dp_ep", copies / experts, {}, fits ? tensor * experts : 0};
        }
        if (!of_weights) {
            bool const told = header.numbers.contains("model_parallel_NPU_group");
            return {told ? "tp" : "all", told ? tensor : all, {}, told ? 1 : 0};
        }
        return {"dp", copies, {}, copies > 0 ? tensor : 0};
    }
};

bool is_simai(std::string_view /*name*/, std::string_view head) {
    std::string_view const first = head.substr(0, head.find('\n'));
    auto const cells = words(first, " \t\r");
    constexpr std::array<std::string_view, 12> words_of_astra{"MICRO",
                                                              "DATA",
                                                              "MODEL",
                                                              "HYBRID_DATA_MODEL",
                                                              "HYBRID_MODEL_DATA",
                                                              "HYBRID_DLRM",
                                                              "HYBRID_DLRM_ENHANCED",
                                                              "HYBRID_CUSTOMIZED",
                                                              "HYBRID_TRANSFORMER",
                                                              "HYBRID_TRANSFORMER_FWD_IN_BCKWD",
                                                              "TRANSFORMER",
                                                              "DISTRIBUTED_INFERENCE"};
    return !cells.empty() && std::find(words_of_astra.begin(), words_of_astra.end(), cells[0]) != words_of_astra.end();
}

}  // namespace

TraceFormat simai_format() {
    return {"simai", "workloads of SimAI and ASTRA-sim (text)", is_simai, make_reader<SimaiReader>};
}

}  // namespace dlmb::trace
