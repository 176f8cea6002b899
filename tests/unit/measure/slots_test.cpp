// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Cells whose iterations take several sets of buffers in turn, find the caches swept, or move zeros.
#include "tests/unit/measure/run_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace dlmb::measure {
namespace {

using namespace testing;
using ::testing::HasSubstr;

/// One iteration: where rank 0 receives how much, and whether what it sends is all zeros.
struct Seen {
    std::byte const* address = nullptr;
    Bytes draw_bytes = 0;
    bool zeros = false;
};

std::function<Fault(Rank)> seeing(std::vector<Seen>& seen) {
    return seen_by([&seen](Iteration const& iteration) {
        std::span<std::byte> const block = received(iteration, "dispatch", 1);
        Exchange const& exchange = exchange_of(iteration.plan, "dispatch");
        std::byte const* const sent = iteration.buffers.base[exchange.send_buffer] + exchange.send.front().offset;
        bool const zeros = std::all_of(sent, sent + block.size(), [](std::byte byte) { return byte == std::byte{0}; });
        seen.push_back({block.data(), block.size(), zeros});
    });
}

TEST(Slots, SuccessiveSamplesDifferInAddress) {
    std::vector<Seen> seen;
    (void)run({.plan = one_phase_plan, .draws = 2, .slots = 4, .options = brief(), .cells = {seeing(seen)}});
    ASSERT_EQ(seen.size(), 2U + 6 + 4);  // every draw checked, six samples, every slot checked
    for (std::size_t i = 3; i < 2 + 6; ++i) {
        EXPECT_NE(seen[i].address, seen[i - 1].address) << "iteration " << i;
    }
}

// Draws alternate, slots go round: sample i runs draw i mod 2 in slot i mod 4.
TEST(Slots, DrawsAndSlotsGoTogether) {
    std::vector<Seen> seen;
    RunSpec spec{.plan = one_phase_plan, .draws = 2, .slots = 4, .options = brief(), .cells = {seeing(seen)}};
    spec.options.iterations = 8;
    (void)run(spec);
    std::set<std::byte const*> addresses;
    for (std::size_t sample = 0; sample < 8; ++sample) {
        EXPECT_EQ(seen[2 + sample].draw_bytes, 256U * (sample % 2 + 1));
        EXPECT_EQ(seen[2 + sample].address, seen[2 + (sample + 4) % 8].address);
        addresses.insert(seen[2 + sample].address);
    }
    EXPECT_EQ(addresses.size(), 4U);
}

TEST(Slots, UnrecordedIterationsWarmOtherSlotsThanTheNextSample) {
    std::vector<Seen> seen;
    RunSpec spec{.plan = one_phase_plan, .draws = 1, .slots = 8, .options = brief(), .cells = {seeing(seen)}};
    spec.options.warmup = 2;  // and so two unrecorded iterations before each of six rounds of one sample
    spec.options.time_limit_ns = 3'600'000'000'000;  // of which they may take a share
    (void)run(spec);
    std::size_t const round = 2 + 1;
    ASSERT_EQ(seen.size(), 1 + 2 + 6 * round + 8);
    for (std::size_t first = 1 + 2; first < 1 + 2 + 6 * round; first += round) {
        EXPECT_NE(seen[first].address, seen[first + 1].address);
        EXPECT_NE(seen[first].address, seen[first + 2].address);
        EXPECT_NE(seen[first + 1].address, seen[first + 2].address);
    }
}

TEST(Slots, ACellIsDeclinedOfWhichALaterSlotIsRefused) {
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        std::string why_not;
        auto const memory = make_memory_space(MemoryKind::host, why_not);
        PreparedPoint point(bootstrap, *memory, {one_phase_plan(bootstrap.rank(), 2, 0)}, {.slots = 3});
        auto const made = in_process::make_backend({bootstrap});
        Fault fault;
        fault.refused = 1;
        FaultyBackend backend(*made.value(), fault);
        Cell cell;
        cell.backend = &backend;
        cell.point = &point;
        EXPECT_EQ(cell.compile(bootstrap), "no room is left");
        EXPECT_TRUE(cell.positions.empty());
    });
}

TEST(Slots, EverySlotIsCheckedAfterTiming) {
    auto const told =
        run({.plan = one_phase_plan, .draws = 2, .slots = 4, .options = brief(), .cells = {without_fault()}});
    for (auto const& rank : told) {
        record::Validation const& validation = rank.at(0).result.validation;
        EXPECT_EQ(validation.verdict, record::Verdict::passed);
        EXPECT_EQ(validation.draws_checked, (std::vector<std::uint32_t>{0, 1}));
        EXPECT_EQ(validation.slots_checked, (std::vector<std::uint32_t>{0, 1, 2, 3}));
    }
}

TEST(Slots, AFaultInOneSlotIsCaughtAndNamed) {
    Fault fault;
    fault.after = [](Iteration const& iteration) {
        static constexpr std::uint64_t third_slot_after_timing = 1 + 6 + 2;
        if (iteration.plan.me == 1 && iteration.number == third_slot_after_timing) {
            received(iteration, "dispatch", 2)[100] ^= std::byte{4};
        }
    };
    auto const told = run({.plan = one_phase_plan, .draws = 1, .slots = 4, .options = brief(), .cells = {with(fault)}});
    EXPECT_EQ(told[0].at(0).result.status, record::Status::invalid);
    EXPECT_THAT(told[0].at(0).result.reason, HasSubstr("after timing: draw 0, slot 2, rank 1"));
}

TEST(Slots, ZerosAreTimedAndPayloadIsStillChecked) {
    std::vector<Seen> seen;
    RunSpec spec{.plan = one_phase_plan, .slots = 2, .options = brief(), .cells = {seeing(seen), without_fault()}};
    spec.options.fill = record::Fill::zeros;
    auto const told = run(spec);
    for (std::size_t i = 0; i < seen.size(); ++i) {
        bool const timed = i >= 2 && i < 2 + 6;
        EXPECT_EQ(seen[i].zeros, timed) << "iteration " << i;
    }
    EXPECT_EQ(told[0].at(0).result.validation.verdict, record::Verdict::passed);
}

TEST(Slots, TimedIterationsMovePayloadUnlessToldOtherwise) {
    std::vector<Seen> seen;
    RunSpec spec{.slots = 2, .options = brief(), .cells = {seeing(seen)}};
    spec.options.validate = false;
    (void)run(spec);
    EXPECT_TRUE(std::none_of(seen.begin(), seen.end(), [](Seen const& iteration) { return iteration.zeros; }));
}

TEST(CacheFlush, CellsRunBehindASweep) {
    RunSpec spec{.flushed_cache = Bytes{1} << 20, .options = brief(), .cells = {without_fault()}};
    spec.options.cache = record::CacheMode::flush;
    record::CellResult const result = run(spec).at(0).at(0).result;
    EXPECT_EQ(result.status, record::Status::ok);
    EXPECT_EQ(result.iterations_per_sample, 1U);
}

/// A test double of host memory: hands out a block that the test can reach.
class ReachableSpace final : public MemorySpace {
public:
    [[nodiscard]] MemoryKind kind() const override { return MemoryKind::host; }
    [[nodiscard]] Allocation allocate(Bytes bytes) override {
        block.resize(bytes);
        return {block.data(), bytes, [](std::byte* /*data*/, Bytes /*bytes*/) {}};
    }
    void fill(std::byte* data, Bytes bytes, PayloadKey key, Bytes start) override {
        fill_payload(data, bytes, key, start);
    }
    [[nodiscard]] std::optional<Mismatch> check(std::byte const* data, Bytes bytes, PayloadKey key,
                                                Bytes start) override {
        return check_payload(data, bytes, key, start);
    }
    void copy_in(std::byte* /*to*/, std::byte const* /*from_host*/, Bytes /*bytes*/) override {}
    void copy_out(std::byte* /*to_host*/, std::byte const* /*from*/, Bytes /*bytes*/) override {}

    std::vector<std::byte> block;
};

TEST(CacheFlush, SweepsTwiceTheCacheAndNoticesWhoWritesThere) {
    ReachableSpace memory;
    CacheFlush flush(memory, 4096);
    flush.sweep();
    memory.block[8191] ^= std::byte{1};
    EXPECT_THROW(flush.sweep(), Error);
}

}  // namespace
}  // namespace dlmb::measure
