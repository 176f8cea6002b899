// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/run/resumed_cells.hpp"
#include "tests/unit/record/sample_records.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

namespace dlmb::run {
namespace {

using testing::ElementsAre;
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

TEST(ResumedCells, AreTheSameOnEveryRankThoughOneAloneHasReadTheFile) {
    for (auto const& [finished, left] : taken(true, true, true)) {
        EXPECT_THAT(finished, ElementsAre("a", "c"));
        EXPECT_THAT(left, ElementsAre("b"));
    }
}

TEST(ResumedCells, AreMeasuredAgainWhereTheirPayloadWasNotCheckedAndIsToBe) {
    for (auto const& [finished, left] : taken(true, true, false)) {
        EXPECT_THAT(finished, IsEmpty());
        EXPECT_THAT(left, ElementsAre("a", "b", "c"));
    }
    for (auto const& [finished, left] : taken(true, false, false)) {
        EXPECT_THAT(finished, ElementsAre("a", "c"));
    }
}

TEST(ResumedCells, AreNoneWithoutResume) {
    for (auto const& [finished, left] : taken(false, true, true)) {
        EXPECT_THAT(finished, IsEmpty());
        EXPECT_THAT(left, ElementsAre("a", "b", "c"));
    }
}

/// Passes on what is broadcast, and counts it.
class CountingBootstrap final : public Bootstrap {
public:
    explicit CountingBootstrap(Bootstrap& real) : real_(real) {}
    [[nodiscard]] std::string_view kind() const override { return real_.kind(); }
    [[nodiscard]] Rank rank() const override { return real_.rank(); }
    [[nodiscard]] int size() const override { return real_.size(); }
    [[nodiscard]] int local_rank() const override { return real_.local_rank(); }
    [[nodiscard]] int local_size() const override { return real_.local_size(); }
    [[nodiscard]] Rank node_leader() const override { return real_.node_leader(); }
    [[nodiscard]] std::string const& host() const override { return real_.host(); }
    [[nodiscard]] std::map<std::string, std::string, std::less<>> facts() const override { return real_.facts(); }
    [[nodiscard]] std::int64_t barrier_max(std::int64_t mine) override { return real_.barrier_max(mine); }
    [[nodiscard]] std::vector<Blob> all_gather(std::span<std::byte const> mine) override {
        return real_.all_gather(mine);
    }
    [[nodiscard]] std::vector<PeerBlob> exchange(std::vector<PeerBlob> outgoing) override {
        return real_.exchange(std::move(outgoing));
    }
    void all_reduce(std::span<std::int64_t> values, Fold fold) override { real_.all_reduce(values, fold); }
    void broadcast(Blob& blob, Rank root) override {
        real_.broadcast(blob, root);
        bytes += blob.size();
    }
    void send(Rank peer, std::span<std::byte const> bytes_of_it) override { real_.send(peer, bytes_of_it); }
    void receive(Rank peer, std::span<std::byte> bytes_of_it) override { real_.receive(peer, bytes_of_it); }
    [[noreturn]] void abort(int exit_code) override { std::_Exit(exit_code); }

    std::size_t bytes = 0;

private:
    Bootstrap& real_;
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
