// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Result files: read, written again, made into rules, and continued by --results.
#include "common/formats/record/result_file.hpp"

#include "common/formats/record/json.hpp"
#include "common/tools/tune/build/build_table.hpp"
#include "common/tools/tune/build/observe.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/targets.hpp"

namespace dlmb::fuzz {
namespace {

record::Json json_of(std::string const& line) {
    return record::Json::parse(line);
}

/// What is written of a line is read as the same.
void check_written(record::ResultFile const& results) {
    for (record::Launch const& launch : results.launches) {
        if (!launch.origin) {
            std::string const line = to_json_line(launch);
            require(to_json_line(record::launch_from(json_of(line))) == line, "a launch is read as another one");
        }
    }
    for (record::StoredCell const& stored : results.cells) {
        if (!stored.cell.origin) {
            std::string const line = to_json_line(stored.launch_id, stored.cell);
            require(to_json_line(stored.launch_id, record::record_from(json_of(line))) == line,
                    "a cell is read as another one");
        }
    }
    for (record::End const& end : results.ends) {
        std::string const line = to_json_line(end);
        require(to_json_line(record::end_from(json_of(line))) == line, "an end is read as another one");
    }
}

void build(record::ResultFile const& results) {
    tuning::Observations observations({true, true, "isolated", {}});
    observations.add(results, "results.jsonl");
    tuning::Policy policy;
    policy.launches = 1;
    (void)build_rules(observations.kept(), {}, policy, true);
}

/// A new line stands behind all whole lines that were there, or nothing is changed.
void append(MemoryFile const& file, std::string_view before) {
    std::string const whole(before.substr(0, before.rfind('\n') + 1));
    if (!accepts([&] { record::ResultWriter(file.path()).append("{}"); })) {
        require(file.content() == before, "what is no result file is changed");
        return;
    }
    std::string const after = file.content();
    require(after.starts_with(whole) && after.ends_with("\n{}\n") + (after == "{}\n") == 1, "a line is lost");
}

}  // namespace

void result_file(std::string_view input) {
    static MemoryFile const file;
    file.hold(input);
    (void)accepts([&] { (void)record::finished_cells(file.path(), "collective"); });
    (void)accepts([&] {
        auto const results = record::read_results(file.path(), record::Converted::read);
        check_written(results);
        build(results);
    });
    append(file, input);
}

}  // namespace dlmb::fuzz
