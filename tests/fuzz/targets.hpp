// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The fuzz targets: each is a file of its name, with seeds in the folder of its name below corpus/.
#pragma once

#include <string_view>

namespace dlmb::fuzz {

void command_line(std::string_view input);
void counts_file(std::string_view input);
void environment(std::string_view input);
void library_text(std::string_view input);
void machine_files(std::string_view input);
void machine_model(std::string_view input);
void measurements(std::string_view input);
void mpich_tree(std::string_view input);
void model_file(std::string_view input);
void nccl_rules(std::string_view input);
void option_values(std::string_view input);
void placement_file(std::string_view input);
void preset_file(std::string_view input);
void request_file(std::string_view input);
void result_file(std::string_view input);
void tool_options(std::string_view input);
void topology(std::string_view input);
void trace_aicb(std::string_view input);
void trace_chakra(std::string_view input);
void trace_execution(std::string_view input);
void trace_flight(std::string_view input);
void trace_goal(std::string_view input);
void trace_inspector(std::string_view input);
void trace_kineto(std::string_view input);
void trace_log(std::string_view input);
void trace_matrix(std::string_view input);
void trace_param(std::string_view input);
void trace_plan(std::string_view input);
void trace_pmpi(std::string_view input);
void trace_requests(std::string_view input);
void trace_simai(std::string_view input);
void tuning_table(std::string_view input);
void verify_output(std::string_view input);

struct Target {
    std::string_view name;
    void (*read)(std::string_view);
};
inline constexpr Target targets[]{
    {"command_line", command_line},
    {"counts_file", counts_file},
    {"environment", environment},
    {"library_text", library_text},
    {"machine_files", machine_files},
    {"machine_model", machine_model},
    {"measurements", measurements},
    {"mpich_tree", mpich_tree},
    {"model_file", model_file},
    {"nccl_rules", nccl_rules},
    {"option_values", option_values},
    {"placement_file", placement_file},
    {"preset_file", preset_file},
    {"request_file", request_file},
    {"result_file", result_file},
    {"tool_options", tool_options},
    {"topology", topology},
    {"trace_aicb", trace_aicb},
    {"trace_chakra", trace_chakra},
    {"trace_execution", trace_execution},
    {"trace_flight", trace_flight},
    {"trace_goal", trace_goal},
    {"trace_inspector", trace_inspector},
    {"trace_kineto", trace_kineto},
    {"trace_log", trace_log},
    {"trace_matrix", trace_matrix},
    {"trace_param", trace_param},
    {"trace_plan", trace_plan},
    {"trace_pmpi", trace_pmpi},
    {"trace_requests", trace_requests},
    {"trace_simai", trace_simai},
    {"tuning_table", tuning_table},
    {"verify_output", verify_output},
};

}  // namespace dlmb::fuzz
