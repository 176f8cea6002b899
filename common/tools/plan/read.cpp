// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/plan/read.hpp"

#include "common/base/error.hpp"
#include "common/base/row_named.hpp"
#include "common/formats/input/input.hpp"
#include "common/tools/plan/formats/formats.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace dlmb::trace {
namespace {

constexpr std::size_t head_bytes = std::size_t{64} << 10;

/// Protocol 2 or newer: an opcode with the number of the protocol, then one that begins a value.
bool is_pickle(std::string_view head) {
    constexpr std::string_view protocols = "\2\3\4\5";
    constexpr std::string_view values = "}(]\x95Xcq\x8c";
    return head.size() > 2 && head[0] == '\x80' && protocols.find(head[1]) != std::string_view::npos &&
           values.find(head[2]) != std::string_view::npos;
}

TraceFormat const& format_of(Input& input) {
    std::string_view const head = input.peek(head_bytes);
    if (head.empty()) {
        input.refuse("it is empty");
    }
    if (is_pickle(head)) {
        input.refuse(
            "it is a pickle, as PyTorch's flight recorder writes them; if you trust it, make JSON of it: python3 -c "
            "'import json, pickle, sys; json.dump(pickle.load(sys.stdin.buffer), sys.stdout)' < FILE > FILE.json");
    }
    for (TraceFormat const& format : all_formats()) {
        if (format.suits(input.name(), head)) {
            return format;
        }
    }
    std::vector<std::string_view> names;
    for (TraceFormat const& format : all_formats()) {
        names.push_back(format.name);
    }
    input.refuse(fmt::format("none of the formats that are read: {}; --format forces one", fmt::join(names, ", ")));
}

}  // namespace

bool has_member(std::string_view head, std::string_view name) {
    std::string const quoted = fmt::format("\"{}\"", name);
    for (std::size_t place = head.find(quoted); place != std::string_view::npos; place = head.find(quoted, place + 1)) {
        std::size_t const next = head.find_first_not_of(" \t\r\n", place + quoted.size());
        if (next != std::string_view::npos && head[next] == ':') {
            return true;
        }
    }
    return false;
}

char first_character(std::string_view head) {
    std::size_t const first = head.find_first_not_of(" \t\r\n");
    return first == std::string_view::npos ? '\0' : head[first];
}

std::span<TraceFormat const> all_formats() {
    static std::array const formats{plan_format(),     flight_recorder_format(),
                                    kineto_format(),   execution_trace_format(),
                                    param_format(),    nccl_inspector_format(),
                                    aicb_format(),     simai_format(),
                                    nccl_log_format(), goal_format(),
                                    pmpi_format(),     nccl_matrix_format(),
                                    requests_format(), chakra_format()};
    return formats;
}

Trace read_trace(std::vector<std::filesystem::path> const& paths, ReadOptions const& options) {
    Builder builder(options.assumptions);
    TraceFormat const* format =
        options.format.empty() ? nullptr : &row_named(all_formats(), options.format, "format", "--format: ");
    std::unique_ptr<TraceReader> reader;
    std::string first;
    each_input(paths, [&](Input& input) {
        if (format == nullptr || options.format.empty()) {
            TraceFormat const& found = format_of(input);
            if (format != nullptr && found.name != format->name) {
                input.refuse(
                    fmt::format("it is {}, but {} is {}; give files of one format", found.name, first, format->name));
            }
            format = &found;
        }
        if (!reader) {
            first = input.name();
            builder.trace().format = format->name;
            reader = format->make(builder);
        }
        reader->read(input);
    });
    reader->finish();
    return builder.finish();
}

}  // namespace dlmb::trace
