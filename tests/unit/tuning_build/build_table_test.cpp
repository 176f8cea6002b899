// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Tables of synthetic observations: times with a known truth and a known spread between launches.
#include "common/base/error.hpp"
#include "common/tools/tune/build/build_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace dlmb::tuning {
namespace {

/// Method -> its true time at a size, nanoseconds. "blocking" is the default.
using Truth = std::map<std::string, std::function<double(Bytes)>>;

struct Campaign {
    std::vector<Bytes> sizes;
    int launches = 8;
    double spread = 0.02;  // standard deviation of a time in a launch, relative
    unsigned seed = 1;
    double launch_spread = 0;  // of what all times of a launch have in common, as a power of e
};

std::vector<Observation> observe_truth(Truth const& truth, Campaign const& campaign) {
    std::mt19937 random(campaign.seed);
    std::normal_distribution<double> noise(1.0, campaign.spread);
    std::vector<Observation> seen;
    for (int launch = 0; launch < campaign.launches; ++launch) {
        double const common = std::exp(campaign.launch_spread * (noise(random) - 1) / campaign.spread);
        for (Bytes const bytes : campaign.sizes) {
            for (auto const& [method, time_ns] : truth) {
                Observation one;
                one.key = {TunedOperation::allreduce, bytes, 4, 1, "host", "fp32", "sum", false};
                one.competitor = {"mpi", method};
                one.choice = {"mpi", method, std::nullopt, {}};
                one.is_default = method == "blocking";
                one.launch_id = "launch" + std::to_string(launch);
                one.samples = 1000;
                one.median_ns = time_ns(bytes) * common * noise(random);
                seen.push_back(one);
            }
        }
    }
    return seen;
}

std::vector<Bytes> powers_of_two(Bytes first, Bytes last) {
    std::vector<Bytes> sizes;
    for (Bytes size = first; size <= last; size *= 2) {
        sizes.push_back(size);
    }
    return sizes;
}

Policy test_policy() {
    Policy policy;
    policy.baseline["host"] = "mpi";
    return policy;
}

double constant(Bytes /*bytes*/) {
    return 10'000;
}
double linear(Bytes bytes) {
    return 2'000 + static_cast<double>(bytes);
}
double steeper(Bytes bytes) {
    return 1'000 + 2 * static_cast<double>(bytes);
}

/// The share of the default's time that "ring" takes at every size.
Truth ring_takes(double share) {
    return {{"blocking", constant}, {"ring", [share](Bytes bytes) { return share * constant(bytes); }}};
}

std::size_t chosen(Built const& built) {
    return static_cast<std::size_t>(std::count_if(built.rules.begin(), built.rules.end(),
                                                  [](Rule const& rule) { return rule.status == RuleStatus::chosen; }));
}

TEST(BuildTable, NoiseAloneChoosesNothing) {
    Truth const alike{{"blocking", constant}, {"ring", constant}, {"linear", constant}};
    int tables_with_a_choice = 0;
    for (unsigned seed = 1; seed <= 100; ++seed) {
        auto const search = observe_truth(alike, {powers_of_two(8, 1 << 20), 8, 0.02, 2 * seed});
        auto const fresh = observe_truth(alike, {powers_of_two(8, 1 << 20), 8, 0.02, 2 * seed + 1});
        tables_with_a_choice += chosen(build_rules(search, fresh, test_policy(), false)) > 0 ? 1 : 0;
    }
    EXPECT_LE(tables_with_a_choice, 5);
}

std::vector<Observation> foreign(std::vector<Observation> seen) {
    for (Observation& one : seen) {
        one.foreign = Foreign{"pico", "median"};
    }
    return seen;
}

// Exact times: the gain is 1 - 0.8, and one launch has no interval.
TEST(BuildTable, ForeignNumbersOfOneLaunchChooseAtTheMeasuredSizesAndClaimNoMore) {
    Truth const planted = ring_takes(0.8);
    Built const built =
        build_rules(foreign(observe_truth(planted, {{32, 256, 2048}, 1, 1e-9})), {}, test_policy(), false);
    ASSERT_EQ(built.rules.size(), 3U);
    for (Rule const& rule : built.rules) {
        EXPECT_EQ(rule.when.bytes->min, rule.when.bytes->max) << "sizes further apart than a factor of 2 say nothing";
        EXPECT_EQ(rule.choose.method, "ring");
        EXPECT_EQ(rule.evidence->foreign, (Foreign{"pico", "median"}));
        EXPECT_EQ(rule.evidence->launches, 1U);
        EXPECT_EQ(rule.evidence->confirmed, 0U);
        EXPECT_NEAR(rule.evidence->gain, 0.2, 1e-6);
        EXPECT_EQ(rule.evidence->gain_low, 0);
    }
}

TEST(BuildTable, AForeignWinnerAtOneSizeOnlyMayBeChance) {
    Truth const once{{"blocking", constant}, {"ring", [](Bytes bytes) { return bytes == 256 ? 8000.0 : 12'000.0; }}};
    Built const built = build_rules(foreign(observe_truth(once, {{32, 256, 2048}, 1, 1e-9})), {}, test_policy(), false);
    EXPECT_EQ(chosen(built), 0U);
    ASSERT_EQ(built.rules.size(), 3U);
    EXPECT_EQ(built.rules[1].status, RuleStatus::unconfirmed) << "a tie would say that nothing is better";
    EXPECT_EQ(built.rules[1].candidate->choose.method, "ring");
}

TEST(BuildTable, ForeignLaunchesThatContradictEachOtherAreUndecided) {
    std::vector<Observation> seen = foreign(observe_truth(ring_takes(0.1), {{32, 256}, 2, 1e-9}));
    for (Observation& one : seen) {
        one.median_ns = one.launch_id == "launch1" && !one.is_default ? 9'970 : one.median_ns;
    }
    Built const built = build_rules(seen, {}, test_policy(), false);
    ASSERT_EQ(built.rules.size(), 1U);
    EXPECT_EQ(built.rules[0].status, RuleStatus::undecided) << "one launch gains 90 %, the other nothing";
}

TEST(BuildTable, APlantedGainIsFoundAndMeasuredByItsConfirmation) {
    Truth const planted = ring_takes(0.8);
    auto const sizes = powers_of_two(1024, 65536);
    Built const built = build_rules(observe_truth(planted, {sizes, 8, 0.02, 1}),
                                    observe_truth(planted, {sizes, 8, 0.02, 2}), test_policy(), false);
    ASSERT_EQ(built.rules.size(), 1U);
    Rule const& rule = built.rules[0];
    EXPECT_EQ(rule.status, RuleStatus::chosen);
    EXPECT_EQ(rule.choose.method, "ring");
    EXPECT_EQ(rule.when.bytes, (ByteInterval{1024, 65536}));
    EXPECT_EQ(rule.when.ranks, (CountInterval{4, 4}));
    EXPECT_EQ(rule.evidence->sizes, sizes);
    EXPECT_EQ(rule.evidence->confirmed, 8U);
    EXPECT_NEAR(rule.evidence->gain, 0.2, 0.03);
    EXPECT_GT(rule.evidence->gain, rule.evidence->gain_low);
    EXPECT_LT(rule.evidence->gain, rule.evidence->gain_high);
}

TEST(BuildTable, AGainIsOfLaunchesAndNotOfTheirMedians) {
    Truth const planted = ring_takes(0.8);
    auto search = observe_truth(planted, {{4096}, 8, 1e-12, 1, 0.5});
    for (Observation& one : search) {
        // In half of the launches both are ten times slower, in one of these the default alone.
        bool const slow = one.launch_id >= "launch4";
        one.median_ns *= slow && (one.is_default || one.launch_id != "launch7") ? 10 : 1;
    }
    Built const built = build_rules(search, search, test_policy(), false);
    ASSERT_EQ(chosen(built), 1U);
    EXPECT_NEAR(built.rules[0].evidence->gain, 0.2, 1e-6);
}

TEST(BuildTable, AMethodThatWasDroppedAfterTwoLuckyLaunchesDoesNotHideTheOneThatWasMeasuredToTheEnd) {
    Truth both = ring_takes(0.8);
    both["linear"] = [](Bytes bytes) { return 0.7 * constant(bytes); };
    auto search = observe_truth(both, {{4096}});
    std::erase_if(search,
                  [](Observation const& one) { return one.choice.method == "linear" && one.launch_id > "launch1"; });
    Built const built = build_rules(search, observe_truth(both, {{4096}, 8, 0.02, 2}), test_policy(), false);
    ASSERT_EQ(chosen(built), 1U);
    EXPECT_EQ(built.rules[0].choose.method, "ring");
    EXPECT_EQ(built.rules[0].evidence->launches, 8U);
}

TEST(BuildTable, WhereNoMethodHasEnoughLaunchesTheOneWithMostOfThemIsMeasuredAgain) {
    Truth both = ring_takes(0.8);
    both["linear"] = [](Bytes bytes) { return 0.7 * constant(bytes); };
    auto search = observe_truth(both, {{4096}, 5});
    std::erase_if(search,
                  [](Observation const& one) { return one.choice.method == "linear" && one.launch_id > "launch1"; });
    Built const built = build_rules(search, {}, test_policy(), false);
    ASSERT_EQ(built.rules.size(), 1U);
    EXPECT_EQ(built.rules[0].status, RuleStatus::undecided);
    EXPECT_EQ(built.rules[0].candidate->choose.method, "ring");
}

// Exact times: the fresh launches have "ring" and "linear" the other way round.
TEST(BuildTable, TheRunnerUpIsNeverTheWinner) {
    auto const takes = [](double share) { return [share](Bytes bytes) { return share * constant(bytes); }; };
    auto const search =
        observe_truth({{"blocking", constant}, {"ring", takes(0.70)}, {"linear", takes(0.72)}}, {{1024}, 8, 1e-9});
    auto const fresh =
        observe_truth({{"blocking", constant}, {"ring", takes(0.72)}, {"linear", takes(0.70)}}, {{1024}, 8, 1e-9, 2});
    Built const built = build_rules(search, fresh, test_policy(), false);
    ASSERT_EQ(chosen(built), 1U);
    Evidence const& evidence = *built.rules[0].evidence;
    EXPECT_NEAR(evidence.choice_ns, 7200, 1);
    EXPECT_NEAR(evidence.runner_up_ns.value(), 7000, 1);
}

TEST(BuildTable, AWinThatFreshLaunchesDoNotShowIsDropped) {
    auto const sizes = powers_of_two(1024, 65536);
    Built const built = build_rules(observe_truth(ring_takes(0.8), {sizes}),
                                    observe_truth(ring_takes(1), {sizes, 8, 0.02, 2}), test_policy(), false);
    EXPECT_EQ(chosen(built), 0U);
    EXPECT_EQ(built.rules.front().status, RuleStatus::tie);
}

TEST(BuildTable, WithoutFreshLaunchesAWinnerWaits) {
    Truth const planted = ring_takes(0.8);
    auto const search = observe_truth(planted, {powers_of_two(1024, 65536)});
    Built const waiting = build_rules(search, {}, test_policy(), false);
    EXPECT_EQ(chosen(waiting), 0U);
    ASSERT_EQ(waiting.rules.size(), 1U);
    EXPECT_EQ(waiting.rules[0].status, RuleStatus::unconfirmed);
    ASSERT_TRUE(waiting.rules[0].candidate);
    EXPECT_EQ(waiting.rules[0].candidate->choose.method, "ring");
    EXPECT_NEAR(waiting.rules[0].candidate->gain, 0.2, 0.05);
    EXPECT_EQ(waiting.rules[0].evidence->gain, 0) << "of the default, which stays";
    Built const accepted = build_rules(search, {}, test_policy(), true);
    ASSERT_EQ(chosen(accepted), 1U);
    EXPECT_EQ(accepted.rules[0].evidence->confirmed, 0U);
}

TEST(BuildTable, FreshLaunchesThatAreTooNoisyLeaveAWinnerUnconfirmed) {
    Truth const planted = ring_takes(0.8);
    auto const search = observe_truth(planted, {{4096}});
    auto fresh = observe_truth(planted, {{4096}, 6, 0.02, 2});
    auto const standing = [&] {
        return build_rules(search, fresh, test_policy(), false).series[0].points[0].decision.outcome;
    };
    EXPECT_EQ(standing(), Outcome::chosen);
    for (Observation& one : fresh) {
        one.aa_ratio = 1.4;  // twice the error of 6 launches together: 2 * 0.4 / sqrt(6) = 0.33
    }
    EXPECT_EQ(standing(), Outcome::unconfirmed);
    Built const built = build_rules(search, fresh, test_policy(), false);
    EXPECT_EQ(built.rules.at(0).status, RuleStatus::unconfirmed) << "more fresh launches are asked for";
}

TEST(BuildTable, TooFewLaunchesChooseNothing) {
    Truth const planted = ring_takes(0.5);
    auto const few = observe_truth(planted, {powers_of_two(1024, 65536), 7, 0.02, 1});
    EXPECT_EQ(chosen(build_rules(few, few, test_policy(), false)), 0U);
}

TEST(BuildTable, AGainThatMayBeLuckIsMeasuredAgainUntilItIsDecided) {
    Truth const planted = ring_takes(0.9);
    auto search = observe_truth(planted, {{4096}, 4, 0.02, 1});
    Built const undecided = build_rules(search, {}, test_policy(), false);
    ASSERT_EQ(undecided.rules.size(), 1U);
    EXPECT_EQ(undecided.rules[0].status, RuleStatus::undecided);
    EXPECT_EQ(undecided.rules[0].candidate->choose.method, "ring");
    EXPECT_EQ(undecided.rules[0].evidence->sizes, (std::vector<Bytes>{4096}));

    auto more = observe_truth(planted, {{4096}, 4, 0.02, 2});
    for (Observation& one : more) {
        one.launch_id += "again";
    }
    search.insert(search.end(), more.begin(), more.end());
    Built const decided = build_rules(search, {}, test_policy(), false);
    EXPECT_EQ(decided.rules.at(0).status, RuleStatus::unconfirmed);
}

TEST(BuildTable, LaunchesThatDisagreeWithThemselvesNeedALargerGain) {
    Truth const planted = ring_takes(0.9);
    auto const standing_with = [&](double aa_ratio) {
        auto search = observe_truth(planted, {{4096}});
        for (Observation& one : search) {
            one.aa_ratio = aa_ratio;
        }
        return build_rules(search, {}, test_policy(), false).series[0].points[0].decision.outcome;
    };
    // twice the error of 8 launches together: 2 * 0.1 / sqrt(8) = 0.07, and 0.2 / sqrt(8) * 2 = 0.14
    EXPECT_EQ(standing_with(1.1), Outcome::unconfirmed);
    EXPECT_EQ(standing_with(1.2), Outcome::undecided);
}

TEST(BuildTable, AKnownCrossoverIsFoundWithinOneStepOfRefinement) {
    // linear and steeper meet at 1000 bytes; the default is worse than both.
    Truth const truth{
        {"blocking", [](Bytes bytes) { return 3 * linear(bytes); }}, {"linear", linear}, {"steeper", steeper}};
    auto sizes = powers_of_two(64, 16384);
    Policy policy = test_policy();
    auto const build = [&] {
        return build_rules(observe_truth(truth, {sizes, 8, 0.005, 1}), observe_truth(truth, {sizes, 8, 0.005, 2}),
                           policy, false);
    };
    Built const coarse = build();
    ASSERT_EQ(coarse.rules.size(), 2U);
    EXPECT_EQ(coarse.rules[0].evidence->sizes.back(), 512U);
    EXPECT_EQ(coarse.rules[1].evidence->sizes.front(), 1024U);
    Bytes const between = geometric_middle(512, 1024);
    EXPECT_EQ(coarse.rules[0].when.bytes->max, between);
    sizes.insert(std::upper_bound(sizes.begin(), sizes.end(), between), between);
    Built const fine = build();
    auto const last = std::find_if(fine.rules.begin(), fine.rules.end(),
                                   [](Rule const& rule) { return rule.choose.method == "steeper"; });
    ASSERT_NE(last, fine.rules.end());
    EXPECT_GE(last->when.bytes->max, 724U);
    EXPECT_LE(last->when.bytes->max, 1024U);
}

// MCR-DL (arXiv 2303.08374): one crossover within a step of the sweep, and the mixture beats the best single backend.
// 2000
// + b/4 and 14288 + b/16 meet at 64 KiB.
TEST(BuildTable, OfTwoBackendsEachHasItsSideOfTheCrossoverAndBothTogetherBeatEach) {
    auto const ucx_ns = [](Bytes bytes) { return 2'000 + 0.25 * static_cast<double>(bytes); };
    auto const mpi_ns = [](Bytes bytes) { return 14'288 + 0.0625 * static_cast<double>(bytes); };
    auto const sizes = powers_of_two(1024, Bytes{4} << 20);
    auto search = observe_truth({{"blocking", mpi_ns}}, {sizes, 8, 0.005, 1});
    auto other = observe_truth({{"blocking", ucx_ns}}, {sizes, 8, 0.005, 3});
    for (Observation& one : other) {
        one.competitor.backend = one.choice.backend = "ucx";
    }
    search.insert(search.end(), other.begin(), other.end());
    Built const built = build_rules(search, search, test_policy(), false);
    std::vector<Rule const*> selected;
    for (Rule const& rule : built.rules) {
        if (rule.scope == select_scope && rule.status == RuleStatus::chosen && rule.choose.backend == "ucx") {
            selected.push_back(&rule);
        }
    }
    ASSERT_EQ(selected.size(), 1U) << "one crossover";
    ByteInterval const range = *selected.front()->when.bytes;
    EXPECT_EQ(range.min, 1024U);
    EXPECT_GE(range.max, Bytes{32} << 10);
    EXPECT_LE(range.max, Bytes{128} << 10) << "within one step of the sweep";
    double mixed = 0;
    double only_mpi = 0;
    double only_ucx = 0;
    for (Bytes const bytes : sizes) {
        mixed += bytes >= range.min && bytes <= range.max ? ucx_ns(bytes) : mpi_ns(bytes);
        only_mpi += mpi_ns(bytes);
        only_ucx += ucx_ns(bytes);
    }
    EXPECT_LE(mixed, 1.05 * std::min(only_mpi, only_ucx));
}

TuningTable table_for(Policy const& policy) {
    TuningTable table;
    table.created = "2026-01-01T00:00:00Z";
    table.tool = {"dlmb_tune", "0.1.0", "unknown"};
    table.system.key = "0123456789abcdef";
    table.system.cpu = "a synthetic processor";
    table.policy = policy;
    return table;
}

void expect_valid(TuningTable const& table) {
    for (TableProblem const& problem : validate(table)) {
        ADD_FAILURE() << problem.path << ": " << problem.what;
    }
}

TEST(BuildTable, ItsRulesAreValid) {
    Truth const truth{
        {"blocking", [](Bytes bytes) { return 1.2 * linear(bytes); }}, {"linear", linear}, {"steeper", steeper}};
    auto const sizes = powers_of_two(8, 1 << 20);
    TuningTable table = table_for(test_policy());
    table.rules =
        build_rules(observe_truth(truth, {sizes}), observe_truth(truth, {sizes, 8, 0.02, 2}), table.policy, false)
            .rules;
    expect_valid(table);
    EXPECT_GT(table.rules.size(), 1U);
}

TEST(BuildTable, RulesTellCallsInPlaceFromOthersWhereBothWereMeasured) {
    auto seen = observe_truth(ring_takes(0.8), {{1024, 2048}});
    auto in_place = observe_truth({{"blocking", constant}}, {{1024, 2048}, 8, 0.02, 3});
    for (Observation& one : in_place) {
        one.key.in_place = true;
    }
    auto const fresh = seen;
    EXPECT_EQ(build_rules(seen, fresh, test_policy(), false).rules.at(0).when.in_place, std::nullopt);
    seen.insert(seen.end(), in_place.begin(), in_place.end());
    TuningTable table = table_for(test_policy());
    table.rules = build_rules(seen, fresh, table.policy, false).rules;
    expect_valid(table);
    ASSERT_EQ(table.rules.size(), 2U);
    for (Rule const& rule : table.rules) {
        EXPECT_EQ(rule.when.in_place, rule.status != RuleStatus::chosen);
    }
}

TEST(ImbalanceClass, CoversEachImbalanceOnceInStepsOfHalfAnOctave) {
    EXPECT_EQ(imbalance_class(1).min, 1.0);
    EXPECT_EQ(imbalance_class(0.999).min, 1.0) << "rounded shares";
    EXPECT_EQ(imbalance_class(2).min, 2.0);
    for (double imbalance = 1; imbalance < 100; imbalance *= 1.001) {
        RatioInterval const own = imbalance_class(imbalance);
        EXPECT_TRUE(own.contains(imbalance)) << imbalance;
        EXPECT_EQ(imbalance_class(own.min), own) << imbalance;
        RatioInterval const next = imbalance_class(std::nextafter(own.max, 200.0));
        EXPECT_FALSE(own.meets(next)) << imbalance;
        EXPECT_NEAR(next.min / own.min, std::sqrt(2.0), 1e-9);
    }
}

/// Observations of an exchange, made uneven so.
std::vector<Observation> uneven(std::vector<Observation> all, double imbalance, std::string const& skew) {
    for (Observation& one : all) {
        one.key.operation = TunedOperation::exchange;
        one.key.dtype = one.key.reduction = "";
        one.key.uniform = false;
        one.key.imbalance = imbalance_class(imbalance).min;
        one.skew = skew;
    }
    return all;
}

TEST(UnevenExchanges, OfOtherImbalancesHaveRulesOfTheirOwn) {
    Truth const even{{"blocking", constant}, {"pairwise", [](Bytes) { return 20'000.0; }}};
    Truth const hot{{"blocking", constant}, {"pairwise", [](Bytes) { return 5'000.0; }}};
    auto search = uneven(observe_truth(even, {{4096}}), 1, "balanced");
    auto const more = uneven(observe_truth(hot, {{4096}}), 2.5, "hot_rank:5");
    search.insert(search.end(), more.begin(), more.end());
    Built const built = build_rules(search, search, test_policy(), false);
    ASSERT_EQ(built.rules.size(), 2U);
    EXPECT_EQ(built.rules[0].choose.method, default_method);
    EXPECT_EQ(built.rules[1].choose.method, "pairwise");
    EXPECT_EQ(built.rules[1].when.imbalance, imbalance_class(2.5));

    auto const alike = uneven(observe_truth(hot, {{4096}}), 2.6, "zipf:1");
    search.insert(search.end(), alike.begin(), alike.end());
    EXPECT_THROW((void)build_rules(search, {}, test_policy(), false), UsageError);
}

}  // namespace
}  // namespace dlmb::tuning
