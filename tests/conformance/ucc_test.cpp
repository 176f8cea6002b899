// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Every algorithm of UCC that the backend offers, over the corpus, and what it refuses.
#include "common/backend_kit/registry.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "tests/conformance/run_corpus.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace dlmb::conformance {
namespace {

constexpr std::array every_use{
    OperationUse{OperationKind::exchange, false},      OperationUse{OperationKind::all_reduce, true},
    OperationUse{OperationKind::reduce_scatter, true}, OperationUse{OperationKind::all_gather, true},
    OperationUse{OperationKind::broadcast, true},      OperationUse{OperationKind::reduce, true}};

class UccAlgorithms : public testing::Test {
protected:
    std::unique_ptr<Bootstrap> bootstrap_ = make_mpi_bootstrap();
    std::unique_ptr<Backend> backend_ = std::move(make_backend("ucc", {.bootstrap = *bootstrap_}).value());
};

TEST_F(UccAlgorithms, EveryAlgorithmDeliversEveryByte) {
    std::string why_not;
    auto const memory = make_memory(MemoryKind::host, why_not);
    std::vector<CorpusEntry> entries;
    add_collectives(bootstrap_->size(), entries);
    add_exchanges(bootstrap_->size(), entries);
    std::vector<MethodChoice> const variants = backend_->variants(MemoryKind::host, every_use);
    EXPECT_EQ(variants.size(), 21U) << "4 + 3 + 2 + 7 + 3 + 2 algorithms of methods.cpp";
    for (MethodChoice const& choice : variants) {
        CorpusResult const result = run_method(entries, to_string(choice), *bootstrap_, *backend_, *memory);
        EXPECT_THAT(result.problems, testing::IsEmpty()) << to_string(choice);
        EXPECT_GT(result.iterations, 0U) << to_string(choice);
    }
}

TEST_F(UccAlgorithms, APlanWithoutTheNamedCallIsDeclined) {
    std::vector<CorpusEntry> entries;
    add_exchanges(bootstrap_->size(), entries);
    Plan const& plan = entries.front().plans[static_cast<std::size_t>(bootstrap_->rank())];
    auto const made = backend_->compile(plan, {}, parse_method("algorithm:bcast=dbt"));
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().reason, testing::HasSubstr("no step of this traffic makes a call"));
}

TEST_F(UccAlgorithms, AnUnknownAlgorithmOrCollectiveIsRefusedWithTheNearestNames) {
    std::vector<CorpusEntry> entries;
    add_collectives(bootstrap_->size(), entries);
    Plan const& plan = entries.front().plans[static_cast<std::size_t>(bootstrap_->rank())];
    for (auto const& [text, named] :
         {std::pair{"algorithm:allreduce=rign", "ring"}, std::pair{"algorithm:allreduc=ring", "allreduce"},
          std::pair{"collectiv", "collective"}, std::pair{"collective:depth=2", "has none"},
          std::pair{"algorithm", "name one"}}) {
        try {
            (void)backend_->compile(plan, {}, parse_method(text));
            ADD_FAILURE() << text << " was taken";
        } catch (UsageError const& error) {
            EXPECT_THAT(error.what(), testing::HasSubstr(named)) << text;
        }
    }
}

}  // namespace
}  // namespace dlmb::conformance
