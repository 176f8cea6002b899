// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Writes the examples of results-schema/ with the code that every program writes its results with, and fresh.jsonl with
// the environment of this machine, which is only validated. To renew the examples: write_schema_examples
// results-schema/examples, then remove fresh.jsonl.
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/formats/record/json.hpp"
#include "common/formats/record/result_file.hpp"
#include "common/formats/table/table_file.hpp"
#include "common/measure/environment/capture.hpp"
#include "tests/unit/record/sample_records.hpp"
#include "tests/unit/table/sample_table.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <fstream>

namespace dlmb::record {
namespace {

std::map<std::string, double> sample_derived() {
    return {{"main_alone_us", 100}, {"beside_alone_us", 50}, {"interference", 1.25}, {"overlap_share", 0.5}};
}

void write_results(std::filesystem::path const& path, Launch const& launch, std::vector<Record> const& cells,
                   bool ends) {
    std::filesystem::remove(path);
    ResultWriter writer(path);
    writer.append(to_json_line(launch));
    for (Record const& cell : cells) {
        writer.append(to_json_line(launch.launch_id, cell));
    }
    if (ends) {
        writer.append(to_json_line(Derived{launch.launch_id, cells.front().cell_id, sample_derived()}));
        End end = sample_end();
        end.launch_id = launch.launch_id;
        writer.append(to_json_line(end));
    }
}

Launch launch_of_this_machine() {
    Launch launch = sample_launch();
    launch.launch_id = launch.campaign_id = new_launch_id();
    launch.time = utc_now();
    in_process::run_ranks(4, 2, [&](Bootstrap& bootstrap) {
        Environment environment = measure::capture_environment(bootstrap);
        if (bootstrap.rank() == 0) {
            launch.environment = std::move(environment);
        }
    });
    return launch;
}

void write_all(std::filesystem::path const& folder) {
    write_results(folder / "results.jsonl", sample_launch(),
                  {sample_cell(), sample_skipped_cell(), sample_invalid_cell()}, true);
    write_results(folder / "killed.jsonl", sample_gpu_launch(), {sample_cell()}, false);
    write_results(folder / "fresh.jsonl", launch_of_this_machine(), {sample_cell(), sample_skipped_cell()}, true);
    std::vector<Plan> plans(4);  // two of the ranks do nothing
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
        plans[rank].me = static_cast<Rank>(rank);
    }
    for (Plan const& plan : sample_plans()) {
        plans.at(static_cast<std::size_t>(plan.me)) = plan;
    }
    std::ofstream(folder / "plan.jsonl") << plan_lines(sample_plan_header(), plans);
    tuning::write_table(folder / "tuning-table.json", tuning::sample_table());
}

}  // namespace
}  // namespace dlmb::record

int main(int count, char** arguments) {
    if (count != 2) {
        fmt::print(stderr, "usage: write_schema_examples FOLDER\n");
        return 64;
    }
    try {
        dlmb::record::write_all(arguments[1]);
    } catch (std::exception const& error) {
        fmt::print(stderr, "write_schema_examples: error: {}\n", error.what());
        return 1;
    }
    return 0;
}
