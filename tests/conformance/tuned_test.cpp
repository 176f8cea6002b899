// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/registry.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "common/run/chooser/table_chooser.hpp"
#include "tests/conformance/alternating_table.hpp"
#include "tests/conformance/run_corpus.hpp"

#include <gtest/gtest.h>

namespace dlmb::conformance {
namespace {

/// What a table that alternates cannot run: rank-dependent orders, and what the chosen methods decline.
bool may_be_declined(Declined const& declined) {
    return declined.reason.starts_with("tuned: the ranks would take turns in different orders") ||
           declined.reason.starts_with("tuned: rank ") || !declined.required;
}

class TunedConformance : public testing::TestWithParam<CorpusPart> {};

TEST_P(TunedConformance, UnderATableThatAlternatesEveryByteIsRightOrTheEntryIsDeclinedWithAReason) {
    std::unique_ptr<Bootstrap> const bootstrap = make_mpi_bootstrap();
    std::string other = "ucx";
    BackendContext context{*bootstrap};
    {
        BackendPool pool(context);
        other = pool.backend(other) ? other : "mpi";
    }
    tuning::TableChooser const chooser(alternating_table(other));
    BackendPool pool(context, &chooser);
    auto const backend = pool.backend("tuned");
    ASSERT_TRUE(backend) << backend.error().reason;
    std::string why_not;
    auto const memory = make_memory_space(MemoryKind::host, why_not);
    std::vector<CorpusEntry> entries;
    GetParam().add(bootstrap->size(), entries);
    CorpusResult const result = run_entries(entries, *bootstrap, *backend.value(), *memory);
    EXPECT_EQ(result.problems, std::vector<std::string>{});
    for (Declined const& declined : result.declined) {
        EXPECT_TRUE(may_be_declined(declined)) << declined.entry << ": " << declined.reason;
    }
    std::uint64_t const runs = runs_of(entries, *backend.value(), memory->kind());
    EXPECT_EQ(result.iterations / 2 + result.declined.size(), runs);
    EXPECT_LT(result.declined.size(), runs / 2) << "too little ran to say anything";
}

INSTANTIATE_TEST_SUITE_P(Parts, TunedConformance,
                         testing::Values(CorpusPart{"exchanges", add_exchanges},
                                         CorpusPart{"collectives", add_collectives},
                                         CorpusPart{"messages", add_messages}),
                         [](testing::TestParamInfo<CorpusPart> const& test) { return test.param.name; });

}  // namespace
}  // namespace dlmb::conformance
