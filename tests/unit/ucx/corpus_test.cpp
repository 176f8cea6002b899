// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// The conformance corpus over thread ranks: UCX without MPI. Other numbers of ranks, and pinned memory: the corpus over
// MPI. Memory of a device is tried where there is one, be it that of the test doubles (tests/fakes).
#include "common/backends/ucx/ucx_backend.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "tests/conformance/run_corpus.hpp"

#include <gtest/gtest.h>

#include <tuple>

namespace dlmb::ucx {
namespace {

class UcxOverThreads : public testing::TestWithParam<std::tuple<MemoryKind, int>> {};

TEST_P(UcxOverThreads, EveryEntryRunsAndEveryByteIsRightAndNothingIsDeclined) {
    auto const [kind, ranks] = GetParam();
    std::string why_not;
    if (make_memory_space(kind, why_not) == nullptr) {
        GTEST_SKIP() << why_not;
    }
    in_process::run_ranks(ranks, [kind = kind](Bootstrap& bootstrap) {
        auto const backend = make_backend({bootstrap, YieldPolicy::always});
        ASSERT_TRUE(backend) << backend.error().reason;
        if (!backend.value()->supports(kind)) {
            GTEST_SKIP() << backend.value()->why_no(kind);
        }
        std::string none;
        auto const memory = make_memory_space(kind, none);
        conformance::CorpusResult const result = conformance::run_corpus(bootstrap, *backend.value(), *memory);
        for (std::string const& problem : result.problems) {
            ADD_FAILURE() << problem;
        }
        for (conformance::Declined const& declined : result.declined) {
            bool const needs_host = declined.reason.find("host memory only") != std::string::npos;
            EXPECT_TRUE(needs_host && kind != MemoryKind::host)
                << declined.method << " declines " << declined.entry << ": " << declined.reason;
        }
        // The uniform exchanges alone deliver one block per peer, in seven sizes that are not zero, twice, for each
        // of the two methods that run them all.
        EXPECT_GE(result.blocks_checked, static_cast<std::uint64_t>(2 * 2 * 7 * bootstrap.size()));
    });
}

TEST(UcxContexts, TheCorpusRunsInContextsOfOtherThresholds) {
    in_process::run_ranks(3, [](Bootstrap& bootstrap) {
        auto const backend = make_backend({bootstrap, YieldPolicy::always});
        std::string why_not;
        auto const memory = make_memory_space(MemoryKind::host, why_not);
        auto const entries = conformance::corpus(bootstrap.size());
        for (char const* const method : {"linear:rndv_thresh=1", "linear:rndv_thresh=inf:zcopy_thresh=inf",
                                         "knomial:rndv_thresh=1", "ring:rndv_thresh=inf:segment=4K"}) {
            auto const result = conformance::run_method(entries, method, bootstrap, *backend.value(), *memory);
            EXPECT_GT(result.blocks_checked, 0U) << method;
            for (std::string const& problem : result.problems) {
                ADD_FAILURE() << problem;
            }
            for (conformance::Declined const& declined : result.declined) {
                ADD_FAILURE() << declined.method << " declines " << declined.entry << ": " << declined.reason;
            }
        }
    });
}

std::string name_of_case(testing::TestParamInfo<std::tuple<MemoryKind, int>> const& test) {
    return std::string(name_of(std::get<0>(test.param))) + "_" + std::to_string(std::get<1>(test.param));
}

INSTANTIATE_TEST_SUITE_P(Host, UcxOverThreads,
                         testing::Combine(testing::Values(MemoryKind::host), testing::Values(3, 5)), name_of_case);
INSTANTIATE_TEST_SUITE_P(Device, UcxOverThreads,
                         testing::Values(std::tuple(MemoryKind::cuda, 3), std::tuple(MemoryKind::managed, 2)),
                         name_of_case);

}  // namespace
}  // namespace dlmb::ucx
