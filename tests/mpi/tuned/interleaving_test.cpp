// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// MCR-DL (arXiv 2303.08374): mpi and ucx in turns, over three groups that overlap, in 10,000 random ways: a rank that
// leaves a library too early starves a peer, which shows as a hang within some hundreds of them.
#include "common/backend_kit/registry.hpp"
#include "common/formats/plan/validate.hpp"
#include "common/run/chooser/table_chooser.hpp"
#include "tests/conformance/alternating_table.hpp"
#include "tests/mpi/tuned/random_plan.hpp"
#include "tests/mpi/ucx_rig.hpp"

#include <random>

namespace dlmb::tuned {
namespace {

// A case has a time limit, and on a busy machine each of the many times that ranks meet takes milliseconds.
constexpr std::uint64_t plans_per_case = 50;
constexpr std::uint64_t plans_at_once = 5;

class Interleavings : public testing::TestWithParam<std::uint64_t> {};

struct Counts {
    std::uint64_t plans = 0;
    std::uint64_t of_several_parts = 0;
};

/// Checked iterations begin with a barrier; between them ranks run on without one, as in a stream.
void run_in_random_order(std::vector<std::unique_ptr<ucx::BoundPlan>>& bound, std::uint64_t seed) {
    std::mt19937_64 order(seed);
    for (std::uint32_t iteration = 0; iteration < 2 * bound.size(); ++iteration) {
        bound[order() % bound.size()]->run_checked(iteration);
        for (std::uint64_t more = order() % 3; more > 0; --more) {
            bound[order() % bound.size()]->run();
        }
    }
}

TEST_P(Interleavings, FinishAndDeliverEveryByte) {
    auto const bootstrap = make_mpi_bootstrap();
    tuning::TableChooser const chooser(conformance::alternating_table("ucx"));
    BackendPool pool(BackendContext{*bootstrap}, &chooser);
    auto const tuned = pool.backend("tuned");
    ASSERT_TRUE(tuned) << tuned.error().reason;
    Counts counts;
    for (std::uint64_t first = 0; first < plans_per_case; first += plans_at_once) {
        std::vector<std::unique_ptr<ucx::BoundPlan>> bound;
        for (std::uint64_t plan = first; plan < first + plans_at_once; ++plan) {
            std::uint64_t const seed = GetParam() * plans_per_case + plan;
            bound.push_back(std::make_unique<ucx::BoundPlan>(*bootstrap, *tuned.value(),
                                                             random_plan(seed, bootstrap->rank(), bootstrap->size())));
            ++counts.plans;
            if (bound.back()->compiled().provenance().at("tuned_parts") != "1") {
                ++counts.of_several_parts;
            }
        }
        run_in_random_order(bound, GetParam() * plans_per_case + first);
        tuned.value()->quiesce();
        if (HasFailure()) {
            FAIL() << "seeds from " << GetParam() * plans_per_case + first;
        }
    }
    EXPECT_EQ(counts.plans, plans_per_case);
    EXPECT_GT(counts.of_several_parts, plans_per_case / 2) << "too few plans change backends to say anything";
}

TEST(RandomPlan, IsConsistentOverAllRanks) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        for (int const ranks : {1, 2, 3, 4}) {
            std::vector<Plan> plans;
            for (Rank me = 0; me < ranks; ++me) {
                plans.push_back(random_plan(seed, me, ranks));
            }
            for (PlanProblem const& problem : validate(plans)) {
                ADD_FAILURE() << "seed " << seed << ", " << ranks << " ranks: " << problem.text;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Some, Interleavings, testing::Range<std::uint64_t>(0, 10));
INSTANTIATE_TEST_SUITE_P(TenThousand, Interleavings, testing::Range<std::uint64_t>(10, 200));

}  // namespace
}  // namespace dlmb::tuned
