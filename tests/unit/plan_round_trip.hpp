// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plans through a file and back.
#pragma once

#include "common/base/error.hpp"
#include "common/formats/plan_file/plan_file.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace dlmb {

/// A file that is gone with the object.
class PlanTestFile {
public:
    explicit PlanTestFile(std::string const& text)
        : path_(testing::TempDir() + "dlmb_plan_" + std::to_string(std::random_device{}()) + ".jsonl") {
        std::ofstream(path_, std::ios::binary) << text;
    }
    ~PlanTestFile() { std::filesystem::remove(path_); }
    PlanTestFile(PlanTestFile const&) = delete;
    PlanTestFile& operator=(PlanTestFile const&) = delete;
    [[nodiscard]] std::filesystem::path const& path() const { return path_; }

private:
    std::filesystem::path path_;
};

[[nodiscard]] inline std::vector<Plan> read_back(std::filesystem::path const& path) {
    std::vector<Plan> plans;
    read_plans(path, {[](PlanHeader const& /*header*/) { return true; },
                      [&](Plan plan) {
                          plans.push_back(std::move(plan));
                          return true;
                      }});
    return plans;
}

/// The first difference in the plans of all ranks after they were written and read; empty: they are equal.
[[nodiscard]] inline std::string round_trip_problem(std::vector<Plan> const& plans) {
    PlanHeader header;
    header.pattern = "round_trip";
    header.world = {static_cast<int>(plans.size()), 0};
    std::string const text = plan_lines(header, plans);
    try {
        PlanTestFile const file(text);
        std::vector<Plan> const read = read_back(file.path());
        for (std::size_t rank = 0; rank < plans.size(); ++rank) {
            if (read.at(rank) != plans[rank]) {
                return "the plan of rank " + std::to_string(rank) + " was read back as another one";
            }
        }
        return plan_lines(header, read) == text ? "" : "what was read is written otherwise";
    } catch (Error const& error) {
        return error.what();
    }
}

}  // namespace dlmb
