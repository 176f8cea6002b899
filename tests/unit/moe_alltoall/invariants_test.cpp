// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What must hold for every moe_alltoall plan, over randomly chosen parameters (the same ones on every run).
#include "common/base/philox.hpp"
#include "common/formats/plan/traffic.hpp"
#include "patterns/moe_alltoall/params.hpp"
#include "tests/unit/moe_alltoall/moe_fixture.hpp"
#include "tests/unit/plan/traffic_matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace dlmb::moe_alltoall {
namespace {

struct Case {
    Parameters parameters;
    WorldShape world;
    std::uint64_t tokens = 0;
    std::uint64_t top_k = 1;
    [[nodiscard]] std::string text() const {
        std::string all = std::to_string(world.ranks) + " ranks, " + std::to_string(world.ranks_per_node) + " per node";
        for (auto const& [name, value] : parameters) {
            all += " --";
            all += name;
            all += ' ';
            all += value;
        }
        return all;
    }
};

template <class Value, std::size_t Count>
Value any_of(RandomSequence& random, Value const (&values)[Count]) {
    return values[below(random.next(), static_cast<std::uint32_t>(Count))];
}

Case random_case(std::uint32_t number) {
    RandomSequence random(2026, number, 0, 0);
    Case made;
    made.world.ranks = static_cast<int>(1 + below(random.next(), 16));
    made.world.ranks_per_node = any_of(random, {1, 2, 4, 8, 16});
    std::uint32_t const experts = 1 + below(random.next(), 40);
    made.top_k = 1 + below(random.next(), std::min(experts, 8U));
    made.tokens = any_of<std::uint64_t>(random, {0, 1, 2, 17, 64, 300});
    made.parameters = {{"hidden", std::to_string(1 + below(random.next(), 300))},
                       {"experts", std::to_string(experts)},
                       {"top-k", std::to_string(made.top_k)},
                       {"tokens", std::to_string(made.tokens)},
                       {"layers", std::to_string(1 + below(random.next(), 2))},
                       {"element", any_of(random, {"bf16", "fp16", "fp32"})},
                       {"skew", any_of(random, {"balanced", "lognormal:0", "lognormal:0.38", "zipf:1", "hot_rank:5",
                                                "power_law:1.01", "intra_host:3", "zipf:0.5+intra_host:2",
                                                "zipf:1+drift:4+intra_host:2", "burst:0.5:3+rotating:2"})},
                       {"direction", any_of(random, {"forward", "backward", "both"})},
                       {"probs", any_of(random, {"on", "off"})},
                       {"capacity-factor", any_of(random, {"0", "0.5", "1.0", "1.25"})}};
    if (experts % 4 == 0 && made.top_k <= experts / 2) {
        made.parameters.insert({{"expert-groups", "4"}, {"group-limit", "2"}});
    }
    return made;
}

std::vector<Case> random_cases(Parameters const& overrides = {}) {
    std::vector<Case> cases;
    for (std::uint32_t number = 0; number < 100; ++number) {
        cases.push_back(random_case(number));
        for (auto const& [name, value] : overrides) {
            cases.back().parameters.insert_or_assign(name, value);
        }
    }
    return cases;
}

std::vector<Plan> plans_of(Case const& made, std::string const& wire, Draw draw = {}) {
    Parameters parameters = made.parameters;
    parameters.insert_or_assign("wire", wire);
    return build_all(*make_moe(parameters, made.world), made.world, draw);
}

/// node_dedup needs nodes and groups that fit.
bool fits_nodes(Case const& made) {
    auto const ep = static_cast<int>(read_params(resolve(type(), "", made.parameters), made.world).ep);
    int const per_node = made.world.ranks_per_node;
    return ep % per_node == 0 || per_node % ep == 0;
}

TEST(MoeInvariants, EverySendMeetsAReceiveOfTheSameSize) {
    for (Case const& made : random_cases()) {
        for (char const* wire : {"expanded", "rank_dedup", "node_dedup", "padded"}) {
            if (std::string_view(wire) == "node_dedup" && !fits_nodes(made)) {
                continue;
            }
            EXPECT_EQ(problem_of(plans_of(made, wire)), "") << wire << ' ' << made.text();
        }
    }
}

// Also where a rank has fewer experts than another one, replicas, or no token.
TEST(MoeInvariants, EveryPutIsWaitedForInItsSlot) {
    for (Case const& made : random_cases({{"direction", "forward"}, {"element", "fp8"}, {"probs", "off"}})) {
        std::vector<Plan> const plans = plans_of(made, "low_latency");
        EXPECT_EQ(problem_of(plans), "") << made.text();
        for (Plan const& plan : plans) {
            RankTraffic const dispatch = traffic_of(plan, "dispatch");
            std::uint64_t const hidden = std::stoull(made.parameters.at("hidden"));
            std::uint64_t const layers = std::stoull(made.parameters.at("layers"));
            EXPECT_EQ(dispatch.payload, layers * made.tokens * made.top_k * (16 + hidden + 4 * ((hidden + 127) / 128)));
            EXPECT_EQ(traffic_of(plan, "combine").recv_total, layers * made.tokens * made.top_k * 2 * hidden);
        }
    }
}

TEST(MoeInvariants, CombineIsDispatchTransposed) {
    for (Case const& made : random_cases({{"probs", "off"}})) {
        for (char const* wire : {"expanded", "rank_dedup", "padded"}) {
            auto const plans = plans_of(made, wire);
            test::TrafficMatrix const dispatch(plans, "dispatch");
            test::TrafficMatrix const combine(plans, "combine");
            for (Rank from = 0; from < made.world.ranks; ++from) {
                for (Rank to = 0; to < made.world.ranks; ++to) {
                    ASSERT_EQ(dispatch.at(from, to), combine.at(to, from)) << wire << ' ' << made.text();
                }
            }
        }
    }
}

TEST(MoeInvariants, EachRankSendsTokensTimesTopKRowsWhenExpanded) {
    for (Case const& made : random_cases({{"direction", "forward"}, {"layers", "1"}, {"element", "bf16"}})) {
        for (Plan const& plan : plans_of(made, "expanded")) {
            EXPECT_EQ(total(exchange_of(plan, "dispatch").send),
                      made.tokens * made.top_k * 2 * std::stoull(made.parameters.at("hidden")))
                << made.text();
        }
    }
}

TEST(MoeInvariants, DeduplicationNeverSendsMoreRows) {
    for (Case const& made : random_cases({{"direction", "forward"}, {"layers", "1"}, {"probs", "off"}})) {
        Bytes const expanded = sent(plans_of(made, "expanded"), "dispatch");
        Bytes const by_rank = sent(plans_of(made, "rank_dedup"), "dispatch");
        EXPECT_LE(by_rank, expanded) << made.text();
        if (!fits_nodes(made)) {
            continue;
        }
        auto const plans = plans_of(made, "node_dedup");
        EXPECT_LE(sent(plans, "dispatch.node"), by_rank) << made.text();
        EXPECT_EQ(sent(plans, "dispatch.rank"), by_rank)
            << made.text();  // the last hop delivers what rank_dedup delivers
        EXPECT_EQ(sent(plans, "combine.rank"), by_rank) << made.text();
    }
}

TEST(MoeInvariants, PaddedTotalsDependOnParametersOnly) {
    for (Case const& made : random_cases()) {
        EXPECT_EQ(plans_of(made, "padded", {1, 0}), plans_of(made, "padded", {77, 5})) << made.text();
    }
}

TEST(MoeInvariants, OneRankBuiltAloneIsTheRankBuiltWithAll) {
    std::vector<Case> const all = random_cases();
    for (Case const& made : std::span(all).first(20)) {
        auto const pattern = make_moe(made.parameters, made.world);
        auto const plans = build_all(*pattern, made.world, {});
        for (Rank me = 0; me < made.world.ranks; ++me) {
            EXPECT_EQ(build_one(*pattern, me, {}), plans[static_cast<std::size_t>(me)]) << made.text();
        }
    }
}

}  // namespace
}  // namespace dlmb::moe_alltoall
