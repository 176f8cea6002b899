// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// The fit finds the machine that made its measurements, and predicts what that machine does on more nodes.
#include "common/base/error.hpp"
#include "common/base/philox.hpp"
#include "common/tools/predict/fit.hpp"
#include "common/tools/predict/machine_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace dlmb::predict {
namespace {

/// 2 us per call, 3 per round, 6 more beyond 8192 bytes, ...: far from the priors where these are wide.
MachineParameters machine() {
    MachineParameters parameters{};
    std::array<double, parameter_count> const values{2,          3,           6,          2,           0.12,
                                                     0.5,        1 / 12000.0, 0.9,        1 / 90000.0, 1 / 6000.0,
                                                     1 / 5000.0, 1 / 9000.0,  1 / 7000.0, 1 / 3000.0};
    for (std::size_t index = 0; index < parameter_count; ++index) {
        parameters[index] = std::log(values[index]);
    }
    return parameters;
}

std::vector<Measurement> measured(std::vector<std::string> const& shapes, LoadCache& cache, double noise = 0) {
    std::vector<Measurement> measurements;
    std::uint32_t number = 0;
    for (std::string const& shape : shapes) {
        for (auto const& [collective, name] :
             std::vector<ImplementationKey>{{OperationKind::all_reduce, "recursive_doubling"},
                                            {OperationKind::all_reduce, "ring"},
                                            {OperationKind::all_reduce, "rabenseifner"},
                                            {OperationKind::all_gather, "bruck"},
                                            {OperationKind::all_gather, "ring"},
                                            {OperationKind::exchange, "pairwise"},
                                            {OperationKind::exchange, "linear"},
                                            {OperationKind::broadcast, "binomial"},
                                            {OperationKind::reduce_scatter, "recursive_halving"}}) {
            for (double bytes = 256; bytes <= 64 << 20; bytes *= 8) {
                Measurement measurement{"made", parse_nodes(shape), collective, name, bytes, 0};
                double const chance = to_unit(philox({number++, 0, 0, 0}, 7)[0]) - 0.5;
                measurement.time_us =
                    cost_of(terms_of(measurement, {}, cache), machine(), {}).total() * std::exp(noise * chance);
                measurements.push_back(measurement);
            }
        }
    }
    return measurements;
}

std::vector<double> errors(MachineModel const& model, std::vector<Measurement> const& questions, LoadCache& cache) {
    std::vector<double> found;
    for (Measurement const& question : questions) {
        found.push_back(std::abs(predict(model, question, cache).time_us / question.time_us - 1));
    }
    return found;
}

TEST(Fit, FindsTheParametersOfTheMachineThatMadeTheMeasurements) {
    LoadCache cache;
    MachineModel const model = fit(measured({"4", "8", "16", "32"}, cache), cache, 5);
    EXPECT_EQ(model.limits.eager_bytes, 8192) << "chosen by leaving nodes out";
    MachineParameters const truth = machine();
    for (Parameter const parameter :
         {Parameter::latency, Parameter::rendezvous, Parameter::message, Parameter::byte, Parameter::reduce}) {
        auto const index = static_cast<std::size_t>(parameter);
        EXPECT_NEAR(model.best.parameters[index], truth[index], 0.1) << parameter_names[index];
    }
    for (auto const& [key, factors] : model.best.factors) {
        EXPECT_NEAR(factors.latency, 0, 0.1) << key.second;
        EXPECT_NEAR(factors.bandwidth, 0, 0.1) << key.second;
    }
}

TEST(Fit, PredictsSixteenTimesTheNodesOfATorusAndOfATree) {
    LoadCache cache;
    for (auto const& [few, many] : {std::pair{std::vector<std::string>{"2x2x2", "4x4x4"}, std::string("8x8x16")},
                                    std::pair{std::vector<std::string>{"4", "16", "32"}, std::string("512")}}) {
        MachineModel const model = fit(measured(few, cache, 0.1), cache, 5);
        auto const questions = measured({many}, cache);
        auto const found = errors(model, questions, cache);
        EXPECT_LT(quantile(found, 0.5), 0.05) << many;
        EXPECT_LT(quantile(found, 0.9), 0.15) << many;
        for (Measurement const& question : questions) {
            Prediction const prediction = predict(model, question, cache);
            EXPECT_LT(prediction.low_us, prediction.time_us);
            EXPECT_GT(prediction.high_us, prediction.time_us);
        }
    }
}

TEST(Fit, IsNotMovedByAFewWildMeasurements) {
    LoadCache cache;
    auto measurements = measured({"4", "8", "16"}, cache);
    for (std::size_t index = 5; index < measurements.size(); index += 20) {
        measurements[index].time_us *= 50;
    }
    MachineModel model = fit(measurements, cache, 0);
    model.corrected = false;
    EXPECT_LT(quantile(errors(model, measured({"64"}, cache), cache), 0.5), 0.1);
}

TEST(Fit, RefusesANameFromTheNodesOnWhereItsTimesAreBelowWhatItsMessagesTake) {
    LoadCache cache;
    ImplementationKey const suspect{OperationKind::broadcast, "binomial"};
    auto const fitted = [&](double from_bytes) {
        auto measurements = measured({"2x2x2"}, cache);
        auto of_other_job = measurements;
        for (Measurement& each : measurements) {
            if (each.collective == suspect.first && each.bytes >= from_bytes) {
                each.time_us /= 4;
            }
        }
        for (Measurement& each : of_other_job) {
            each.job = "other";
        }
        measurements.insert(measurements.end(), of_other_job.begin(), of_other_job.end());
        return fit(measurements, cache, 0);
    };
    MachineModel const all = fitted(no_limit);
    EXPECT_EQ(all.left_out, LineCounts{});
    MachineModel const without_algorithm = fitted(1 << 20);
    EXPECT_EQ(without_algorithm.left_out, (LineCounts{{suspect, 14}})) << "of both jobs";
    EXPECT_EQ(without_algorithm.points, all.points - 14);
    EXPECT_EQ(without_algorithm.contradicted, (std::map<ImplementationKey, int>{{suspect, 8}}));
    Measurement question{"made", parse_nodes("4x4x4"), suspect.first, suspect.second, 8, 0};
    EXPECT_EQ(refusal_of(all, question), "");
    EXPECT_NE(refusal_of(without_algorithm, question).find("below what the messages of binomial take"),
              std::string::npos);
    question.topology = parse_nodes("2x2x1");
    EXPECT_EQ(refusal_of(without_algorithm, question), "") << "on fewer nodes nothing speaks against it";
    MachineModel const without_outlier = fitted(64 << 20);
    EXPECT_EQ(without_outlier.left_out, (LineCounts{{suspect, 1}})) << "one size tells nothing of others";
    EXPECT_TRUE(without_outlier.contradicted.empty());
}

TEST(Fit, RefusesALinearNameThatTakesTheTimeOfATree) {
    // Among 64 nodes the root sends 63 messages in a row. Small ones load no link, so that only their number tells.
    LoadCache cache;
    auto measurements = measured({"2x2x2", "4x4x4"}, cache);
    ImplementationKey const suspect{OperationKind::scatter, "linear"};
    for (std::string const shape : {"2x2x2", "4x4x4"}) {
        for (double bytes = 256; bytes <= 64 << 20; bytes *= 8) {
            bool const is_tree = shape == "4x4x4";
            Measurement each{"made", parse_nodes(shape), suspect.first, is_tree ? "binomial" : "linear", bytes, 0};
            each.time_us = cost_of(terms_of(each, {}, cache), machine(), {}).total() / (is_tree ? 3 : 1);
            each.algorithm = suspect.second;
            measurements.push_back(each);
        }
    }
    MachineModel const model = fit(measurements, cache, 0);
    EXPECT_EQ(model.contradicted, (std::map<ImplementationKey, int>{{suspect, 64}}));
    EXPECT_TRUE(model.best.factors.contains(suspect)) << "its times on 8 nodes are its own";
}

TEST(Fit, RefusesATableWhoseOnlyAlgorithmIsTooFastForTheLinks) {
    LoadCache cache;
    std::vector<Measurement> measurements;
    for (Measurement const& each : measured({"2x2x2", "4x2x2"}, cache)) {
        if (each.collective == OperationKind::broadcast) {
            measurements.push_back(each);
            measurements.back().time_us /= each.bytes > 1 << 20 ? 100 : 1;
        }
    }
    ASSERT_GE(measurements.size(), 10U);
    EXPECT_THAT([&] { (void)fit(measurements, cache, 0); },
                testing::ThrowsMessage<UsageError>(testing::HasSubstr("not faster than their messages can be")));
}

TEST(Fit, FindsFromWhichSizesOnMessagesAreFetchedAndWaitForTheirReceiver) {
    LoadCache cache;
    Limits limits;
    limits.eager_bytes = 16384;
    limits.inject_bytes = 192;
    auto measurements = measured({"4", "8"}, cache);
    for (Measurement& each : measurements) {
        each.time_us = cost_of(terms_of(each, limits, cache), machine(), {}).total();
    }
    Limits const found = fit(measurements, cache, 0).limits;
    EXPECT_EQ(found.inject_bytes, 192);
    EXPECT_EQ(found.eager_bytes, 16384);
    Limits const of_others = fit(measured({"4", "8"}, cache), cache, 0).limits;
    EXPECT_EQ(of_others.inject_bytes, no_limit);
    EXPECT_EQ(of_others.eager_bytes, 8192);
}

TEST(Fit, OfTheSameMeasurementsIsTheSameToTheByte) {
    LoadCache cache;
    auto const measurements = measured({"4", "8"}, cache, 0.2);
    EXPECT_EQ(to_text(fit(measurements, cache, 3)), to_text(fit(measurements, cache, 3)));
}

TEST(Fit, GivesIntervalsThatHoldNineOfTenMeasurementsOnMoreNodes) {
    LoadCache cache;
    for (double const noise : {0.2, 1.0}) {
        MachineModel const model = fit(measured({"2x2x2", "4x2x2", "4x4x2", "4x4x4"}, cache, noise), cache, 20);
        auto const asked = measured({"8x4x4", "8x8x4"}, cache, noise);
        double held = 0;
        std::vector<double> widths;
        for (Measurement const& each : asked) {
            Prediction const prediction = predict(model, each, cache);
            held += prediction.low_us <= each.time_us && each.time_us <= prediction.high_us ? 1 : 0;
            widths.push_back(std::log(prediction.high_us / prediction.time_us));
        }
        EXPECT_GT(held / static_cast<double>(asked.size()), 0.85) << noise;
        EXPECT_LT(quantile(widths, 0.5), noise) << "twice the largest error of a measurement";
    }
}

TEST(Fit, IsUnsureOfTheSetUpOfAnAlgorithmThatWasNotFitted) {
    LoadCache cache;
    MachineModel const model = fit(measured({"2x2x2"}, cache), cache);
    Measurement question{"made", parse_nodes("2x2x2"), OperationKind::all_reduce, "RECDOUB-L-UTOFU-0-1", 8, 0};
    auto const width = [&] {
        Prediction const prediction = predict(model, question, cache);
        return std::log(prediction.high_us / prediction.time_us);
    };
    double const small = width();
    EXPECT_GT(small, 0.8) << "most of the time is three set-ups, which may take 2 or 40 us each";
    question.bytes = 64 << 20;
    EXPECT_LT(width(), small);
}

TEST(Fit, WidensItsIntervalsWithTheDistanceFromTheMeasuredNodes) {
    LoadCache cache;
    for (std::vector<std::string> const& measured_nodes : {std::vector<std::string>{"4", "8", "16"}, {"16"}}) {
        MachineModel const model = fit(measured(measured_nodes, cache, 0.2), cache, 5);
        double before = 0;
        for (std::string const nodes : {"16", "64", "1024"}) {
            Measurement const question{"made", parse_nodes(nodes), OperationKind::all_reduce, "ring", 1e6, 0};
            Prediction const prediction = predict(model, question, cache);
            EXPECT_GT(prediction.high_us / prediction.low_us, before) << nodes;
            before = prediction.high_us / prediction.low_us;
        }
    }
}

TEST(Fit, WidensItsIntervalsWithTheFactorOfNodesThatWasLeftOut) {
    LoadCache cache;
    MachineModel const model = fit(measured({"2x2x2", "4x4x4", "8x8x8"}, cache, 0.2), cache, 5);
    ASSERT_EQ(model.width_beyond.size(), 2U) << "8 to 64 and 64 to 512, and 8 to 512";
    EXPECT_NEAR(model.width_beyond[0].octaves, 3, 1e-9);
    EXPECT_NEAR(model.width_beyond[1].octaves, 6, 1e-9);
    EXPECT_GE(model.width_beyond[1].width, model.width_beyond[0].width);
    EXPECT_EQ(width_at(model.width_beyond, 0), 0);
    EXPECT_LT(width_at(model.width_beyond, 1), model.width_beyond[0].width);
    EXPECT_GT(width_at(model.width_beyond, 1), 0.7 * model.width_beyond[0].width) << "no nodes are within";
    EXPECT_NEAR(width_at(model.width_beyond, 12), 2 * model.width_beyond[1].width, 1e-9);
}

TEST(Fit, TakesJobsForOneWhereEachIsAloneOnItsNodes) {
    LoadCache cache;
    auto measurements = measured({"4", "8", "16"}, cache, 0.2);
    MachineModel const of_one = fit(measurements, cache, 5);
    for (Measurement& each : measurements) {
        each.job = each.topology.text();
    }
    MachineModel const nested = fit(measurements, cache, 5);
    EXPECT_EQ(nested.jobs, 0);
    EXPECT_EQ(to_text(nested), to_text(of_one)) << "nothing tells jobs from node counts";
    auto const again = measured({"4"}, cache);
    for (Measurement each : again) {
        each.job = "second on 4 nodes";
        measurements.push_back(each);
    }
    EXPECT_EQ(fit(measurements, cache, 5).jobs, 2) << "those on 8 and on 16 nodes are still alone";
}

TEST(Fit, KnowsFromJobsThatAreAlikeNothingOfTheSwitchesBetweenMoreNodes) {
    LoadCache cache;
    auto measurements = measured({"4", "8", "16"}, cache);
    auto const once = measurements;
    for (std::string const job : {"second", "third", "fourth", "fifth"}) {
        for (Measurement each : once) {
            each.job = job;
            measurements.push_back(each);
        }
    }
    MachineModel const model = fit(measurements, cache, 5);
    ASSERT_EQ(model.jobs, 5);
    auto const width = [&](std::string const& nodes) {
        Measurement const question{"made", parse_nodes(nodes), OperationKind::all_reduce, "ring", 1 << 20, 0};
        Prediction const prediction = predict(model, question, cache);
        return std::log(prediction.high_us / prediction.time_us);
    };
    double const of_one_job = 1.645 * std::sqrt(2) * job_deviation;
    EXPECT_LT(width("16"), of_one_job / 2);
    EXPECT_GT(width("64"), of_one_job);
}

TEST(Fit, WidensItsIntervalsWithTheSizesBeyondThoseOfTheAlgorithm) {
    LoadCache cache;
    auto measurements = measured({"4", "8", "16"}, cache, 0.2);
    std::erase_if(measurements, [](Measurement const& each) { return each.bytes < 16384 || each.bytes > 1 << 20; });
    MachineModel const model = fit(measurements, cache, 5);
    auto const width = [&](std::string const& algorithm, double bytes) {
        Measurement const question{"made", parse_nodes("16"), OperationKind::all_reduce, algorithm, bytes, 0};
        Prediction const prediction = predict(model, question, cache);
        EXPECT_EQ(is_extrapolated(model, question), bytes < 16384 || bytes > 1 << 20) << bytes;
        return std::log(prediction.high_us / prediction.time_us);
    };
    // A share of e^(-2 * octaves / 4) of the variance of a factor is known. Half of it counts at least: a time is made
    // of two parts.
    auto const with_unknown = [&](double octaves) {
        return std::hypot(width_where_fitted(model),
                          1.645 * factor_deviation * std::sqrt((1 - std::exp(-octaves / 2)) / 2));
    };
    EXPECT_GT(width("ring", 8 << 20), with_unknown(3));
    EXPECT_GT(width("ring", 64 << 20), with_unknown(6));
    EXPECT_GT(width("ring", 512), with_unknown(5));
    EXPECT_LT(width("ring", 1 << 20), with_unknown(1));
    EXPECT_LT(width("ring", 3 << 15), with_unknown(1)) << "between sizes nothing is beyond";
}

TEST(Fit, AnswersByTheFactorOfNodesThatCouldBeLeftOutNotByThatOfAFewLines) {
    LoadCache cache;
    auto measurements = measured({"16", "64"}, cache);
    auto const few = measured({"4"}, cache);
    measurements.insert(measurements.end(), few.begin(), few.begin() + 3);
    MachineModel model = fit(measurements, cache, 0);
    EXPECT_EQ(model.fewest_nodes, 4);
    EXPECT_DOUBLE_EQ(model.octaves_left_out, 2) << "16 to 64";
    EXPECT_EQ(doubt_of(model, OperationKind::all_reduce, 64 * 16), "");
    EXPECT_NE(doubt_of(model, OperationKind::all_reduce, 64 * 32), "");
    model.octaves_left_out = 1.58496;  // log2(3), as a file has it
    EXPECT_EQ(doubt_of(model, OperationKind::all_reduce, 64 * 12), "");
    EXPECT_NE(doubt_of(model, OperationKind::all_reduce, 64 * 13), "");
}

TEST(Fit, PredictsWithTheDimensionsThatItWasFittedWith) {
    LoadCache cache;
    auto measurements = measured({"64x64"}, cache);
    for (Measurement& each : measurements) {
        each.topology.machine_dimensions = 3;
    }
    MachineModel const model = estimate(measurements, {}, cache);
    Measurement const& asked = measurements.front();
    double const left = model.residuals.at({asked.collective, asked.algorithm}).front().log_ratio;
    EXPECT_NEAR(std::log(asked.time_us / predict(model, asked, cache).time_us), left, 1e-9);
}

TEST(Fit, IsUnsureOfASizeThatWasMeasuredOnFarFewerNodes) {
    LoadCache cache;
    std::vector<Measurement> measurements;
    for (Measurement const& each : measured({"2x2x2", "4x4x4"}, cache, 0.2)) {
        if (each.algorithm != "binomial" || each.topology.nodes() == 8 || each.bytes > 1 << 20) {
            measurements.push_back(each);
        }
    }
    MachineModel const model = fit(measurements, cache, 5);
    Measurement question{"made", parse_nodes("8x8x8"), OperationKind::broadcast, "binomial", 64 << 20, 0};
    EXPECT_DOUBLE_EQ(octaves_beyond(model, question), 3);
    question.bytes = 256;
    EXPECT_DOUBLE_EQ(octaves_beyond(model, question), 6);
    question.topology = parse_nodes("4x4x4");
    EXPECT_DOUBLE_EQ(octaves_beyond(model, question), 3) << "64 nodes were fitted, but not at this size";
    question.topology = parse_nodes("2x2x2");
    EXPECT_DOUBLE_EQ(octaves_beyond(model, question), 0);
}

TEST(Fit, IsUnsureOfContentionWhereAJobHasFewerDimensionsThanTheMachine) {
    LoadCache cache;
    MachineModel const model = fit(measured({"2x2x2", "4x4x4", "8x8x8"}, cache, 0.2), cache, 5);
    EXPECT_EQ(model.dimensions, 3);
    auto const asked = [&](std::string const& shape, std::string const& algorithm) {
        Measurement const question{"made", parse_nodes(shape), OperationKind::all_reduce, algorithm, 64 << 20, 0};
        return predict(model, question, cache);
    };
    auto const width = [](Prediction const& prediction) { return std::log(prediction.high_us / prediction.time_us); };
    EXPECT_LT(asked("64x64", "recursive_doubling").time_us, 2 * asked("16x16x16", "recursive_doubling").time_us)
        << "a ring of 64 would take four times as long";
    EXPECT_GT(width(asked("64x64", "recursive_doubling")), 1.3 * width(asked("16x16x16", "recursive_doubling")));
    EXPECT_NEAR(width(asked("64x64", "ring")) / width(asked("16x16x16", "ring")), 1, 0.05)
        << "neighbours stay neighbours, however the job lies";
}

TEST(Fit, GivesReplicatesThatDifferInWhatMeasurementsDoNotTell) {
    LoadCache cache;
    MachineModel const model = fit(measured({"4"}, cache), cache, 20);
    auto const spread_of = [&](Parameter parameter) {
        std::vector<double> logarithms;
        for (Coefficients const& replicate : model.replicates) {
            logarithms.push_back(replicate.parameters[static_cast<std::size_t>(parameter)]);
        }
        return quantile(logarithms, 0.9) - quantile(logarithms, 0.1);
    };
    // Of the priors it is 3.8 and 2.6; no message stays inside a node.
    EXPECT_GT(spread_of(Parameter::inside), 2);
    EXPECT_LT(spread_of(Parameter::latency), 1);
}

TEST(Fit, RefusesWhatGivesNoModel) {
    LoadCache cache;
    auto measurements = measured({"4"}, cache);
    measurements.resize(9);
    EXPECT_THROW((void)fit(measurements, cache), UsageError) << "too few";
    EXPECT_THROW((void)fit({}, cache), UsageError);
    EXPECT_THROW((void)fit(measured({"4", "2x2"}, cache), cache), UsageError) << "mixed topologies";
}

TEST(Prediction, CountsTwoBuffersThatGlibcGivesBackAsNewMemory) {
    LoadCache cache;
    auto const fresh = [&](OperationKind collective, std::string const& algorithm, double bytes) {
        Measurement const question{"made", parse_nodes("4"), collective, algorithm, bytes, 0};
        return terms_of(question, {}, cache).amounts[static_cast<std::size_t>(Parameter::fresh)];
    };
    EXPECT_EQ(fresh(OperationKind::reduce_scatter, "recursive_halving", 65536), 0);
    EXPECT_EQ(fresh(OperationKind::reduce_scatter, "recursive_halving", 131072), 2 * 131072);
    EXPECT_EQ(fresh(OperationKind::all_reduce, "recursive_doubling", 131072), 0) << "one buffer is kept";
    EXPECT_EQ(fresh(OperationKind::all_reduce, "recursive_doubling", 32 << 20), 32 << 20);
}

TEST(Refusal, NamesWhatTheModelDoesNotKnow) {
    MachineModel model;
    model.system = "made";
    model.fewest_nodes = 8;
    model.most_nodes = 64;
    model.held_out[OperationKind::broadcast] = {12, 0.41, 0.9};
    model.held_out[OperationKind::reduce] = {12, 0.40, 0.9};
    Measurement question{"made", parse_nodes("64"), OperationKind::reduce, "binomial", 1, 0};
    EXPECT_EQ(refusal_of(model, question), "");
    question.collective = OperationKind::broadcast;
    EXPECT_EQ(refusal_of(model, question), "the held-out error of bcast is 41 %");
    model.forced = true;
    EXPECT_EQ(refusal_of(model, question), "");
    question.system = "other";
    EXPECT_EQ(refusal_of(model, question), "the model is of made");
    question.system = "made";
    question.topology = parse_nodes("4x4");
    EXPECT_NE(refusal_of(model, question), "");
    question.topology = parse_nodes("1024");
    question.collective = OperationKind::reduce;
    EXPECT_EQ(refusal_of(model, question), "") << "forced";
    model.forced = false;
    EXPECT_EQ(refusal_of(model, question), "1024 nodes are x16 those of the fit, and no error is known beyond x8");
    model.octaves_left_out = 3;
    EXPECT_EQ(refusal_of(model, question), "") << "three octaves were left out, and two more are answered";
    question.topology = parse_nodes("1000000");
    EXPECT_NE(refusal_of(model, question), "") << "more ranks than a schedule can be made for";
}

TEST(Prediction, OfOneNodeOrZeroBytesIsACallAndMessagesWithoutBytes) {
    LoadCache cache;
    MachineModel const model = fit(measured({"4", "8"}, cache), cache, 0);
    Measurement question{"made", parse_nodes("1"), OperationKind::all_reduce, "ring", 1e6, 0};
    EXPECT_NEAR(std::log(predict(model, question, cache).time_us), model.best.parameters[0], 1.1)
        << "a call, and a correction of at most e";
    question.topology = parse_nodes("8");
    question.bytes = 0;
    EXPECT_GT(predict(model, question, cache).time_us, 0);
}

}  // namespace
}  // namespace dlmb::predict
