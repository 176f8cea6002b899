// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Contexts with settings of their own beside the standard one, in one process.
#include "common/backends/ucx/memory_stream.hpp"
#include "common/backends/ucx/transports.hpp"
#include "tests/unit/ucx/ucx_rank.hpp"

namespace dlmb::ucx {
namespace {

/// The line "tag_send: 0..<egr/short>..92..<egr/bcopy>..8256..<rndv>..(inf)" of what UCX says of an endpoint.
std::string protocols(Transport const& transport, Rank peer) {
    ucp_ep_h const endpoint = transport.endpoint(peer);
    std::string const info = printed([endpoint](std::FILE* out) { ucp_ep_print_info(endpoint, out); });
    std::size_t const begin = info.find("tag_send:");
    return begin == std::string::npos ? "" : info.substr(begin, info.find('\n', begin) - begin);
}

TEST(UcxContexts, OfOneProcessHaveTheirOwnThresholds) {
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        Transports transports({bootstrap, YieldPolicy::always});
        Transport& late = *transports.with({{"RNDV_THRESH", "300000"}}).value();
        Rank const other = 1 - bootstrap.rank();
        transports.standard().connect({&other, 1});
        late.connect({&other, 1});
        if (protocols(late, other).empty()) {
            GTEST_SKIP() << "this UCX describes endpoints in other words";
        }
        EXPECT_NE(protocols(late, other).find("..300000..<rndv>"), std::string::npos) << protocols(late, other);
        EXPECT_EQ(protocols(transports.standard(), other).find("..300000..<rndv>"), std::string::npos);
        EXPECT_NE(late.settings().at("ucx_rndv_thresh"), transports.standard().settings().at("ucx_rndv_thresh"));
    });
}

TEST(UcxContexts, OfEqualSettingsAreOneContext) {
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        Transports transports({bootstrap, YieldPolicy::always});
        Transport* const first = transports.with({{"RNDV_THRESH", "4096"}}).value();
        EXPECT_EQ(transports.with({{"RNDV_THRESH", "4096"}}).value(), first);
        EXPECT_NE(transports.with({{"ZCOPY_THRESH", "4096"}}).value(), first);
        EXPECT_EQ(transports.with({}).value(), &transports.standard());
    });
}

TEST(UcxContexts, ASettingThatThisUcxHasNotIsDeclinedOnAllRanks) {
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        Transports transports({bootstrap, YieldPolicy::always});
        auto const made = transports.with({{"NO_SUCH_SETTING", "1"}});
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

}  // namespace
}  // namespace dlmb::ucx
