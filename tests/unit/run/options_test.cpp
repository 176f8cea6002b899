// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/options/options.hpp"
#include "patterns/collective/collective.hpp"
#include "patterns/moe_alltoall/moe_alltoall.hpp"
#include "tests/unit/patterns/pattern_under_test.hpp"
#include "tests/unit/record/temporary_folder.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace dlmb::run {
namespace {

using testing::AllOf;
using ::testing::HasSubstr;
using testing::StartsWith;
using Words = std::vector<std::string>;

Options parse(Words arguments) {
    arguments.insert(arguments.begin(), "dlmb_moe_alltoall");
    return std::get<Options>(parse_options(moe_alltoall::type(), arguments));
}

Options parse_collective(Words arguments) {
    arguments.insert(arguments.begin(), "dlmb_collective");
    return std::get<Options>(parse_options(collective::type(), arguments));
}

std::string parse_refusal(Words const& arguments) {
    return usage_error_of([&] { (void)parse(arguments); });
}

TEST(Options, RefusesInOneLineThatSaysWhatToDo) {
    for (auto const& [arguments, said] : std::vector<std::pair<Words, std::string>>{
             {{"--iterat", "5"}, "unknown option '--iterat'; nearest: --iterations"},
             {{"--iteration", "5"}, "--iterations"},
             {{"--backnd=mpi"}, "unknown option '--backnd'; nearest: --backend"},
             {{"mixtral-8x7b"}, "unexpected argument 'mixtral-8x7b'"},
             {{"--iterations", "0"}, "Value 0 not in range 1 to 1099511627776"},
             {{"--warmup", "-1"}, "not in range"},
             {{"--time-limit", "-3"}, "not in range"},
             {{"--timeout", "0"}, "not in range"},
             {{"--device", "-1"}, "not in range"},
             {{"--device", "gpu0"}, "gpu0"},
             {{"--draws", "0"}, "--draws"},
             {{"--memory", "hosts"}, "host"},
             {{"--backend", "mpi,tuned"}, "--use-table FILE"},
             {{"--backend", "mpi", "--use-table", "t.json"}, "add it to --backend"},
             {{"--mpi-device", "maybe"}, "maybe"},
             {{"--method", "pairwise:max_outstanding"}, "KNOB=VALUE"},
             {{"--cache", "cold"}, "rotate"},
             {{"--fill", "ones"}, "random"},
             {{"--cache", "flush", "--timing", "stream"}, "isolated"},
             {{"--cache", "flush", "--layout", "osu"}, "--timing isolated"},
             {{"--beside", "memory", "--mpi-thread", "single"}, "funneled"},
             {{"--beside", "memories"}, "--beside: unknown load 'memories'"},
             {{"--beside", "compute", "--memory", "host,cuda"}, "memory cuda is the GPU's"},
             {{"--beside", "traffic:"}, "name it"},
             {{"--beside", "none,traffic:moe"}, "give it alone"},
             {{"--buffer-limit", "1MB"}, "--buffer-limit"},
             {{"--reproducible=5"}, "--reproducible: takes no value"},
             {{"--resume=no"}, "--resume: takes no value"},
             {{"--results", ""}, "the word '' after --results is empty"},  // an unset variable of a script
             {{"--resume", "", "--results", "x"}, "the word '' after --resume is empty; give a value, or leave it out"},
             {{"--results=", "--resume"}, "--results: its value is empty"},
             {{"--use-table", "", "--resume"}, "the word '' after --use-table is empty"},
             {{"-m", "8"}, "-m"},  // a pattern without message sizes
         }) {
        std::string const text = parse_refusal(arguments);
        EXPECT_THAT(text, AllOf(HasSubstr(said), testing::Not(HasSubstr("\n")))) << testing::PrintToString(arguments);
        EXPECT_TRUE(said != "not in range" || text.size() < 100) << text;
    }
}

TEST(Options, AModelFileIsReadAndTakesThePlaceOfAPreset) {
    record::TemporaryFolder const folder;
    std::string const file = (folder / "config.json").string();
    record::write_file(file, R"({"hidden_size": 128, "num_experts": 8})");
    Options const options = parse({"--model", file, "--parallel", "ep=4", "--hidden", "64"});
    ASSERT_TRUE(options.model);
    EXPECT_EQ(options.model->name, "config");
    EXPECT_EQ(options.model->experts, 8U);
    EXPECT_EQ(options.parallel.ep, 4U);
    EXPECT_EQ(options.parameters.count("experts"), 0U) << "what follows is the sweep's";
    EXPECT_THROW((void)parse({"--model", file, "--preset", "deepseek-v3"}), UsageError);
    EXPECT_THROW((void)parse({"--parallel", "ep=4"}), UsageError);
    EXPECT_THROW((void)parse({"--model", file + ".none"}), UsageError);
}

// A new pattern's author sees this at the first call, --help included.
TEST(Options, RefusesAPatternWhoseParameterHasTheNameOfAnotherOption) {
    for (char const* name :
         {"columns", "ranks", "help", "version", "preset", "seed", "cli", "draws", "two words", "-n", ""}) {
        ParameterInfo const parameters[] = {{name, "help", "1"}};
        PatternType type = collective::type();
        type.name = "new_one";
        type.parameters = parameters;
        std::string const refused = usage_error_of([&] { (void)parse_options(type, {"dlmb_new_one", "--help"}); });
        EXPECT_THAT(refused, StartsWith("pattern new_one: a parameter cannot become an option")) << name;
        EXPECT_THAT(refused, Not(HasSubstr("\n"))) << name;
    }
    ParameterInfo const twice[] = {{"width", "help", "1"}, {"width", "help", "2"}};
    PatternType type = collective::type();
    type.parameters = twice;
    EXPECT_THAT(usage_error_of([&] { (void)parse_options(type, {"dlmb_x"}); }), HasSubstr("width"));
}

// dlmb_sweep asks each program so before it starts anything.
TEST(Options, VersionBehindACommandLineChecksIt) {
    auto const said = [](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), "dlmb_moe_alltoall");
        arguments.emplace_back("--version");
        return usage_error_of([&] { (void)parse_options(moe_alltoall::type(), arguments); });
    };
    EXPECT_EQ(said({"--preset", "mixtral-8x7b", "--tokens", "64", "--campaign", "x"}), "accepted");
    EXPECT_THAT(said({"--presett", "mixtral-8x7b"}), StartsWith("unknown option '--presett'; nearest: --preset"));
    EXPECT_THAT(said({"--preset", "mixtral"}), StartsWith("unknown preset 'mixtral'; nearest: mixtral-8x7b"));
    EXPECT_NE(said({"--memory", "gpu"}), "accepted");
    EXPECT_NE(said({"--resume"}), "accepted");
}

TEST(Options, DefaultsMeasureTheDefaultMethodOnHostMemoryWithValidation) {
    Options const options = parse({});
    EXPECT_TRUE(options.backends.empty());
    ASSERT_EQ(options.methods.size(), 1U);
    EXPECT_EQ(options.methods[0].name, "default");
    ASSERT_EQ(options.memory.size(), 1U);
    EXPECT_EQ(options.memory[0], MemoryKind::host);
    EXPECT_TRUE(options.runner.validate);
    EXPECT_FALSE(options.runner.iterations.has_value());
    EXPECT_EQ(options.calibration, record::Effort::brief);
    EXPECT_EQ(parse({"--calibration", "off"}).calibration, record::Effort::off);
    EXPECT_EQ(parse({"--calibration", "full"}).calibration, record::Effort::full);
}

TEST(Options, DevicesAreAListOfIndices) {
    EXPECT_TRUE(parse({}).devices.empty());
    EXPECT_EQ(parse({"--device", "2,0"}).devices, (std::vector<int>{2, 0}));
}

TEST(Options, BackendTunedAndItsTableComeTogether) {
    EXPECT_FALSE(parse({"--backend", "mpi"}).use_table);
    Options const options = parse({"--backend", "tuned,mpi", "--use-table", "t.json"});
    EXPECT_EQ(options.use_table, "t.json");
    EXPECT_TRUE(options.chooses_algorithms()) << "a rule may name one";
    EXPECT_EQ(parse({"--use-table", "t.json"}).use_table, "t.json") << "all usable backends: tuned is one of them";
}

TEST(Options, WhetherMpiTakesDeviceMemoryIsAskedUnlessSaid) {
    auto const device = [](std::vector<std::string> const& words) {
        return parse(words).backend_options.at("mpi").at("device");
    };
    EXPECT_EQ(device({}), "auto");
    EXPECT_EQ(device({"--mpi-device", "auto"}), "auto");
    EXPECT_EQ(device({"--mpi-device", "yes"}), "yes");
    EXPECT_EQ(device({"--mpi-device", "no"}), "no");
}

TEST(Options, EveryNumberIsFinite) {
    for (char const* const option : {"--timeout", "--time-limit", "--drop-slower"}) {
        for (char const* const wrong : {"nan", "NaN", "-nan", "inf", "-inf", "infinity", "1e999", "0x10", "nan(1)"}) {
            EXPECT_THAT(parse_refusal({option, wrong}), HasSubstr(std::string("Value ") + wrong + " not in range"))
                << option;
        }
    }
    EXPECT_EQ(parse({"--timeout", "1.5e1"}).runner.timeout_ns, 15'000'000'000);
}

TEST(Options, ASeedIsAWholeNumberOf64Bits) {
    EXPECT_EQ(parse({"--seed", "18446744073709551615"}).seed, std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(parse({"--order-seed", "0"}).order_seed, 0U);
    for (char const* const option : {"--seed", "--order-seed"}) {
        for (char const* const wrong : {"-3", "x", "1.5", "18446744073709551616"}) {
            EXPECT_EQ(parse_refusal({option, wrong}),
                      std::string(option) + ": '" + wrong + "' is no whole number from 0 to 18446744073709551615");
        }
    }
}

TEST(Options, ShortLettersAreThoseOfOsu) {
    Options const options = parse({"-i", "20", "-x", "0", "-c", "off", "-d", "host,cuda"});
    EXPECT_EQ(options.runner.iterations, 20U);
    EXPECT_EQ(options.runner.warmup, 0U);
    EXPECT_FALSE(options.runner.validate);
    EXPECT_EQ(options.memory.size(), 2U);
}

TEST(Options, OnlyASweepDropsWhatIsSlowAndTheLibraryIsToldOnlyWhereItsAlgorithmsAreChosen) {
    EXPECT_EQ(parse({"--method", "all"}).runner.drop_slower, 2);
    EXPECT_EQ(parse({"--method", "all", "--drop-slower", "3.5"}).runner.drop_slower, 3.5);
    EXPECT_EQ(parse({"--method", "all", "-i", "10"}).runner.drop_slower, 0) << "a count is kept";
    EXPECT_EQ(parse({"--method", "pairwise,neighbor"}).runner.drop_slower, 0);
    EXPECT_TRUE(parse({"--method", "all"}).chooses_algorithms());
    EXPECT_TRUE(parse({"--method", "default,algorithm:bcast=chain"}).chooses_algorithms());
    EXPECT_FALSE(parse({"--method", "pairwise"}).chooses_algorithms());
}

TEST(Options, BuffersRotateAndHoldPayloadUnlessSaid) {
    EXPECT_EQ(parse({}).runner.cache, record::CacheMode::rotate);
    EXPECT_EQ(parse({}).runner.fill, record::Fill::random);
    EXPECT_EQ(parse({"--cache", "warm"}).runner.cache, record::CacheMode::warm);
    EXPECT_EQ(parse({"--cache", "flush", "--fill", "zeros"}).runner.cache, record::CacheMode::flush);
    EXPECT_EQ(parse({"--cache", "flush", "--fill", "zeros"}).runner.fill, record::Fill::zeros);
}

TEST(Options, LoadsBesideTheRanksAreAListAndLeaveMpiAThread) {
    EXPECT_EQ(parse({}).loads, Words{""});
    EXPECT_EQ(parse({"--beside", "none"}).mpi_thread, "single");
    Options const options = parse({"--beside", "none,compute,memory,compute"});
    EXPECT_EQ(options.loads, (Words{"", "compute", "memory"}));
    EXPECT_EQ(options.mpi_thread, "funneled");
    EXPECT_EQ(parse({"--beside", "memory", "--mpi-thread", "multiple"}).mpi_thread, "multiple");
    EXPECT_EQ(parse({"--beside", "none", "--memory", "cuda"}).loads, Words{""});
}

TEST(Options, TrafficOfOtherLaunchesIsNamedAndStartsNothingHere) {
    Options const options = parse({"--beside", "traffic:moe.jsonl@0123", "--memory", "cuda"});
    EXPECT_EQ(options.loads, Words{"traffic:moe.jsonl@0123"});
    EXPECT_FALSE(options.any_load());
    EXPECT_EQ(options.mpi_thread, "single");
}

TEST(Options, ASuitesLayoutAndWordsBringItsDefinitionOfATime) {
    using measure::Mode;
    EXPECT_EQ(parse({}).runner.mode, Mode::isolated);
    EXPECT_EQ(parse({"--layout", "osu"}).runner.mode, Mode::osu);
    EXPECT_EQ(parse({"--layout", "osu"}).runner.cache, record::CacheMode::warm);
    EXPECT_EQ(parse({"--layout", "osu", "--cache", "rotate"}).runner.cache, record::CacheMode::rotate);
    EXPECT_EQ(parse({"--layout", "nccl"}).runner.mode, Mode::nccl);
    EXPECT_EQ(parse({"--cli", "nccl"}).runner.mode, Mode::nccl);
    EXPECT_EQ(parse({"--layout", "osu", "--timing", "isolated"}).runner.mode, Mode::isolated);
    EXPECT_EQ(parse({"--cli", "nccl", "--timing", "stream"}).runner.mode, Mode::stream);
    EXPECT_FALSE(parse({"--layout", "osu"}).runner.time_limited);
    EXPECT_TRUE(parse({"--layout", "osu", "--time-limit", "1"}).runner.time_limited);
}

// Their counts are fixed unless a time limit is given, and who gets a fixed count has no cell dropped.
TEST(Options, AllMethodsGetTheCountsOfASuite) {
    EXPECT_EQ(parse({"--method", "all", "--timing", "osu"}).runner.drop_slower, 0);
    EXPECT_GT(parse({"--method", "all", "--timing", "osu", "--time-limit", "1"}).runner.drop_slower, 0);
}

TEST(Options, MethodsCarryTheirKnobs) {
    Options const options = parse({"--method", "alltoallv,pairwise:max_outstanding=4"});
    ASSERT_EQ(options.methods.size(), 2U);
    EXPECT_EQ(options.methods[1].name, "pairwise");
    EXPECT_EQ(options.methods[1].knobs.at("max_outstanding"), "4");
}

TEST(Options, EveryPatternParameterIsAnOptionAndMayBeAList) {
    Options const options = parse({"--hidden", "64,128", "--wire", "padded"});
    EXPECT_EQ(options.parameters.at("hidden"), (Words{"64", "128"}));
    EXPECT_EQ(options.parameters.at("wire"), (Words{"padded"}));
    EXPECT_EQ(parse({"--hidden", "64, 128"}).parameters.at("hidden"), (Words{"64", "128"}));
}

TEST(Options, TheLetterOfMessageSizesIsThatOfOsu) {
    EXPECT_EQ(parse_collective({"-m", "8:1K"}).parameters.at("message-size"), Words{"8:1K"});
    EXPECT_EQ(parse_collective({"--message-size", "64,1K:1K"}).parameters.at("message-size"), (Words{"64", "1K:1K"}));
}

TEST(Options, ASwitchAloneMeansOn) {
    Options const options = parse_collective({"--in-place", "--element", "bf16"});
    EXPECT_EQ(options.parameters.at("in-place"), Words{"on"});
    EXPECT_EQ(options.parameters.at("element"), Words{"bf16"});
    EXPECT_EQ(parse_collective({"--in-place", "off,on"}).parameters.at("in-place"), (Words{"off", "on"}));
}

TEST(Options, AnEmptyValueIsNotOnAndAFlagTakesNone) {
    EXPECT_THROW((void)parse({"--quantize", ""}), UsageError);
    EXPECT_TRUE(
        refusal(moe_alltoall::type(), "", {{"quantize", ""}}, {2, 2}).starts_with("--quantize '': expected none, "));
    EXPECT_TRUE(parse({"--reproducible"}).runner.bit_pattern_iterations > 0);
}

TEST(Options, PatternsWithoutPresetsSaySo) {
    auto const parsed = parse_options(collective::type(), {"dlmb_collective", "--list-presets"});
    EXPECT_EQ(std::get<std::string>(parsed), "dlmb_collective has no presets; --help lists its parameters\n");
}

TEST(Options, ABufferLimitIsASizeOfBytes) {
    EXPECT_EQ(parse({"--buffer-limit", "1M"}).buffer_limit, Bytes{1} << 20U);
}

}  // namespace
}  // namespace dlmb::run
