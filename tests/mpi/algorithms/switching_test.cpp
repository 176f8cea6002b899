// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A chosen algorithm is the one that runs, as seen from below MPI. The library is left as it was found.
#include "common/backends/mpi/algorithms.hpp"
#include "tests/mpi/algorithms/plans.hpp"
#include "tests/mpi/algorithms/seen_algorithm.hpp"

#include <gtest/gtest.h>

namespace dlmb::mpi {
namespace {

using Compiled = std::unique_ptr<CompiledPlan>;

Compiled compile(Rig& rig, Plan const& plan, std::string const& method) {
    auto compiled = rig.backend().compile(plan, rig.bind(plan), parse_method(method));
    EXPECT_TRUE(compiled) << (compiled ? "" : compiled.error().reason);
    return compiled ? std::move(compiled).value() : nullptr;
}

/// What one iteration ran by.
std::string seen_in(Rig& rig, CompiledPlan& compiled) {
    compiled.activate();
    watch_allreduce();
    compiled.launch();
    compiled.finish();
    std::string seen = seen_allreduce(rig.ranks());
    rig.backend().quiesce();
    return seen;
}

std::vector<std::string> watched_algorithms() {
    if (Algorithms().catalogue().family == "mpich") {
        return {"recursive_doubling", "reduce_scatter_allgather"};
    }
    return {"basic_linear", "recursive_doubling", "ring", "rabenseifner"};
}

class MpiAlgorithms : public testing::Test {
protected:
    [[nodiscard]] Compiled by(std::string const& algorithm) {
        return compile(rig_, plan_, "algorithm:allreduce=" + algorithm);
    }
    Rig rig_;  // of a power of two
    Plan plan_ = one_operation(rig_, OperationKind::all_reduce);
};

TEST_F(MpiAlgorithms, TheOneThatIsChosenRuns) {
    for (std::string const& algorithm : watched_algorithms()) {
        Compiled const compiled = by(algorithm);
        ASSERT_NE(compiled, nullptr);
        EXPECT_EQ(seen_in(rig_, *compiled), algorithm);
    }
}

TEST_F(MpiAlgorithms, PlansKeepTheirsWhenOthersAreCompiledAndRunBetween) {
    std::vector<Compiled> compiled;
    for (std::string const& algorithm : watched_algorithms()) {
        compiled.push_back(by(algorithm));
        ASSERT_NE(compiled.back(), nullptr);
    }
    for (int round = 0; round < 2; ++round) {
        for (std::size_t i = 0; i < compiled.size(); ++i) {
            EXPECT_EQ(seen_in(rig_, *compiled[i]), watched_algorithms()[i]);
        }
    }
}

TEST_F(MpiAlgorithms, APlainPlanIsDoneByTheLibrarysOwnDecisionWhateverRanBefore) {
    Compiled const plain = compile(rig_, plan_, "blocking");
    std::string const before = seen_in(rig_, *plain);
    for (std::string const& algorithm : watched_algorithms()) {
        Compiled const chosen = by(algorithm);
        ASSERT_NE(chosen, nullptr);
        (void)seen_in(rig_, *chosen);
        EXPECT_EQ(seen_in(rig_, *plain), before) << "after " << algorithm;
    }
}

TEST_F(MpiAlgorithms, TheRecordNamesTheAlgorithmAndWhatWasReadBack) {
    std::string const algorithm = watched_algorithms().back();
    Compiled const compiled = by(algorithm);
    ASSERT_NE(compiled, nullptr);
    compiled->activate();
    Provenance const facts = compiled->provenance();
    EXPECT_EQ(facts.at("mpi_algorithm_family"), Algorithms().catalogue().family);
    EXPECT_EQ(facts.at("mpi_algorithm.allreduce"), algorithm);
    EXPECT_NE(facts.at("mpi_algorithm_variables").find("=" + facts.at("mpi_algorithm_id.allreduce")), std::string::npos)
        << facts.at("mpi_algorithm_variables");
    EXPECT_TRUE(compile(rig_, plan_, "blocking")->provenance().empty());
}

std::vector<std::int64_t> all_values(Algorithms const& algorithms) {
    std::vector<std::int64_t> values;
    for (auto const& [call, offered] : algorithms.catalogue().calls) {
        values.push_back(offered.variable.read());
        for (auto const& [setting, variable] : offered.settings) {
            values.push_back(variable.read());
        }
    }
    if (algorithms.catalogue().strictness) {
        values.push_back(algorithms.catalogue().strictness->read());
    }
    return values;
}

TEST(MpiAlgorithmVariables, AreWhatTheyWereOnceNothingRuns) {
    Algorithms const observer;
    std::vector<std::int64_t> const before = all_values(observer);
    ASSERT_FALSE(before.empty());
    {
        Rig rig;
        Plan const plan = one_operation(rig, OperationKind::all_reduce);
        Compiled const compiled = compile(rig, plan, "algorithm:allreduce=recursive_doubling");
        EXPECT_EQ(all_values(observer), before) << "after compile()";
        (void)seen_in(rig, *compiled);
        EXPECT_EQ(all_values(observer), before) << "after quiesce()";
        compiled->activate();
    }
    EXPECT_EQ(all_values(observer), before) << "after the backend";
}

}  // namespace
}  // namespace dlmb::mpi
