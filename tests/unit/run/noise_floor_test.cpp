// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// From medians of launches to what a comparison can see; the files are made here.
#include "common/base/error.hpp"
#include "common/formats/record/json.hpp"
#include "common/run/info/noise_floor.hpp"
#include "tests/unit/record/temporary_folder.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace dlmb::run {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// One line for the launch and one for its only cell, all rounds of which took `median_ns`.
std::string launch_lines(std::string const& launch_id, std::string const& campaign, std::string const& env_key,
                         double median_ns) {
    record::Launch launch;
    launch.launch_id = launch_id;
    launch.campaign_id = campaign.empty() ? launch_id : campaign;
    launch.environment.env_key = env_key;
    record::Record cell;
    cell.cell_id = "backend=mpi";
    cell.result.samples_ns = {1, 2, 3};
    cell.result.round_medians_ns = {median_ns, median_ns};
    cell.result.median_of_rounds_ns = median_ns;
    return record::to_json_line(launch) + "\n" + record::to_json_line(launch_id, cell) + "\n";
}

TEST(NoiseFloor, LaunchesOfOneCampaignGiveTheSpreadOfTheirMedians) {
    record::TemporaryFolder const folder;
    std::string text;
    for (int i = 0; i < 3; ++i) {
        text += launch_lines(fmt::format("l{}", i), "night", "e", 100'000 + 1000 * i);
    }
    record::write_file(folder / "a.jsonl", text);
    record::write_file(folder / "b.jsonl", launch_lines("l3", "night", "e", 103'000) +
                                               launch_lines("l4", "day", "e", 9) +
                                               launch_lines("l5", "night", "other machine", 9));
    NoiseFloor const floor = read_noise_floor({folder / "a.jsonl", folder / "b.jsonl"});
    EXPECT_TRUE(floor.between_launches);
    ASSERT_EQ(floor.cells.size(), 1U);
    EXPECT_EQ(floor.cells[0].medians_ns, (std::vector<double>{100'000, 101'000, 102'000, 103'000}));
}

TEST(NoiseFloor, LaunchesWithoutACampaignBelongTogether) {
    record::TemporaryFolder const folder;
    record::write_file(folder / "a.jsonl", launch_lines("l0", "", "e", 100) + launch_lines("l1", "", "e", 101) +
                                               launch_lines("l2", "", "e", 102));
    EXPECT_EQ(read_noise_floor({folder / "a.jsonl"}).cells.at(0).medians_ns.size(), 3U);
}

TEST(NoiseFloor, TwoLaunchesSayNothingOfTheirSpread) {
    record::TemporaryFolder const folder;
    record::write_file(folder / "a.jsonl", launch_lines("l0", "", "e", 100) + launch_lines("l1", "", "e", 101));
    EXPECT_THROW((void)read_noise_floor({folder / "a.jsonl"}), UsageError);
}

NoiseFloor floor_of(double median_ns, bool between_launches) {
    NoiseFloor floor;
    floor.between_launches = between_launches;
    floor.cells.push_back({"a cell", {median_ns * 0.98, median_ns, median_ns * 1.02}});
    return floor;
}

TEST(NoiseFloor, MoreLaunchesShowSmallerSlowdownsDownToTheMargin) {
    InfoJson const cell = noise_json(floor_of(100'000, true)).at("cells").at(0);
    EXPECT_NEAR(cell.at("spread").get<double>(), 0.02, 1e-4);
    EXPECT_GT(cell.at("spread_at_most"), cell.at("spread"));
    EXPECT_EQ(cell.at("margin"), 0.03);
    InfoJson const& least = cell.at("least_slowdown");
    EXPECT_GT(least.at("5"), least.at("8"));
    EXPECT_GT(least.at("8"), least.at("16"));
    EXPECT_GT(least.at("16"), 0.03);
    EXPECT_EQ(noise_json(floor_of(10'000, true)).at("cells").at(0).at("margin"), 0.05);
}

// As dlmb_compare has it: what alternates inside every launch is no noise of launches.
TEST(NoiseFloor, RoundsThatAlternateInsideLaunchesWidenNoMargin) {
    record::CellResult result;
    result.median_of_rounds_ns = 100'000;
    result.aa_ratio = 1.25;
    NoiseFloor floor = floor_of(100'000, true);
    floor.cells[0].add(result);
    EXPECT_EQ(noise_json(floor).at("cells").at(0).at("margin"), 0.03);
}

TEST(NoiseFloor, AStreamIsHeldToTheMarginOfLongCells) {
    NoiseFloor floor = floor_of(10'000, true);
    floor.cells[0].stream = true;
    EXPECT_EQ(noise_json(floor).at("cells").at(0).at("margin"), 0.03);
}

TEST(NoiseFloor, TheTextSaysWhatTheSpreadDoesNotHold) {
    EXPECT_THAT(noise_text(noise_json(floor_of(1e5, false))), HasSubstr("Launches differ by more"));
    std::string const between = noise_text(noise_json(floor_of(1e5, true)));
    EXPECT_THAT(between, HasSubstr("spread between launches"));
    EXPECT_THAT(between, Not(HasSubstr("Launches differ by more")));
    EXPECT_THAT(between, HasSubstr("a cell"));
}

}  // namespace
}  // namespace dlmb::run
