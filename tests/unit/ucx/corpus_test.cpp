// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// The conformance corpus over thread ranks: UCX without MPI, and world sizes that no launcher test reaches as cheaply.
#include "common/backends/ucx/ucx_backend.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "tests/conformance/run_corpus.hpp"

#include <gtest/gtest.h>

namespace dlmb::ucx {
namespace {

class UcxOverThreads : public testing::TestWithParam<int> {};

TEST_P(UcxOverThreads, EveryEntryRunsAndEveryByteIsRightAndNothingIsDeclined) {
    in_process::run_ranks(GetParam(), [](Bootstrap& bootstrap) {
        std::string why_not;
        auto const memory = make_memory_space(MemoryKind::host, why_not);
        auto const backend = make_backend({bootstrap, YieldPolicy::always});
        ASSERT_TRUE(backend) << backend.error().reason;
        conformance::CorpusResult const result = conformance::run_corpus(bootstrap, *backend.value(), *memory);
        for (std::string const& problem : result.problems) {
            ADD_FAILURE() << problem;
        }
        for (conformance::Declined const& declined : result.declined) {
            ADD_FAILURE() << declined.method << " declines " << declined.entry << ": " << declined.reason;
        }
        // The uniform exchanges alone deliver one block per peer, in seven sizes that are not zero, twice, for each
        // of the two methods that run them all.
        EXPECT_GE(result.blocks_checked, static_cast<std::uint64_t>(2 * 2 * 7 * bootstrap.size()));
    });
}

INSTANTIATE_TEST_SUITE_P(ThreadRanks, UcxOverThreads, testing::Values(1, 2, 3, 4, 5, 8));

}  // namespace
}  // namespace dlmb::ucx
