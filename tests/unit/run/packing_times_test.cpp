// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/derived_figures.hpp"

#include <gtest/gtest.h>

namespace dlmb::run {
namespace {

record::Record cell_with(std::optional<record::PlainCopy> const& pack, std::optional<record::PlainCopy> const& unpack) {
    TrafficSummary sends;
    sends.payload_bytes = 4096;
    record::Record cell;
    cell.phases = {
        {"pack", {}, pack}, {"dispatch", sends}, {"unpack", {}, unpack}, {"combine", sends}, {"experts", {}}};
    for (auto const& [label, ns] : {std::pair("pack", 20e3), std::pair("dispatch", 30e3), std::pair("unpack", 50e3),
                                    std::pair("combine", 40e3), std::pair("experts", 900e3)}) {
        record::TimeSummary time;
        time.median = ns;
        cell.result.phases.push_back({label, time});
    }
    return cell;
}

// A copy of as many bytes takes 15 us of the 20, and 40 us of the 50. Experts neither pack nor send.
TEST(PackingTimes, AreThoseOfThePhasesAndTheirShareOfACopy) {
    record::Record cell =
        cell_with(record::PlainCopy{Processor::host, 1 << 20, 15e3}, record::PlainCopy{Processor::host, 1 << 20, 40e3});
    add_packing_times(cell);
    EXPECT_DOUBLE_EQ(cell.statistics.at("time_pack_us"), 20);
    EXPECT_DOUBLE_EQ(cell.statistics.at("time_wire_us"), 70);
    EXPECT_DOUBLE_EQ(cell.statistics.at("time_unpack_us"), 50);
    EXPECT_DOUBLE_EQ(cell.statistics.at("pack_of_copy"), 0.75);
    EXPECT_DOUBLE_EQ(cell.statistics.at("unpack_of_copy"), 0.8);
    EXPECT_EQ(packing_line(cell), "# time_wire 70.000 us, time_pack 20.000 us (0.75 of copy bandwidth), time_unpack "
                                  "50.000 us (0.80 of copy bandwidth)\n");
}

TEST(PackingTimes, AreOfThePhaseThatHasThem) {
    record::Record cell = cell_with(record::PlainCopy{Processor::host, 1 << 20, 15e3}, std::nullopt);
    add_packing_times(cell);
    EXPECT_EQ(packing_line(cell), "# time_wire 70.000 us, time_pack 20.000 us (0.75 of copy bandwidth)\n");
}

TEST(PackingTimes, AreNotSaidOfTrafficThatIsNotPacked) {
    record::Record cell = cell_with(std::nullopt, std::nullopt);
    add_packing_times(cell);
    EXPECT_TRUE(cell.statistics.empty());
    EXPECT_EQ(packing_line(cell), "");
}

}  // namespace
}  // namespace dlmb::run
