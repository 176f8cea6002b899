// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/tools/tune/build/observe.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <utility>

namespace dlmb::tuning {
namespace {

/// A cell that a table can be made from.
record::Record good_cell() {
    record::Record cell;
    cell.identity.pattern = "collective";
    cell.identity.parameters = {{"operation", "allreduce"},
                                {"element", "fp32"},
                                {"reduction", "sum"},
                                {"in-place", "off"},
                                {"message-size", "4096"}};
    cell.identity.backend = "mpi";
    cell.identity.method = "blocking";
    cell.identity.memory = "host";
    cell.identity.mode = "isolated";
    cell.identity.world = {4, 4};
    cell.result.status = record::Status::ok;
    cell.result.validation.verdict = record::Verdict::passed;
    cell.result.round_medians_ns.assign(6, 1000.0);
    cell.result.median_of_rounds_ns = 1000;
    return cell;
}

/// All of one launch.
Observations observe_all(std::vector<record::Record> const& cells, Accepted accepted = {}, record::Launch launch = {}) {
    launch.launch_id = "launch";
    launch.world = {4, 4};
    record::ResultFile file;
    file.launches.push_back(launch);
    for (record::Record const& cell : cells) {
        file.cells.push_back({"launch", cell});
    }
    Observations observations(std::move(accepted));
    observations.add(file, "results.jsonl");
    return observations;
}
Observations observe(record::Record const& cell, Accepted accepted = {}, record::Launch launch = {}) {
    return observe_all({cell}, std::move(accepted), std::move(launch));
}

TEST(Observations, KeepACellOfOneOperationOnATransport) {
    EXPECT_EQ(observe(good_cell()).kept().size(), 1U);
}

TEST(Observations, LeaveOutMethodsThatAreNotToCompete) {
    record::Record cell = good_cell();
    Accepted const algorithms{false, false, "isolated", {"algorithm"}};
    EXPECT_TRUE(observe(cell, algorithms).kept().empty());
    cell.is_default = true;
    EXPECT_EQ(observe(cell, algorithms).kept().size(), 1U);
    cell.is_default = false;
    cell.identity.method = "algorithm:allreduce=ring";
    cell.backend_facts = {{"mpi_algorithm.allreduce", "ring"}};
    EXPECT_EQ(observe(cell, algorithms).kept().size(), 1U);
    cell.identity.method = "algorithm:reduce=ring";
    cell.backend_facts = {{"mpi_algorithm.reduce", "ring"}};
    EXPECT_EQ(observe(cell, algorithms).refused().size(), 1U) << "of a call that does other operations";
}

TEST(Observations, AnUnevenExchangeIsKnownByItsImbalance) {
    record::Record cell = good_cell();
    cell.identity.parameters["operation"] = "alltoallv";
    cell.identity.parameters["skew"] = "hot_rank:3";
    cell.traffic.payload_bytes = Bytes{4} * 16384;
    cell.traffic.largest_total_bytes = 32768;  // received by one rank
    Observation const seen = observe(cell).kept().at(0);
    EXPECT_EQ(seen.key.uniform, false);
    EXPECT_EQ(seen.key.imbalance, imbalance_class(2.0).min);
    EXPECT_EQ(seen.skew, "hot_rank:3");
}

TEST(Observations, AThresholdOfUcxIsTheVariableThatOtherProgramsSet) {
    record::Record cell = good_cell();
    cell.identity.backend = "ucx";
    cell.identity.method = "linear:max_outstanding=2:rndv_thresh=inf";
    ChoiceParams const params = observe(cell).kept().at(0).choice.params;
    EXPECT_EQ(params.knobs, (std::map<std::string, std::string>{{"UCX_RNDV_THRESH", "inf"}}));
    EXPECT_EQ(params.max_outstanding, 2U);
}

TEST(Observations, AForcedAlgorithmOfNcclIsOneThatItsTunerCanBeTold) {
    record::Record cell = good_cell();
    cell.identity.backend = "nccl";
    cell.identity.method = "algorithm:allreduce=ring:channels=4:protocol=ll";
    cell.backend_facts = {
        {"nccl_algorithm.allreduce", "ring"}, {"nccl_algorithm_id.allreduce", "1"}, {"nccl_protocol", "ll"}};
    Choice const choice = observe(cell).kept().at(0).choice;
    EXPECT_EQ(choice.algorithm, (Algorithm{"nccl", "ring", 1}));
    EXPECT_EQ(choice.params.protocol, "ll");
    EXPECT_EQ(choice.params.channels, 4U);
}

TEST(Observations, OfAMethodForSeveralCallsKnowTheAlgorithmOfTheirOwn) {
    record::Record cell = good_cell();
    cell.backend_facts = {{"mpi_algorithm_family", "open_mpi.tuned"},
                          {"mpi_algorithm.allreduce", "ring"},
                          {"mpi_algorithm_id.allreduce", "4"},
                          {"mpi_algorithm.reduce_scatter_block", "recursive_doubling"},
                          {"mpi_algorithm_id.reduce_scatter_block", "2"}};
    EXPECT_EQ(observe(cell).kept().at(0).choice.algorithm, (Algorithm{"open_mpi.tuned", "ring", 4}));
    cell.backend_facts.erase("mpi_algorithm.allreduce");
    EXPECT_EQ(observe(cell).kept().at(0).choice.algorithm, std::nullopt);
}

TEST(Observations, ForFilesAreComparedWithWhatAProgramHasThatCallsAlltoall) {
    record::Record cell = good_cell();
    cell.identity.parameters["operation"] = "alltoall";
    cell.identity.method = "alltoall";
    Accepted const algorithms{false, false, "isolated", {"algorithm"}};
    EXPECT_TRUE(observe(cell, algorithms).kept().at(0).is_default);
    EXPECT_FALSE(observe(cell).kept().at(0).is_default);
    cell.identity.method = "alltoallv";
    cell.is_default = true;
    EXPECT_TRUE(observe(cell, algorithms).kept().empty());
    EXPECT_TRUE(observe(cell).kept().at(0).is_default);
}

/// What is left out of a cell that is good but for one change; empty: nothing.
struct Change {
    char const* reason;
    std::function<void(record::Record&, record::Launch&)> make;
};

Change is_of(std::string const& operation, char const* reason) {
    return {reason, [operation](auto& cell, auto&) { cell.identity.parameters["operation"] = operation; }};
}

TEST(Observations, LeaveOutWhatNoRuleMayRestOn) {
    constexpr char const* throttled =
        "was throttled: clocks of a GPU were held down, or a quota of processor time was used up";
    constexpr char const* no_gpu = "ran on a shared GPU or on a test double";
    Change const changes[] = {
        is_of("reduce_scatter", "is of reduce_scatter, which no table chooses for"),
        is_of("gather", "is of gather, which no table chooses for"),
        is_of("barrier", "is of barrier, which no table chooses for"),
        {"computes meanwhile (--compute)", [](auto& cell, auto&) { cell.identity.parameters["compute"] = "busy"; }},
        {"", [](auto& cell, auto&) { cell.identity.parameters["compute"] = "none"; }},
        {"is of another --route than ring", [](auto& cell, auto&) { cell.identity.parameters["route"] = "ping_pong"; }},
        {"", [](auto& cell, auto&) { cell.identity.parameters["route"] = "ring"; }},
        {"ran on nodes with unequal numbers of ranks",
         [](auto& cell, auto&) { cell.identity.world.ranks_per_node = 0; }},
        {"is of backend tuned, which hands on to the others",
         [](auto& cell, auto&) { cell.identity.backend = "tuned"; }},
        {no_gpu, [](auto& cell, auto&) { cell.shared_gpu = true; }},
        {no_gpu,
         [](auto&, auto& launch) {
             launch.environment.identity["gpus"] = std::string(record::test_double_prefix) + " (no GPU), 1 per node";
         }},
        {throttled, [](auto& cell, auto&) { cell.result.throttled = true; }},
        {"", [](auto& cell, auto&) { cell.result.throttled = false; }},
    };
    for (Change const& change : changes) {
        record::Record cell = good_cell();
        record::Launch launch;
        change.make(cell, launch);
        Observations const observations = observe(cell, {}, launch);
        bool const good = *change.reason == '\0';
        EXPECT_EQ(observations.kept().size(), good ? 1U : 0U) << change.reason;
        EXPECT_EQ(observations.refused().count(change.reason), good ? 0U : 1U) << change.reason;
    }
}

TEST(Observations, KnowTheNodesAndTheCallForEqualParts) {
    record::Record cell = good_cell();
    cell.identity.world.ranks_per_node = 3;
    EXPECT_EQ(observe(cell).kept().at(0).key.nodes, 2U);
    cell.identity.parameters["operation"] = "reduce_scatter_block";
    EXPECT_EQ(observe(cell).kept().at(0).key.operation, TunedOperation::reduce_scatter);
}

TEST(Observations, OfAReduceScatterAreOfTheBytesThatItMoved) {
    record::Record cell = good_cell();
    cell.identity.parameters["operation"] = "reduce_scatter_block";
    cell.identity.parameters["message-size"] = "64";
    cell.identity.world = {3, 3};
    EXPECT_EQ(observe(cell).kept().at(0).key.bytes, 72U) << "3 ranks with 6 elements of 4 B each";
}

TEST(Observations, TakeTheFirstOfTheSizesForWhichAReduceScatterMovesTheSameBytes) {
    record::Record cell = good_cell();
    cell.identity.parameters["operation"] = "reduce_scatter_block";
    cell.identity.parameters["message-size"] = "64";
    cell.identity.world = {3, 3};
    record::Record larger = cell;
    larger.identity.parameters["message-size"] = "72";
    Observations const observations = observe_all({cell, larger});
    EXPECT_EQ(observations.kept().size(), 1U);
    EXPECT_EQ(observations.refused(),
              (std::map<std::string, std::uint64_t>{
                  {"moves as many bytes as an earlier cell of its launch, in whole elements per rank", 1}}));
}

TEST(Observations, SayEverythingThatIsWrongWithACellAtOnce) {
    record::Record cell = good_cell();
    cell.result.round_medians_ns.assign(3, 1000.0);
    record::Launch launch;
    launch.environment.identity["processing_units"] = "2";
    Observations const refused = observe(cell, {}, launch);
    EXPECT_EQ(refused.refused(),
              (std::map<std::string, std::uint64_t>{
                  {"had more ranks than processing units and has fewer than six rounds (--accept oversubscribed,quick)",
                   1}}));
    EXPECT_EQ(refused.acceptable(), (std::set<std::string>{"oversubscribed", "quick"}));
    EXPECT_EQ(refused.acceptable_cells(), 1U);
    EXPECT_EQ(observe(cell, {true, true}, launch).kept().size(), 1U);
    EXPECT_EQ(observe(cell, {true, false}, launch).acceptable(), (std::set<std::string>{"quick"}));
}

TEST(Observations, AreOfTheOneTimingThatTheResultsHave) {
    record::Record cell = good_cell();
    cell.identity.mode = "stream";
    EXPECT_EQ(observe(cell).conditions().timing, "stream");
    EXPECT_TRUE(observe(cell, {false, false, "isolated"}).kept().empty());
    EXPECT_THROW((void)observe_all({cell, good_cell()}), UsageError);
    EXPECT_EQ(observe_all({cell, good_cell()}, {false, false, "stream"}).kept().size(), 1U);
    cell.identity.mode = "osu";
    EXPECT_EQ(observe(cell).refused().count("is of --timing osu, and tables are of isolated or stream"), 1U);
}

TEST(Observations, OfALaunchAreOfTheFirstOfSeveralPointsThatRulesDoNotTellApart) {
    record::Record first = good_cell();
    first.identity.parameters["operation"] = "broadcast";
    first.identity.parameters["root"] = "1";
    record::Record other_method = first;
    other_method.identity.method = "binomial";
    record::Record other_root = other_method;
    other_root.identity.parameters["root"] = "0";
    record::ResultFile file;
    for (char const* const launch : {"one", "two"}) {
        file.launches.emplace_back().launch_id = launch;
    }
    file.cells = {{"one", first}, {"one", other_root}, {"one", other_method}, {"two", other_root}};
    Observations observations({});
    observations.add(file, "results.jsonl");
    EXPECT_EQ(observations.kept().size(), 3U);
    EXPECT_EQ(observations.refused().size(), 1U);
}

TEST(Observations, AreOfTheOneLoadThatTheResultsHave) {
    record::Record cell = good_cell();
    EXPECT_EQ(observe(cell).conditions().beside, "none");
    cell.identity.beside = "memory";
    EXPECT_EQ(observe(cell).conditions().beside, "memory");
    EXPECT_THROW((void)observe_all({cell, good_cell()}), UsageError);
    for (char const* const load : {"none", "memory"}) {
        Accepted accepted;
        accepted.beside = load;
        Observations const one = observe_all({cell, good_cell()}, accepted);
        EXPECT_EQ(one.kept().size(), 1U);
        EXPECT_EQ(one.conditions().beside, load);
        EXPECT_EQ(one.refused().count(std::string("is not of --beside ") + load), 1U);
    }
}

TEST(Conditions, DifferWhereBothAreKnown) {
    Conditions const first{"isolated", "none", record::CacheMode{}, {{"ucx", "1.13.1"}}};
    EXPECT_EQ(difference(first, first), "");
    EXPECT_EQ(difference(first, {}), "");
    EXPECT_EQ(difference({"stream"}, first), "--timing stream instead of isolated");
    EXPECT_EQ(difference({"", "memory"}, first), "--beside memory instead of none");
    EXPECT_EQ(difference({"", {}, {}, {{"nccl", "2.28.9"}, {"ucx", "1.15.0"}}}, first), "ucx 1.15.0 instead of 1.13.1");
}

TEST(Observations, AreOfOneVersionOfALibrary) {
    record::Record cell = good_cell();
    cell.identity.backend = "ucx";
    cell.identity.method = "linear";
    cell.backend_facts = {{"ucx_version", "1.13.1"}};
    EXPECT_EQ(observe(cell).stack().versions.at("ucx"), "1.13.1");
    record::Record other = cell;
    other.backend_facts["ucx_version"] = "1.15.0";
    EXPECT_THROW((void)observe_all({cell, other}), UsageError);
}

TEST(Observations, KnowTheVersionsOfTheBackendsLibrary) {
    record::Record cell;
    EXPECT_EQ(library_versions(cell), Versions{});
    cell.backend_facts = {{"ucx_version", "1.13.1"}, {"transports", "self"}};
    EXPECT_EQ(library_versions(cell), (Versions{{"ucx", "1.13.1"}}));
    cell.backend_facts = {{"nccl_version", "22809"}};
    EXPECT_EQ(library_versions(cell), (Versions{{"nccl", "2.28.9"}}));
}

TEST(MpiLibrary, HasANameAndAVersion) {
    EXPECT_EQ(mpi_library("Open MPI v4.1.4, package: Debian Open MPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022"),
              (MpiLibrary{"Open MPI", "4.1.4"}));
    EXPECT_EQ(mpi_library("MPICH Version: 4.0.2"), (MpiLibrary{"MPICH", "4.0.2"}));
    EXPECT_EQ(mpi_library("MPICH Version:\t4.0.2"), (MpiLibrary{"MPICH", "4.0.2"})) << "as the library prints it";
    EXPECT_EQ(mpi_library("MVAPICH2 Version : 2.3.7"), (MpiLibrary{"MVAPICH2 Version", "2.3.7"}));
    EXPECT_EQ(mpi_library("Another: 7"), (MpiLibrary{"Another", "7"}));
    EXPECT_EQ(mpi_library("without numbers"), (MpiLibrary{"without numbers", ""}));
}

/// A cell of PICO's table.
record::Record converted_cell() {
    record::Record cell;
    cell.origin = record::Origin{"pico", "median"};
    cell.identity.pattern = "collective";
    cell.identity.parameters = {{"operation", "broadcast"}, {"message-size", "4096"}};
    cell.identity.backend = "mpi";
    cell.identity.method = "binary_ompi";
    cell.identity.memory = "host";
    cell.identity.mode = "pico";
    cell.identity.world = {8, 1};
    cell.result.time.median = 1000;
    cell.result.definition = "median of the slowest rank";
    cell.backend_facts = {{"mpi_algorithm_family", "open_mpi.tuned"}, {"mpi_algorithm.bcast", "binary_tree"}};
    return cell;
}

record::Launch converted_launch() {
    record::Launch launch;
    launch.origin = record::Origin{"pico", ""};
    launch.environment.identity = {{"system", "leonardo"}, {"mpi_library", "Open MPI 4.1.6"}, {"job_shape", "2x2x2"}};
    return launch;
}

std::string why_not(record::Record const& cell) {
    Observations const observations = observe(cell, {}, converted_launch());
    return observations.refused().empty() ? "" : observations.refused().begin()->first;
}

TEST(Observations, OfAConvertedCellAreItsNumberAndTheAlgorithmThatItsOriginForced) {
    Observations const observations = observe(converted_cell(), {}, converted_launch());
    Observation const seen = observations.kept().at(0);
    EXPECT_EQ(seen.foreign, (Foreign{"pico", "median"}));
    EXPECT_EQ(seen.choice.method, "algorithm:bcast=binary_tree");
    EXPECT_EQ(seen.choice.algorithm, (Algorithm{"open_mpi.tuned", "binary_tree", std::nullopt}));
    EXPECT_EQ(seen.key.dtype + seen.key.reduction, "") << "the table does not say them";
    EXPECT_EQ(observations.system().name, "leonardo");
    EXPECT_EQ(observations.stack().mpi, (MpiLibrary{"Open MPI", "4.1.6"}));
    EXPECT_EQ(observations.foreign_definition(), "median of the slowest rank");
    EXPECT_EQ(without_default(observations.kept()), 1U);
}

TEST(Observations, OfConvertedCellsLeaveOutWhatNoRuleCanSay) {
    record::Record cell = converted_cell();
    EXPECT_EQ(why_not(cell), "");
    cell.identity.parameters["operation"] = "gather";
    EXPECT_NE(why_not(cell).find("is of gather"), std::string::npos);
    cell = converted_cell();
    cell.identity.parameters["message-size"] = "6.25";
    EXPECT_NE(why_not(cell).find("no whole number of bytes"), std::string::npos);
    cell = converted_cell();
    cell.identity.memory = "device";
    EXPECT_NE(why_not(cell).find("memory 'device'"), std::string::npos);
    cell.identity.memory = "cuda";
    EXPECT_NE(why_not(cell).find("a GPU that is not named"), std::string::npos);
    cell = converted_cell();
    cell.identity.world = {8, 0};
    EXPECT_NE(why_not(cell).find("--ranks-per-node"), std::string::npos);
    cell = converted_cell();
    cell.result.time.median = 0;
    EXPECT_EQ(why_not(cell), "has no time");
    cell = converted_cell();
    cell.result.status = record::Status::invalid;
    EXPECT_EQ(why_not(cell), "has status invalid");
}

TEST(Observations, OfConvertedResultsAreOfOneSystemDefinitionAndKind) {
    record::ResultFile more;
    more.launches.push_back(converted_launch());
    more.cells.push_back({"", converted_cell()});
    auto const throws_after = [&](auto change) {
        Observations observations = observe(converted_cell(), {}, converted_launch());
        record::ResultFile changed = more;
        change(changed);
        try {
            observations.add(changed, "more.jsonl");
        } catch (UsageError const&) {
            return true;
        }
        return false;
    };
    EXPECT_FALSE(throws_after([](auto& file) { file.launches[0].environment.identity["job_shape"] = "4x4x4"; }));
    EXPECT_TRUE(throws_after([](auto& file) { file.launches[0].environment.identity["system"] = "lumi"; }));
    EXPECT_TRUE(throws_after([](auto& file) { file.launches[0].environment.identity.erase("system"); }));
    EXPECT_TRUE(
        throws_after([](auto& file) { file.launches[0].environment.identity["mpi_library"] = "Open MPI 5.0.7"; }));
    EXPECT_TRUE(throws_after([](auto& file) { file.launches[0].origin.reset(); }));
    EXPECT_TRUE(throws_after([](auto& file) { file.cells[0].cell.result.definition = "mean over ranks"; }));
}

}  // namespace
}  // namespace dlmb::tuning
