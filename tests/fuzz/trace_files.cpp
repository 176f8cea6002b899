// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Traces of recorded runs: the bytes are given to the reader of every format, and to the one that is found out.
#include "common/trace/read.hpp"
#include "common/trace/summary.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/targets.hpp"

#include <nlohmann/json.hpp>

namespace dlmb::fuzz {
namespace {

/// The summary is JSON, and its entries lie inside of what it says of itself.
void check_summary(trace::Trace const& trace) {
    auto const summary = nlohmann::json::parse(trace::summary_json(trace));
    require(summary["complete"] == summary["why_not"].empty(), "a complete trace has reasons not to be");
    for (auto const& entry : summary["operations"]) {
        require(entry["rank"] < summary["ranks"], "a rank is not of the run");
        require(entry["count"] > 0 || entry["bytes"] == 0, "no call sends bytes");
        if (summary["complete"]) {
            require(entry["group_size"].is_number() && entry["group_size"] <= summary["ranks"],
                    "a group is larger than the run");
        }
    }
    require(!trace::summary_text(trace).empty(), "the text is empty");
}

}  // namespace

void trace_files(std::string_view input) {
    static MemoryFile const file;
    file.hold(input);
    auto const read = [&](std::string const& format) {
        (void)accepts([&] { check_summary(trace::read_trace({file.path()}, {format, {}})); });
    };
    read("");
    for (trace::Format const& format : trace::all_formats()) {
        read(std::string(format.name));
    }
}

}  // namespace dlmb::fuzz
