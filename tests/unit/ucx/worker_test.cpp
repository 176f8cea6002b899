// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Workers: what they tell of their transports, several with settings of their own in one process, and TCP alone.
#include "common/backends/ucx/transports.hpp"
#include "common/backends/ucx/worker.hpp"
#include "tests/unit/scoped_variable.hpp"
#include "tests/unit/ucx/ucx_rank.hpp"

namespace dlmb::ucx {
namespace {

/// The line "tag_send: 0..<egr/short>..92..<egr/bcopy>..8256..<rndv>..(inf)" of what UCX says of an endpoint.
std::string protocols(Worker const& worker, Rank peer) {
    ucp_ep_h const endpoint = worker.endpoint(peer);
    std::string const info = printed([endpoint](std::FILE* out) { ucp_ep_print_info(endpoint, out); });
    std::size_t const begin = info.find("tag_send:");
    return begin == std::string::npos ? "" : info.substr(begin, info.find('\n', begin) - begin);
}

TEST(UcxContexts, OfOneProcessHaveTheirOwnThresholds) {
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        Workers workers({bootstrap, YieldPolicy::always});
        Worker& late = *workers.with({{"RNDV_THRESH", "300000"}}).value();
        Rank const other = 1 - bootstrap.rank();
        EXPECT_EQ(workers.standard().connect({&other, 1}), "");
        EXPECT_EQ(late.connect({&other, 1}), "");
        if (protocols(late, other).empty()) {
            GTEST_SKIP() << "this UCX describes endpoints in other words";
        }
        EXPECT_NE(protocols(late, other).find("..300000..<rndv>"), std::string::npos) << protocols(late, other);
        EXPECT_EQ(protocols(workers.standard(), other).find("..300000..<rndv>"), std::string::npos);
        EXPECT_NE(late.provenance().at("ucx_rndv_thresh"), workers.standard().provenance().at("ucx_rndv_thresh"));
    });
}

TEST(UcxContexts, OfEqualSettingsAreOneContext) {
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        Workers workers({bootstrap, YieldPolicy::always});
        Worker* const first = workers.with({{"RNDV_THRESH", "4096"}}).value();
        EXPECT_EQ(workers.with({{"RNDV_THRESH", "4096"}}).value(), first);
        EXPECT_NE(workers.with({{"ZCOPY_THRESH", "4096"}}).value(), first);
        EXPECT_EQ(workers.with({}).value(), &workers.standard());
    });
}

TEST(UcxContexts, ASettingThatTheUcxOfOneRankHasNotIsDeclinedOnAllRanks) {
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        Workers workers({bootstrap});
        auto const made = workers.with({{bootstrap.rank() == 0 ? "RNDV_THRESH" : "NO_SUCH_SETTING", "1"}});
        ASSERT_FALSE(made);
        EXPECT_NE(made.error().reason.find("has no setting UCX_NO_SUCH_SETTING"), std::string::npos);
    });
}

TEST(UcxContexts, PlansOfSeveralTakeTurns) {
    in_process::run_ranks(4, [](Bootstrap& bootstrap) {
        UcxRank rank(bootstrap);
        Plan const plan =
            rank.exchange([](Rank from, Rank to) { return static_cast<Bytes>((from * 5 + to * 3) % 7) * 20'003; });
        Buffers const buffers = rank.bind(plan);
        std::vector<std::unique_ptr<CompiledPlan>> compiled;
        for (char const* const method : {"linear", "linear:rndv_thresh=1", "pairwise:rndv_thresh=inf"}) {
            compiled.push_back(std::move(rank.backend().compile(plan, buffers, parse_method(method))).value());
        }
        EXPECT_EQ(compiled[2]->provenance().at("ucx_rndv_thresh").find("auto"), std::string::npos);
        EXPECT_NE(compiled[1]->provenance().at("transports"), "none yet");
        for (std::uint32_t iteration = 0; iteration < 30; ++iteration) {
            CompiledPlan& next = *compiled[iteration * 7 % 3];
            next.activate();
            rank.run(next, plan, buffers, iteration);
        }
        rank.backend().quiesce();
    });
}

TEST(UcxContexts, SettingsByWhichNobodyIsReachedAreRefusedAlikeOnAllRanks) {
    struct Row {
        char const* name;
        char const* value;
        char const* remedy;
    };
    for (auto const& [name, value, remedy] :
         {Row{"UCX_TLS", "rc", "UCX_TLS is rc"}, Row{"UCX_TLS", "self", "UCX_TLS is self"},
          Row{"UCX_RNDV_THRESH", "some", "unset the variable UCX_... that UCX names above"}}) {
        ScopedVariable const useless(name, value);
        std::vector<std::string> refusals(3);
        in_process::run_ranks(3, [&](Bootstrap& bootstrap) {
            Workers workers({bootstrap, YieldPolicy::always});
            std::string& refusal = refusals[static_cast<std::size_t>(bootstrap.rank())];
            refusal = workers.why_not();
            if (refusal.empty()) {
                // Rank 2 talks to nobody: it learns all the same.
                std::vector<Rank> const peers =
                    bootstrap.rank() < 2 ? std::vector<Rank>{1 - bootstrap.rank()} : std::vector<Rank>{};
                refusal = workers.standard().connect(peers);
                EXPECT_EQ(workers.standard().connect(peers), refusal);
            }
        });
        EXPECT_NE(refusals[0].find(remedy), std::string::npos) << refusals[0];
        EXPECT_EQ(refusals, std::vector<std::string>(3, refusals[0]));
    }
}

TEST(UcxOverTcp, EagerAndRendezvousBlocksArriveAndTheRecordNamesTheTransport) {
    ScopedVariable const only_tcp("UCX_TLS", "self,tcp");
    for (char const* const method : {"linear", "pairwise"}) {
        in_process::run_ranks(3, [method](Bootstrap& bootstrap) {
            UcxRank rank(bootstrap);
            Plan const plan =
                rank.exchange([](Rank from, Rank to) { return static_cast<Bytes>(from * 2 + to * 3) * 100'003 + 17; });
            Buffers const buffers = rank.bind(plan);
            auto const compiled = rank.backend().compile(plan, buffers, {method, {}}).value();
            for (std::uint32_t iteration = 0; iteration < 3; ++iteration) {
                rank.run(*compiled, plan, buffers, iteration);
            }
            EXPECT_NE(compiled->provenance().at("transports").find("tcp"), std::string::npos);
        });
    }
}

TEST(Transports, AreTheNamesOfTheLanesSortedAndOnce) {
    // The shape of ucp_ep_print_info's lines in UCX 1.13.
    std::string const info =
        "# UCP endpoint \n"
        "#\n"
        "#               peer: <no debug data>\n"
        "#                 lane[0]:  4:sysv/memory.0 md[3]      -> md[3]/sysv/sysdev[255]       am am_bw#0\n"
        "#                 lane[1]: 12:cma/memory.0 md[7]       -> md[7]/cma/sysdev[255]        rma_bw#0\n"
        "#                 lane[2]:  4:sysv/memory.0 md[3]      -> md[3]/sysv/sysdev[255]       am_bw#1\n"
        "#                tag_send: 0..<egr/short>..92..<egr/bcopy>..8256..<rndv>..(inf)\n";
    EXPECT_EQ(transports_in(info), "cma sysv");
    EXPECT_EQ(transports_in("#\n# rndv: 0:1/2\n"), "");
}

}  // namespace
}  // namespace dlmb::ucx
