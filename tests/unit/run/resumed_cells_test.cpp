// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/run/resumed_cells.hpp"
#include "tests/unit/forwarding_bootstrap.hpp"
#include "tests/unit/record/sample_records.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace dlmb::run {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using Ids = std::vector<std::string>;

std::vector<measure::Cell> cells_named(Ids const& ids) {
    std::vector<measure::Cell> cells;
    for (std::string const& id : ids) {
        cells.emplace_back().id = id;
    }
    return cells;
}

Ids ids_of(std::vector<measure::Cell> const& cells) {
    Ids ids;
    for (measure::Cell const& cell : cells) {
        ids.push_back(cell.id);
    }
    return ids;
}

record::FinishedCells file_with(Ids const& ids, bool checked = true) {
    record::FinishedCells file;
    for (std::string const& id : ids) {
        record::StoredCell stored{record::sample_launch().launch_id, record::sample_cell()};
        stored.cell.cell_id = id;
        stored.cell.traffic_hash = "0123";
        stored.cell.result.validation.verdict = checked ? record::Verdict::passed : record::Verdict::off;
        file.cells.emplace(id, stored);
    }
    file.launches = {record::sample_launch()};
    return file;
}

/// Which of a, b and c are finished and which are left, as each of two ranks sees it.
std::array<std::pair<Ids, Ids>, 2> taken(bool resumes, bool validate, bool checked) {
    std::array<std::pair<Ids, Ids>, 2> seen;
    in_process::run_ranks(2, 0, [&](Bootstrap& bootstrap) {
        bool const reads = resumes && bootstrap.rank() == 0;
        ResumedCells const resumed(resumes, validate,
                                   reads ? file_with({"a", "c", "other"}, checked) : record::FinishedCells{});
        std::vector<measure::Cell> cells = cells_named({"a", "b", "c"});
        auto& [finished, left] = seen.at(static_cast<std::size_t>(bootstrap.rank()));
        finished = resumed.take_out(bootstrap, cells);
        left = ids_of(cells);
    });
    return seen;
}

// One rank alone has read the file. Cells whose payload was not checked and is to be are measured again.
TEST(ResumedCells, AreTheSameOnEveryRankAndNoneWithoutResume) {
    using Seen = std::pair<Ids, Ids>;
    Seen const go_on{{"a", "c"}, {"b"}};
    Seen const begin_anew{{}, {"a", "b", "c"}};
    EXPECT_THAT(taken(true, true, true), testing::Each(go_on));
    EXPECT_THAT(taken(true, false, false), testing::Each(go_on));
    EXPECT_THAT(taken(true, true, false), testing::Each(begin_anew));
    EXPECT_THAT(taken(false, true, true), testing::Each(begin_anew));
}

TEST(ResumedCells, OfAFileThatSaysOtherTrafficNowAreMeasuredAgain) {
    in_process::run_ranks(2, 0, [](Bootstrap& bootstrap) {
        ResumedCells const resumed(true, true, bootstrap.rank() == 0 ? file_with({"a"}) : record::FinishedCells{});
        std::vector<measure::Cell> same = cells_named({"a"});
        EXPECT_THAT(resumed.take_out(bootstrap, same, "0123"), testing::ElementsAre("a"));
        std::vector<measure::Cell> other = cells_named({"a"});
        EXPECT_THAT(resumed.take_out(bootstrap, other, "4567"), IsEmpty());
    });
}

/// Counts what is broadcast.
class CountingBootstrap final : public ForwardingBootstrap {
public:
    using ForwardingBootstrap::ForwardingBootstrap;
    void broadcast(Blob& blob, Rank root) override {
        ForwardingBootstrap::broadcast(blob, root);
        bytes += blob.size();
    }

    std::size_t bytes = 0;
};

TEST(ResumedCells, CostABitPerCellOfAPointHoweverManyTheFileHolds) {
    Ids many;
    for (int i = 0; i < 1000; ++i) {
        many.push_back(fmt::format("backend=mpi/cell={}", i));
    }
    in_process::run_ranks(2, 0, [&](Bootstrap& real) {
        CountingBootstrap bootstrap(real);
        ResumedCells const resumed(true, true, real.rank() == 0 ? file_with(many) : record::FinishedCells{});
        std::vector<measure::Cell> cells = cells_named({many.begin(), many.begin() + 9});
        EXPECT_EQ(resumed.take_out(bootstrap, cells).size(), 9U);
        EXPECT_EQ(bootstrap.bytes, 2U);  // 9 bits
    });
}

TEST(OtherEnvironments, AreNamedWithWhatDiffersAndHowManyCells) {
    record::FinishedCells const file = file_with({"a", "b"});
    WorldShape const world = record::sample_cell().identity.world;
    record::Environment now = record::sample_launch().environment;
    EXPECT_THAT(other_environments(file, world, now), IsEmpty());
    now.identity["mpi_library"] = "another";
    now.env_key = record::environment_key(now.identity);
    auto const warnings = other_environments(file, world, now);
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_THAT(warnings[0], HasSubstr("2 finished cells"));
    EXPECT_THAT(warnings[0], HasSubstr("mpi_library is another, was "));
    EXPECT_THAT(other_environments(file, {world.ranks + 1, world.ranks_per_node}, now), IsEmpty())
        << "cells of another world are not gone on with";
}

}  // namespace
}  // namespace dlmb::run
