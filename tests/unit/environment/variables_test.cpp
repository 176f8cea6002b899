// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/environment/variables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace dlmb::measure {
namespace {

using RecordedVariables = std::map<std::string, std::string>;
using testing::MatchesRegex;

std::string recorded(std::string const& name, std::string const& value) {
    auto const variables = recorded_variables({{name, value}});
    return variables.contains(name) ? variables.at(name) : "nothing";
}

TEST(Variables, AreRecordedByAllowListOnly) {
    std::map<std::string, std::string, std::less<>> const environment{
        {"UCX_TLS", "sm,self"},         {"NCCL_ALGO", "Ring"},
        {"OMPI_MCA_btl", "self,vader"}, {"LD_PRELOAD", "libx.so"},
        {"SLURM_JOB_ID", "17"},         {"SLURM_JOB_ACCOUNT", "someone"},
        {"HOME", "folder-of-someone"},  {"PATH", "somewhere"},
        {"GITHUB_TOKEN", "abc"},        {"MY_UCX_TLS", "x"}};
    EXPECT_EQ(recorded_variables(environment), (RecordedVariables{{"UCX_TLS", "sm,self"},
                                                                  {"NCCL_ALGO", "Ring"},
                                                                  {"OMPI_MCA_btl", "self,vader"},
                                                                  {"LD_PRELOAD", "libx.so"},
                                                                  {"SLURM_JOB_ID", "17"}}));
}

// tests/convert/test_variables.py holds what is written in Python to the same lines.
TEST(Variables, AreRecordedAsTheSharedFileSays) {
    std::ifstream file(DLMB_VARIABLES);
    std::size_t lines = 0;
    for (std::string kind, line; file >> kind && std::getline(file >> std::ws, line);) {
        if (kind.front() == '#') {
            continue;
        }
        std::string const name = line.substr(0, line.find('='));
        std::string const value = line.substr(name.size() + 1);
        for (std::string const& each :
             name == "*" ? std::vector<std::string>{"UCX_TLS", "UCX_NEWS", "LD_PRELOAD"} : std::vector{name}) {
            std::string const pattern = kind == "hash" ? "<hash [0-9a-f]{6}>" : kind == "redacted" ? "<redacted>" : "";
            EXPECT_TRUE(pattern.empty() || testing::Matches(MatchesRegex(pattern))(recorded(each, value))) << line;
            EXPECT_TRUE(!pattern.empty() || recorded(each, value) == (kind == "value" ? value : kind)) << line;
        }
        ++lines;
    }
    EXPECT_GT(lines, 50U);
}

// So that launches that differ in a value can be told, but not that two variables hold the same.
TEST(Variables, HaveAHashOfNameAndValue) {
    std::string const hash = recorded("OMPI_MCA_user_choice", "hunter2");
    EXPECT_EQ(recorded("OMPI_MCA_user_choice", "hunter2"), hash);
    EXPECT_NE(recorded("OMPI_MCA_user_choice", "hunter3"), hash);
    EXPECT_NE(recorded("OMPI_MCA_another_choice", "hunter2"), hash);
}

}  // namespace
}  // namespace dlmb::measure
