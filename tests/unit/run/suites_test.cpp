// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/options/options.hpp"
#include "common/run/sweep.hpp"
#include "patterns/collective/collective.hpp"
#include "patterns/moe_alltoall/moe_alltoall.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <sstream>

namespace dlmb::run {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

Options parse_as(std::string const& suite, Words arguments, PatternType const& type = collective::type()) {
    arguments.insert(arguments.begin(), {"dlmb", "--cli", suite});
    return std::get<Options>(parse_options(type, arguments));
}

std::string refusal_of(Words arguments, PatternType const& type = collective::type()) {
    arguments.insert(arguments.begin(), "dlmb");
    return usage_error_of([&] { (void)parse_options(type, arguments); });
}

std::string refusal_as(std::string const& suite, Words arguments, PatternType const& type = collective::type()) {
    arguments.insert(arguments.begin(), {"--cli", suite});
    return refusal_of(std::move(arguments), type);
}

Words parameter_as(std::string const& suite, std::string const& name, Words const& arguments) {
    return parse_as(suite, arguments).parameters.at(name);
}

Words sizes_as(std::string const& suite, Words const& arguments, int ranks = 4) {
    Words sizes;
    for (SweepPoint const& point : expand_sweep(collective::type(), parse_as(suite, arguments), ranks)) {
        sizes.push_back(point.parameters.at("message-size"));
    }
    return sizes;
}

TEST(OsuCli, OptionsMeanWhatTheyMeanThere) {
    Options const options = parse_as("osu", {"-i", "20", "-x5", "-c", "-f", "-l", "-T", "mpi_float", "-d", "cuda", "-M",
                                             "64M", "-b", "single", "-k", "fixed:1", "-u", "3", "-z"});
    EXPECT_EQ(options.runner.iterations, 20U);
    EXPECT_EQ(options.runner.warmup, 5U);
    EXPECT_TRUE(options.runner.validate);
    EXPECT_EQ(options.parameters.at("in-place"), Words{"on"});
    EXPECT_EQ(options.parameters.at("element"), Words{"fp32"});
    EXPECT_EQ(options.parameters.at("root"), Words{"1"});
    EXPECT_EQ(options.memory, std::vector<MemoryKind>{MemoryKind::cuda});
    EXPECT_EQ(options.buffer_limit, Bytes{64} << 20U);
    EXPECT_EQ(options.runner.cache, record::CacheMode::warm);
    EXPECT_EQ(options.percentiles, (std::vector<std::uint64_t>{50, 90, 99}));
    EXPECT_EQ(options.layout, TableLayout::osu);
}

TEST(OsuCli, LettersMayBeJoinedAndLongNamesMayCarryTheirValue) {
    Options const options = parse_as("osu", {"-flz90,99", "--iterations=7", "--type=MPI_INT"});
    EXPECT_EQ(options.parameters.at("in-place"), Words{"on"});
    EXPECT_EQ(options.percentiles, (std::vector<std::uint64_t>{90, 99}));
    EXPECT_EQ(parse_as("osu", {"-z", "50,99"}).percentiles, (std::vector<std::uint64_t>{50, 99}));
    EXPECT_EQ(parse_as("osu", {"--tail-lat", "osu_bcast"}).percentiles, (std::vector<std::uint64_t>{50, 90, 99}));
    EXPECT_EQ(options.runner.iterations, 7U);
    EXPECT_EQ(options.parameters.at("element"), Words{"int32"});
}

TEST(OsuCli, TheLastOfRepeatedOptionsCountsButTypesAddUp) {
    EXPECT_EQ(parse_as("osu", {"-i", "5", "-i", "6"}).runner.iterations, 6U);
    EXPECT_EQ(parameter_as("osu", "element", {"-T", "mpi_char", "-T", "mpi_int"}), (Words{"int8", "int32"}));
}

// osu_util.c: sizes double from 1 to 2^20 (collectives) or 2^22 (pairs); "2:" and ":2" leave an end as it is; the last
// is left out where doubling steps over it.
TEST(OsuCli, SizesAreThoseOfOsu) {
    EXPECT_EQ(sizes_as("osu", {"-m", "64:256"}), (Words{"64", "128", "256"}));
    EXPECT_EQ(sizes_as("osu", {"-m", "8:100"}), (Words{"8", "16", "32", "64"}));
    EXPECT_EQ(sizes_as("osu", {"-m", "4"}), (Words{"1", "2", "4"}));
    EXPECT_EQ(sizes_as("osu", {"-m", ":4"}), (Words{"1", "2", "4"}));
    EXPECT_EQ(sizes_as("osu", {"-m", "512K:"}), (Words{"524288", "1048576"}));
    for (char const* program : {"osu_latency", "osu_put_bw"}) {
        EXPECT_EQ(sizes_as("osu", {program, "-m", "2M:"}), (Words{"2097152", "4194304"}));
    }
    EXPECT_EQ(sizes_as("osu", {}).size(), 21U);
}

TEST(OsuCli, SizesThatTheElementDoesNotDivideAreLeftOutAndCounted) {
    std::map<std::string, std::size_t> left_out;
    Options const options = parse_as("osu", {"-m", ":8", "-T", "mpi_float"});
    EXPECT_EQ(expand_sweep(collective::type(), options, 4, &left_out).size(), 2U);  // 4 and 8
    EXPECT_EQ(left_out, (std::map<std::string, std::size_t>{{"sizes that --element fp32 does not divide", 2}}));
    EXPECT_EQ(sizes_as("osu", {"osu_reduce_scatter_block", "-m", "4:32", "-T", "mpi_float"}, 4), (Words{"16", "32"}));
    EXPECT_EQ(sizes_as("osu", {"osu_reduce_scatter_block", "-m", "8:32", "-T", "mpi_float"}, 3), (Words{"12", "24"}));
}

TEST(OsuCli, TheElementIsMpiCharUnlessSaid) {
    EXPECT_EQ(parameter_as("osu", "element", {}), Words{"int8"});
    EXPECT_EQ(parameter_as("osu", "element", {"-T", "all"}), (Words{"int8", "int32", "fp32"}));
    EXPECT_EQ(parameter_as("osu", "element", {"--element", "bf16"}), Words{"bf16"});
}

/// The method and the traffic that these words of OSU choose.
std::string chosen_by(std::string const& line) {
    std::istringstream words(line);
    Options const options = parse_as("osu", Words(std::istream_iterator<std::string>(words), {}));
    std::string chosen = to_string(options.methods.at(0));
    for (auto const& [name, values] : options.parameters) {
        if (name != "element" && name != "message-size") {
            chosen += fmt::format(" --{} {}", name, fmt::join(values, ","));
        }
    }
    return chosen;
}

TEST(OsuCli, ProgramsAreOperationsRoutesMethodsAndSkews) {
    for (auto const& [words, chosen] : std::vector<std::pair<char const*, char const*>>{
             {"osu_bcast", "default --operation broadcast"},
             {"allgather -i 3", "default --operation allgather"},
             {"-i 3 osu_latency D D", "default --operation sendrecv --route ping_pong"},
             {"osu_bcast_persistent -i 3", "persistent --operation broadcast"},
             {"osu_latency_persistent", "persistent --operation sendrecv --route ping_pong"},
             {"osu_alltoallw -i 3", "alltoallw --operation alltoallv"},
             {"osu_ibarrier", "nonblocking --compute none,busy --operation barrier"},
             {"osu_ireduce_scatter -i 3", "nonblocking --compute none,busy --operation reduce_scatter"},
             {"osu_neighbor_alltoall", "neighbor --operation alltoallv --skew neighbors:1:1"},
             {"osu_ineighbor_alltoallv", "neighbor --compute none,busy --operation alltoallv --skew neighbors:1:1"},
             {"osu_neighbor_alltoall -N cart:2:1", "neighbor --operation alltoallv --skew neighbors:2:1"},
             {"-Ncart:2:1 osu_neighbor_alltoall", "neighbor --operation alltoallv --skew neighbors:2:1"},
             {"osu_put_bw", "put:sync=flush:window=allocate --operation bandwidth"},
             {"osu_get_bw -s pscw -w create", "get:sync=pscw:window=create --operation bandwidth"},
             {"-spscw -wcreate osu_get_bw", "get:sync=pscw:window=create --operation bandwidth"},
             {"osu_bw_fan_in -W 16", "default --operation bandwidth --route fan_in --window 16"},
             {"osu_bw_fan_out -W 16", "default --operation bandwidth --route fan_out --window 16"},
             {"osu_latency_mt -t 4:4", "threads --channels 4 --operation sendrecv --route ping_pong"}}) {
        EXPECT_EQ(chosen_by(words), chosen) << words;
    }
    EXPECT_EQ(parse_as("osu", {"osu_latency", "D", "D"}).memory, std::vector<MemoryKind>{MemoryKind::cuda});
    EXPECT_EQ(parse_as("osu", {"osu_put_bw"}).backends, Words{"mpi"});
    EXPECT_EQ(parse_as("osu", {"osu_latency_mt", "-t", "4:4"}).mpi_thread, "multiple");
}

TEST(OsuCli, OptionsOfOursStandBetweenTheirs) {
    Options const options = parse_as("osu", {"-i", "3", "--backend", "mpi", "-f", "--layout", "dlmb", "-c", "off"});
    EXPECT_EQ(options.backends, Words{"mpi"});
    EXPECT_EQ(options.layout, TableLayout::dlmb);
    EXPECT_FALSE(options.runner.validate);
}

TEST(OsuCli, WhatIsNotTakenOverSaysWhatToDoInstead) {
    EXPECT_THAT(refusal_as("osu", {"-G", "png"}), HasSubstr("dlmb_plot FILE"));
    EXPECT_THAT(refusal_as("osu", {"-clog:x"}), HasSubstr("--results FILE"));
    EXPECT_THAT(refusal_as("osu", {"-c", "log:x"}), HasSubstr("--results FILE"));
    EXPECT_THAT(refusal_as("osu", {"-d", "rocm"}), HasSubstr("--memory cuda"));
    EXPECT_THAT(refusal_as("osu", {"-k", "rotate"}), HasSubstr("not rotate"));
    EXPECT_THAT(refusal_as("osu", {"-T", "mpi_long"}), HasSubstr("int32"));
    EXPECT_THAT(refusal_as("osu", {"osu_latency", "D", "H"}), HasSubstr("same kind of memory"));
    EXPECT_THAT(refusal_of({"--operation", "osu_latency_persistent"}), HasSubstr("--route ping_pong --method pers"));
    EXPECT_THAT(refusal_of({"--operation", "osu_alltoallw"}), HasSubstr("--operation alltoallv --method alltoallw"));
    EXPECT_THAT(refusal_as("nccl", {"osu_iallreduce"}), HasSubstr("--operation allreduce --method nonblocking"));
    EXPECT_THAT(refusal_as("osu", {"osu_put_latency"}), HasSubstr("--method put:sync=flush:window=allocate"));
    EXPECT_THAT(refusal_of({"--operation", "osu_neighbor_alltoall"}),
                HasSubstr("--operation alltoallv --skew neighbors:1:1 --method neighbor"));
    EXPECT_THAT(refusal_as("osu", {"osu_neighbor_alltoall", "-N", "graph:x"}), HasSubstr("--skew file:FILE"));
    EXPECT_THAT(refusal_as("osu", {"osu_alltoallv", "-N", "cart:1:1"}), HasSubstr("--skew neighbors:D:R"));
    EXPECT_THAT(refusal_of({"--operation", "osu_get_bw"}),
                HasSubstr("--operation bandwidth --method get:sync=flush:window=allocate"));
    EXPECT_THAT(refusal_as("osu", {"osu_get_bw", "-s", "flush_local"}), HasSubstr("only flush, lock"));
    EXPECT_THAT(refusal_as("osu", {"osu_bw", "-s", "flush"}), HasSubstr("osu_put_bw and osu_get_bw"));
    EXPECT_THAT(refusal_as("osu", {"osu_bcast", "osu_allreduce"}), HasSubstr("a second program"));
    EXPECT_THAT(refusal_as("osu", {"osu_iallreduce", "osu_ibcast"}), HasSubstr("a second program"));
    EXPECT_THAT(refusal_as("osu", {"osu_latency_mt"}), HasSubstr("osu_latency_mt -t N:N"));
    EXPECT_THAT(refusal_as("osu", {"osu_latency_mt", "-t", "4"}), HasSubstr("one sender and 4 receivers"));
    EXPECT_THAT(refusal_as("osu", {"osu_latency_mt", "-t", "4:6"}), HasSubstr("as many that send as that receive"));
    EXPECT_THAT(refusal_of({"--operation", "osu_latency_mt"}), HasSubstr("--method threads --mpi-thread multiple"));
    EXPECT_THAT(refusal_as("osu", {"osu_hello"}), HasSubstr("dlmb_info --startup"));
    EXPECT_THAT(refusal_as("osu", {"-m", "8"}, moe_alltoall::type()), HasSubstr("the model's parameters"));
}

TEST(OsuCli, HostileValuesAreRefusedInOneLine) {
    for (Words const& wrong : std::vector<Words>{{"-i"},        {"-i", ""},    {"-i", "99999999999999999999"},
                                                 {"-m", ""},    {"-m", ":"},   {"-m", "1:2:3"},
                                                 {"-m", "8:4"}, {"-m", "1MB"}, {"-T", ""},
                                                 {"-M", ""},    {"-M", "x"},   {"-k", "fixed:"},
                                                 {"-z0"},       {"-z101"},     {"-z\xff"},
                                                 {"-\xff"},     {"-q"},        {"--in-place=on"},
                                                 {"osu_"},      {"_perf"}}) {
        std::string const text = refusal_as("osu", wrong);
        EXPECT_NE(text, "accepted") << wrong.back();
        EXPECT_THAT(text, Not(HasSubstr("\n")));
        EXPECT_LT(text.size(), 200U) << text;
    }
}

TEST(Cli, IsGivenOnceAndFirst) {
    EXPECT_THAT(refusal_of({"--cli"}), HasSubstr("'osu' and 'nccl'"));
    EXPECT_THAT(refusal_of({"--cli", "pico"}), HasSubstr("'osu' and 'nccl'"));
    EXPECT_THAT(refusal_of({"--cli", "osu", "--cli", "nccl"}), HasSubstr("twice"));
    EXPECT_THAT(refusal_of({"--draws", "2", "--cli", "osu"}), HasSubstr("first option"));
    EXPECT_EQ(refusal_of({"--cli=osu", "-f"}), "accepted");
}

TEST(NcclCli, OptionsMeanWhatTheyMeanThere) {
    Options const options = parse_as("nccl", {"-n", "20", "-w", "5", "-o", "max", "-d", "half", "-r", "1", "-c", "0",
                                              "-T", "9", "-g", "1", "-p", "1"});
    EXPECT_EQ(options.runner.iterations, 20U);
    EXPECT_EQ(options.runner.warmup, 5U);
    EXPECT_EQ(options.runner.timeout_ns, 9'000'000'000);
    EXPECT_FALSE(options.runner.validate);
    EXPECT_EQ(options.parameters.at("reduction"), Words{"max"});
    EXPECT_EQ(options.parameters.at("element"), Words{"half"});
    EXPECT_EQ(options.layout, TableLayout::nccl);
    EXPECT_TRUE(parse_as("nccl", {"-c", "1"}).runner.validate);
    EXPECT_EQ(parameter_as("nccl", "reduction", {"-o", "all"}), (Words{"sum", "prod", "min", "max"}));
}

// common.cu: 32M to 32M in steps of 1M unless -f says a factor; the last is left out where a step passes it.
TEST(NcclCli, SizesAreThoseOfNcclTests) {
    EXPECT_EQ(sizes_as("nccl", {"-b", "8", "-e", "64", "-f", "2"}), (Words{"8", "16", "32", "64"}));
    EXPECT_EQ(sizes_as("nccl", {"-b8", "--maxbytes=100", "-f", "3"}), (Words{"8", "24", "72"}));
    EXPECT_EQ(sizes_as("nccl", {"-b", "1K", "-e", "3K", "-i", "1K"}), (Words{"1024", "2048", "3072"}));
    EXPECT_EQ(sizes_as("nccl", {}), Words{"33554432"});
    EXPECT_EQ(sizes_as("nccl", {"-b", "1", "-e", "8", "-f", "2"}), (Words{"0", "4", "8"})) << "rounded down to floats";
}

// all_gather.cu: (count / ranks) rounded down to 16 B per rank.
TEST(NcclCli, SizesOfGathersAndAlltoallAreThoseOfAllRanks) {
    EXPECT_EQ(sizes_as("nccl", {"alltoall_perf", "-b", "4K", "-e", "4K"}), Words{"1024"});
    EXPECT_EQ(sizes_as("nccl", {"all_gather", "-b", "100", "-e", "100"}, 3), Words{"32"});
    EXPECT_EQ(sizes_as("nccl", {"all_reduce_perf", "-b", "4K", "-e", "4K"}), Words{"4096"});
    EXPECT_EQ(sizes_as("nccl", {"reduce_scatter", "-b", "100", "-e", "100"}, 3), Words{"96"}) << "2 x 16 B per rank";
    EXPECT_EQ(sizes_as("osu", {"osu_alltoall", "-m", "4K:4K"}), Words{"4096"}) << "OSU counts the part per peer";
    EXPECT_EQ(sizes_as("nccl", {"hypercube_perf", "-b", "4K", "-e", "4K"}), Words{"1024"});
    EXPECT_EQ(sizes_as("nccl", {"sendrecv_perf", "-b", "4K", "-e", "4K"}), Words{"4096"}) << "it counts the message";
}

TEST(NcclCli, WhatHasNoMeaningIsRefusedWithTheReason) {
    EXPECT_EQ(refusal_as("nccl", {"-g", "8"}), "-g 8: only 1 is understood: mpirun starts one process per GPU");
    EXPECT_EQ(
        refusal_as("nccl", {"-G", "20"}),
        "-G 20: only 0 is understood: --method graph replays a graph of one call; nccl-tests has one of all calls");
    EXPECT_THAT(refusal_as("nccl", {"-J", "x.json"}), HasSubstr("--results FILE"));
    EXPECT_THAT(refusal_as("nccl", {"-f", "x", "-b", "8"}), HasSubstr("-f 'x'"));
    EXPECT_THAT(refusal_as("nccl", {"-b", "64M"}), HasSubstr("above the last"));
    EXPECT_THAT(refusal_as("nccl", {"-b", "1", "-e", "1M", "-i", "1"}), HasSubstr("more than 1024 sizes"));
    EXPECT_EQ(refusal_as("nccl", {"-n", "-w", "5"}), "-n: its value is missing");
    EXPECT_EQ(refusal_as("nccl", {"-I", "0", "-K", "2", "-u0"}), "accepted");
    EXPECT_THAT(refusal_as("nccl", {"-I", "1"}), HasSubstr("--timing osu"));
    EXPECT_THAT(refusal_as("nccl", {"--host_rma_implementation", "1"}), HasSubstr("dlmb_info"));
    EXPECT_EQ(refusal_as("nccl", {"-q", "8"}), "-q: not an option of nccl-tests; --help lists ours");
    EXPECT_EQ(refusal_as("nccl", {"-b", "2"}, moe_alltoall::type()),
              "-b: has no meaning here: the sizes come from the model's parameters");
    EXPECT_EQ(refusal_as("nccl", {"-o", "sum"}, moe_alltoall::type()),
              "-o: has no meaning here: moe_alltoall has no --reduction");
    EXPECT_EQ(refusal_as("nccl", {"-n", "3"}, moe_alltoall::type()), "accepted");
}

// common.cu: -z 1 waits for a call and a barrier, 2 for the call, 3 for both but times the call alone.
TEST(NcclCli, WaitsForEachCallWhereABarrierIsOutsideOfTheTime) {
    Options const options = parse_as("nccl", {"all_reduce_perf", "-z", "3"});
    EXPECT_EQ(options.runner.mode, measure::Mode::osu);
    EXPECT_EQ(options.runner.iterations, 20U);
    EXPECT_EQ(options.runner.warmup, 1U);
    EXPECT_EQ(options.runner.cache, record::CacheMode::rotate);
    EXPECT_EQ(options.layout, TableLayout::nccl);
    EXPECT_TRUE(options.also_in_place);
    Options const counted = parse_as("nccl", {"-z3", "-n", "7", "--warmup=2", "--cache", "warm"});
    EXPECT_EQ(counted.runner.iterations, 7U);
    EXPECT_EQ(counted.runner.warmup, 2U);
    EXPECT_EQ(counted.runner.cache, record::CacheMode::warm);
    EXPECT_EQ(parse_as("nccl", {"-z", "3", "-z", "0"}).runner.mode, measure::Mode::nccl) << "the last one counts";
    for (std::string const value : {"1", "2", "4", "x"}) {
        EXPECT_THAT(refusal_as("nccl", {"-z", value}), HasSubstr("only 0, 3 are understood"));
    }
    EXPECT_THAT(refusal_as("nccl", {"-z", "3", "--timing", "stream"}), HasSubstr("-z 3: chooses --timing itself"));
}

TEST(NcclCli, TheTimeOfTheHostIsShownWhereItIsAskedFor) {
    EXPECT_TRUE(parse_as("nccl", {"-C", "1"}).host_times);
    EXPECT_FALSE(parse_as("nccl", {"-C", "1", "-C0"}).host_times);
    EXPECT_THAT(refusal_as("nccl", {"-C", "2"}), HasSubstr("only 0, 1 are understood"));
    EXPECT_THAT(refusal_as("nccl", {"-z", "3", "-C", "1"}), HasSubstr("the host's time is the time"));
}

// alltoall.cu calls ncclAlltoAll; other programs send groups.
TEST(NcclCli, ExchangesAreTheCallOfNcclTests) {
    EXPECT_EQ(parse_as("nccl", {"alltoall_perf"}).backend_options.at("nccl").at("exchange"), "native");
    EXPECT_EQ(parse_as("osu", {"osu_alltoall"}).backend_options.at("nccl").at("exchange"), "");
}

TEST(NcclCli, RegisteredBuffersAreAMethod) {
    Options const local = parse_as("nccl", {"-R", "1", "--memory", "cuda"});
    EXPECT_EQ(local.methods.at(0).name, "registered");
    EXPECT_EQ(local.memory, std::vector<MemoryKind>{MemoryKind::cuda});
    for (Words const& arguments : {Words{"-R2"}, Words{"--local_register=2", "--memory=nccl"}}) {
        Options const symmetric = parse_as("nccl", arguments);
        EXPECT_EQ(symmetric.methods.at(0).name, "registered");
        EXPECT_EQ(symmetric.memory, std::vector<MemoryKind>{MemoryKind::nccl});
    }
    EXPECT_EQ(parse_as("nccl", {"-R", "0"}).methods.at(0).name, "default");
    EXPECT_THAT(refusal_as("nccl", {"-R", "3"}), HasSubstr("only 0, 1, 2 are understood"));
    EXPECT_THAT(refusal_as("nccl", {"-R", "2", "--memory", "cuda"}), HasSubstr("are of --memory nccl"));
    EXPECT_THAT(refusal_as("nccl", {"--method", "native", "-R", "1"}), HasSubstr("-R 1: chooses --method itself"));
}

/// Each option of nccl-tests 2.19 with each value that it takes there is understood or refused in one line.
TEST(NcclCli, EveryOptionHasAnAnswer) {
    for (auto const& [letter, values] : std::vector<std::pair<std::string, Words>>{{"-m", {"1", "4"}},
                                                                                   {"-N", {"0", "1", "3"}},
                                                                                   {"-G", {"0", "1"}},
                                                                                   {"-C", {"0", "1"}},
                                                                                   {"-D", {"0", "1", "4"}},
                                                                                   {"-V", {"16"}},
                                                                                   {"-I", {"0", "1"}},
                                                                                   {"-K", {"0", "5"}},
                                                                                   {"-z", {"0", "1", "2", "3"}},
                                                                                   {"-R", {"0", "1", "2"}},
                                                                                   {"-a", {"0", "1", "2", "3"}},
                                                                                   {"-x", {"0", "1", "2"}},
                                                                                   {"-y", {"0", "1"}},
                                                                                   {"-S", {"0", "1"}},
                                                                                   {"-M", {"0", "1"}},
                                                                                   {"-u", {"0", "1"}},
                                                                                   {"-p", {"0", "1"}},
                                                                                   {"-J", {"out.json"}}}) {
        for (std::string const& value : values) {
            std::string const answer = refusal_as("nccl", {letter, value});
            bool const standard = value == "0" && letter != "-a" && letter != "-N" && letter != "-x";
            EXPECT_TRUE(answer == "accepted" || (!standard && answer.starts_with(letter))) << letter << value << answer;
            EXPECT_THAT(answer, Not(HasSubstr("\n")));
            EXPECT_LT(answer.size(), 220U) << answer;
        }
    }
}

Words operation(Words arguments) {
    arguments.insert(arguments.begin(), "dlmb");
    return std::get<Options>(parse_options(collective::type(), arguments)).parameters.at("operation");
}

TEST(Operations, HaveTheNamesOfBothSuitesToo) {
    EXPECT_EQ(operation({"--operation", "bcast,all_reduce,osu_allgather,alltoall_perf,broadcast_perf,sendrecv"}),
              (Words{"broadcast", "allreduce", "allgather", "alltoall", "broadcast", "sendrecv"}));
    EXPECT_THAT(refusal_of({"--operation", "latency,bcast"}), HasSubstr("a launch of its own"));
    EXPECT_THAT(refusal_of({"--operation", "osu_ibcast"}), HasSubstr("--method nonblocking"));
}

TEST(Options, WhoGivesAnOptionOfASuiteIsToldOurs) {
    EXPECT_THAT(refusal_of({"-n", "7"}), HasSubstr("in nccl-tests it is --iters, here: --iterations N"));
    EXPECT_THAT(refusal_of({"-f"}), testing::AllOf(HasSubstr("--full"), HasSubstr("--stepfactor")));
    EXPECT_THAT(refusal_of({"--tail-lat"}), HasSubstr("--percentiles"));
    EXPECT_THAT(refusal_of({"-u", "3"}), HasSubstr("understood after --cli osu"));
    EXPECT_THAT(refusal_of({"--warmup_iters=3"}), HasSubstr("--warmup N"));
    EXPECT_THAT(refusal_of({"-G", "png"}), testing::Not(HasSubstr("--cli osu"))) << "it is refused there too";
}

std::string kind_text(SuiteOption const& option) {
    switch (option.meaning) {
    case Meaning::refused:
        return "no";
    case Meaning::ignored:
        return "no effect";
    case Meaning::only:
        return fmt::format("`{}` only", option.value);
    default:
        return "yes";
    }
}

/// OSU Micro-Benchmarks 7.5, c/mpi: its 79 programs. The persistent and non-blocking ones have the names of the
/// blocking collectives.
Words osu_programs() {
    Words names;
    auto const add = [&](char const* list, std::initializer_list<char const*> forms) {
        std::istringstream words(list);
        for (std::string name; words >> name;) {
            for (char const* const form : forms) {
                names.push_back(fmt::format(fmt::runtime(form), name));
            }
        }
    };
    add("bibw bw latency latency_mp latency_mt mbw_mr multi_lat partitioned_latency bibw_persistent bw_persistent "
        "latency_persistent acc_latency cas_latency fop_latency get_acc_latency get_bw get_latency put_bibw put_bw "
        "put_latency bw_fan_in bw_fan_out hello init",
        {"osu_{}"});
    add("allgather allgatherv allreduce alltoall alltoallv alltoallw barrier bcast gather gatherv reduce "
        "reduce_scatter "
        "reduce_scatter_block scatter scatterv",
        {"osu_{}", "osu_i{}", "osu_{}_persistent"});
    add("allgather allgatherv alltoall alltoallv alltoallw", {"osu_neighbor_{}", "osu_ineighbor_{}"});
    return names;
}

/// nccl-tests 2.19.7, src/Makefile.
Words nccl_programs() {
    return {"all_reduce_perf", "all_gather_perf", "broadcast_perf", "reduce_scatter_perf",
            "reduce_perf",     "alltoall_perf",   "alltoallv_perf", "scatter_perf",
            "gather_perf",     "sendrecv_perf",   "hypercube_perf"};
}

std::string page_text() {
    std::ifstream file(DLMB_SUITES_PAGE);
    std::stringstream page;
    page << file.rdbuf();
    return page.str();
}

/// Why the page says that the program is refused; empty: it says that it runs.
std::string refused_on_page(std::string const& page, std::string const& program) {
    std::string const row = fmt::format("\n| `{}` | ", program);
    std::size_t const instead = page.find("| program | instead |");
    std::size_t const at = page.find(row, instead);
    return at == std::string::npos ? "" : page.substr(at + row.size(), page.find(" |\n", at + 1) - at - row.size());
}

TEST(Documentation, SaysOfEveryProgramOfBothSuitesWhetherItRunsAndIsRight) {
    std::string const page = page_text();
    EXPECT_EQ(osu_programs().size(), 79U);
    for (auto const& [suite, programs] : {std::pair{"osu", osu_programs()}, std::pair{"nccl", nccl_programs()}}) {
        for (std::string const& program : programs) {
            bool const threads = program == "osu_latency_mt";
            std::string said = refusal_as(suite, threads ? Words{program, "-t", "2:2"} : Words{program});
            std::string expected = refused_on_page(page, program);
            std::erase(expected, '`');
            EXPECT_EQ(said == "accepted", expected.empty()) << program << ": " << said;
            EXPECT_THAT(said, expected.empty() ? HasSubstr("accepted") : HasSubstr(expected)) << program;
            EXPECT_THAT(page, HasSubstr(fmt::format("`{}`", program)));
        }
    }
}

TEST(OsuCli, AProgramWithAWrongLetterIsToldTheNearest) {
    EXPECT_THAT(refusal_as("osu", {"osu_allreduc"}), HasSubstr("nearest: osu_allreduce"));
    EXPECT_THAT(refusal_as("nccl", {"all_reduc_perf"}), HasSubstr("nearest: all_reduce_perf"));
}

// alltoallv.cu of nccl-tests: rank i sends to j in proportion to (j - i) mod n, and nothing to itself.
TEST(NcclCli, AlltoallvHasTheTrafficOfItsProgram) {
    EXPECT_EQ(parameter_as("nccl", "skew", {"alltoallv_perf"}), Words{"distance:1"});
    EXPECT_EQ(parameter_as("nccl", "skew", {"alltoallv_perf", "--skew", "balanced"}), Words{"balanced"});
    EXPECT_EQ(parse_as("osu", {"osu_alltoallv"}).parameters.count("skew"), 0U) << "OSU's parts are equal";
    EXPECT_EQ(parse_as("nccl", {"alltoall_perf"}).parameters.count("skew"), 0U);
    EXPECT_THAT(refusal_as("nccl", {"--operation", "alltoallv,alltoall"}), HasSubstr("a launch of its own"));
}

TEST(Documentation, ShowsEveryOptionAndEveryProgramOfBothSuites) {
    std::string const page = page_text();
    for (Suite const suite : {Suite::osu, Suite::nccl}) {
        for (SuiteOption const& option : options_of(suite)) {
            std::string const argument = option.argument.empty() ? "" : fmt::format(" {}", option.argument);
            std::string escaped;
            for (char const each : argument) {
                escaped += each == '|' ? "\\|" : std::string(1, each);
            }
            EXPECT_THAT(page, HasSubstr(fmt::format("| `{}`, `{}{}` | {} | {} |\n", option.letter, option.name, escaped,
                                                    kind_text(option), option.here)));
        }
    }
    for (SuiteProgram const& program : suite_programs()) {
        std::string const osu = program.osu.empty() ? "" : fmt::format("`osu_{}`", program.osu);
        std::string const nccl = program.nccl.empty() ? "" : fmt::format("`{}_perf`", program.nccl);
        EXPECT_THAT(page,
                    HasSubstr(fmt::format("| {} | {} | `--operation {}{}` |", osu, nccl, program.operation,
                                          program.route.empty() ? "" : fmt::format(" --route {}", program.route))));
    }
}

}  // namespace
}  // namespace dlmb::run
