// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// With --pack every token's row is copied to each of its experts, sorted by expert there, and comes back to its token.
#include "common/base/error.hpp"
#include "common/formats/plan/builder.hpp"
#include "tests/unit/moe_alltoall/moe_fixture.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace dlmb::moe_alltoall {
namespace {

constexpr Bytes token_bytes = 16;

struct Layer {
    int ranks;
    Parameters parameters;
};

std::vector<Plan> plans_of_layer(Layer const& each, std::string const& pack = "host") {
    Parameters parameters{{"hidden", "8"}, {"experts", "14"}, {"top-k", "3"}, {"tokens", "40"}, {"pack", pack}};
    for (auto const& [name, value] : each.parameters) {
        parameters[name] = value;
    }
    WorldShape const world{each.ranks, each.ranks};
    return build_all(*make_moe(parameters, world), world, {});
}

std::vector<Layer> layers() {
    return {{1, {}},
            {2, {}},
            {7, {}},
            {4, {{"ep", "2"}}},
            {7, {{"tokens", "0"}}},
            {7, {{"tokens", "1"}}},
            {7, {{"skew", "zipf:8"}, {"top-k", "1"}, {"experts", "7"}}},  // nearly all rows go to one expert
            {1, {{"experts", "1"}, {"top-k", "1"}}},
            {4, {{"placement", "eplb"}, {"experts", "8"}, {"redundant-experts", "4"}}}};
}

Rearrangement const& rows_of(Plan const& plan, std::string_view label) {
    return *std::get<Compute>(steps_with(plan, label).at(0)->operation).rearrangement;
}

/// Numbers of rows, each as often as it is read or written, sorted.
std::vector<Bytes> places(Rearrangement const& rows, bool written, Bytes begin = 0) {
    std::vector<Bytes> found;
    for (RowRun const& run : rows.runs) {
        for (std::uint64_t row = 0; row < run.rows; ++row) {
            found.push_back((written ? run.to + row * run.to_stride : run.from + row * run.from_stride) - begin);
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::vector<Bytes> places_in(std::vector<Block> const& blocks) {
    std::vector<Bytes> found;
    for (Block const& block : blocks) {
        for (Bytes row = 0; row < block.bytes; row += token_bytes) {
            found.push_back(block.offset + row);
        }
    }
    return found;
}

std::vector<Bytes> first_rows(std::uint64_t rows, std::uint64_t times) {
    std::vector<Bytes> all;
    for (std::uint64_t row = 0; row < rows; ++row) {
        all.insert(all.end(), times, row * token_bytes);
    }
    return all;
}

std::uint64_t number(Layer const& each, char const* name, std::uint64_t otherwise) {
    auto const found = each.parameters.find(name);
    return found == each.parameters.end() ? otherwise : std::stoull(found->second);
}

TEST(MoeTokenRows, PlansAreSound) {
    for (Layer const& each : layers()) {
        EXPECT_EQ(problem_of(plans_of_layer(each)), "") << each.ranks << " ranks";
    }
}

TEST(MoeTokenRows, EveryTokenIsReadOncePerExpertAndEveryPlaceThatTravelsIsWrittenOnce) {
    for (Layer const& each : layers()) {
        for (Plan const& plan : plans_of_layer(each)) {
            Rearrangement const& pack = rows_of(plan, "pack.dispatch");
            EXPECT_EQ(pack.row_bytes, token_bytes);
            EXPECT_EQ(places(pack, false), first_rows(number(each, "tokens", 40), number(each, "top-k", 3)));
            EXPECT_EQ(places(pack, true), places_in(exchange_of(plan, "dispatch").send));
        }
    }
}

TEST(MoeTokenRows, WhatArrivesIsPermutedToExpertsAndBack) {
    for (Layer const& each : layers()) {
        for (Plan const& plan : plans_of_layer(each)) {
            Rearrangement const& unpack = rows_of(plan, "unpack.dispatch");
            Rearrangement const& pack = rows_of(plan, "pack.combine");
            EXPECT_EQ(places(unpack, false), places_in(exchange_of(plan, "dispatch").recv));
            EXPECT_EQ(places(unpack, true, guard_bytes), first_rows(unpack.rows(), 1));
            EXPECT_EQ(places(pack, false), first_rows(unpack.rows(), 1));
            EXPECT_EQ(places(pack, true), places_in(exchange_of(plan, "combine").send));
        }
    }
}

TEST(MoeTokenRows, EachTokenGetsItsRowsBack) {
    for (Layer const& each : layers()) {
        for (Plan const& plan : plans_of_layer(each)) {
            Rearrangement const& unpack = rows_of(plan, "unpack.combine");
            EXPECT_EQ(places(unpack, false), places_in(exchange_of(plan, "combine").recv));
            EXPECT_EQ(places(unpack, true, guard_bytes),
                      first_rows(number(each, "tokens", 40) * number(each, "top-k", 3), 1));
        }
    }
}

TEST(MoeTokenRows, BothEndsAgreeWhichTokenEachRowIs) {
    auto const plans = plans_of_layer({7, {}});
    for (Plan const& from : plans) {
        Rearrangement const& pack = rows_of(from, "pack.dispatch");
        std::map<Bytes, Bytes> sent;  // token by place
        for (std::size_t row = 0; row < pack.runs.size(); ++row) {
            EXPECT_EQ(pack.runs[row].from, pack.origins[row]);
            sent[pack.runs[row].to] = pack.runs[row].from;
        }
        for (Block const& block : exchange_of(from, "dispatch").send) {
            Plan const& to = plans[static_cast<std::size_t>(block.peer)];
            Rearrangement const& unpack = rows_of(to, "unpack.dispatch");
            std::map<Bytes, Bytes> received;
            std::size_t row = 0;
            for (RowRun const& run : unpack.runs) {
                for (std::uint64_t i = 0; i < run.rows; ++i) {
                    received[run.from + i * run.from_stride] = unpack.origins[row++];
                }
            }
            auto const& recv = exchange_of(to, "dispatch").recv;
            auto const same =
                std::find_if(recv.begin(), recv.end(), [&](Block const& each) { return each.peer == from.me; });
            ASSERT_NE(same, recv.end());
            for (Bytes offset = 0; offset < block.bytes; offset += token_bytes) {
                EXPECT_EQ(sent.at(block.offset + offset), received.at(same->offset + offset));
            }
        }
    }
}

TEST(MoeTokenRows, WhatTravelsIsWhatTravelsWithoutPacking) {
    for (Layer const& each : layers()) {
        EXPECT_EQ(sent(plans_of_layer(each), "dispatch"), sent(plans_of_layer(each, "none"), "dispatch"));
        EXPECT_EQ(sent(plans_of_layer(each), "combine"), sent(plans_of_layer(each, "none"), "combine"));
    }
}

/// Of each row that a rank sends, or gets, from where in its tensor it comes, or to where it goes; in the order of the
/// blocks.
std::vector<Bytes> tensor_places(Plan const& plan, std::string_view label, std::string_view packing) {
    Exchange const& exchange = exchange_of(plan, label);
    if (exchange.scattered) {
        return (packing == "pack" ? exchange.scattered->sent : exchange.scattered->received).places();
    }
    Rearrangement const& rows = rows_of(plan, fmt::format("{}.{}", packing, label));
    std::map<Bytes, Bytes> by_place;
    for (RowRun const& run : rows.runs) {
        for (std::uint64_t row = 0; row < run.rows; ++row) {
            Bytes const from = run.from + row * run.from_stride;
            Bytes const to = run.to + row * run.to_stride;
            by_place[packing == "pack" ? to : from] = packing == "pack" ? from : to;
        }
    }
    std::vector<Bytes> found;
    for (auto const& [travels, tensor] : by_place) {
        found.push_back(tensor);
    }
    return found;
}

TEST(MoeTokenRows, OneFusedStepMovesTheSameRowsToTheSamePlaces) {
    for (Layer const& each : layers()) {
        auto const moved = plans_of_layer(each);
        auto const fused = plans_of_layer(each, "fused");
        EXPECT_EQ(problem_of(fused), "");
        EXPECT_EQ(sent(fused, "dispatch"), sent(moved, "dispatch"));
        for (std::size_t rank = 0; rank < moved.size(); ++rank) {
            EXPECT_TRUE(steps_with(fused[rank], "pack.dispatch").empty());
            for (char const* label : {"dispatch", "combine"}) {
                for (char const* packing : {"pack", "unpack"}) {
                    EXPECT_EQ(tensor_places(fused[rank], label, packing), tensor_places(moved[rank], label, packing))
                        << label << " " << packing << " of rank " << rank;
                }
            }
        }
    }
}

/// As tensor_places(), in rows, of steps that also pack.
std::vector<std::uint64_t> packed_places(Plan const& plan, std::string const& label) {
    auto const& compute = std::get<Compute>(steps_with(plan, label).at(0)->operation);
    Conversion const& rows = *compute.conversion;
    std::map<Bytes, std::uint64_t> by_place;
    for (RowBlock const& block : rows.blocks) {
        Bytes const row_bytes = block.row_numbers * size_of(rows.element);
        for (std::uint64_t row = 0; row < block.rows; ++row) {
            by_place[block.packed + row * rows.format.row_bytes(block.row_numbers)] = block.numbers / row_bytes + row;
        }
    }
    std::vector<std::uint64_t> found;
    for (auto const& [travels, tensor] : by_place) {
        found.push_back(tensor);
    }
    return found;
}

TEST(MoeTokenRows, StepsThatAlsoPackMoveTheSameRowsToTheSamePlaces) {
    for (Layer each : layers()) {
        auto const moved = plans_of_layer(each);
        each.parameters["quantize"] = "mxfp8";
        auto const packed = plans_of_layer(each);
        EXPECT_EQ(problem_of(packed), "");
        for (std::size_t rank = 0; rank < moved.size(); ++rank) {
            for (char const* packing : {"pack", "unpack"}) {
                std::vector<std::uint64_t> rows;
                for (Bytes const place : tensor_places(moved[rank], "dispatch", packing)) {
                    rows.push_back(place / token_bytes);
                }
                EXPECT_EQ(packed_places(packed[rank], fmt::format("{}.dispatch", packing)), rows) << packing;
                EXPECT_EQ(tensor_places(packed[rank], "combine", packing),
                          tensor_places(moved[rank], "combine", packing));
            }
        }
    }
}

TEST(MoeTokenRows, BackwardAndLayersHaveOrdersOfTheirOwn) {
    auto const plans =
        plans_of_layer({4, {{"direction", "both"}, {"layers", "2"}, {"probs", "on"}, {"ep", "2"}}}, "cuda");
    EXPECT_EQ(problem_of(plans), "");
    EXPECT_NE(rows_of(plans[0], "pack.dispatch.0").runs, rows_of(plans[0], "pack.dispatch.1").runs);
    EXPECT_EQ(rows_of(plans[0], "pack.dispatch.1").runs, rows_of(plans[0], "pack.combine.backward.1").runs);
    EXPECT_EQ(rows_of(plans[0], "unpack.combine.1").by, Processor::device);
    EXPECT_TRUE(steps_with(plans[0], "pack.dispatch.probs.0").empty());
}

TEST(MoeTokenRows, CountsThatEndTooEarlyAreRefused) {
    auto const pattern = make_moe({{"pack", "host"}, {"tokens", "8"}}, {2, 2});
    RankSetup own = pattern->setup_of(0, {});
    own.counts_to_send[1].counts.pop_back();
    EXPECT_THROW((void)pattern->build(0, {}, own, own.counts_to_send), Error);
}

}  // namespace
}  // namespace dlmb::moe_alltoall
