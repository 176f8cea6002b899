// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/tools/predict/machine_model.hpp"
#include "common/tools/predict/simulator/machine.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <functional>

namespace dlmb::predict {
namespace {

using Json = nlohmann::ordered_json;

MachineModel sample() {
    MachineModel model;
    model.system = "made";
    model.kind = TopologyKind::torus;
    model.best.parameters.fill(-1);
    ImplementationKey const ring{OperationKind::all_reduce, "ring"};
    model.best.factors[ring] = {0.1, -0.2, 0.3};
    model.residuals[ring] = {{256, 8, 0.05}};
    model.replicates = {model.best, model.best};
    model.corrected = true;
    model.limits.inject_bytes = 192;
    model.points = 12;
    model.fewest_nodes = 8;
    model.most_nodes = 64;
    model.most_bytes = 1e9;
    model.held_out[OperationKind::broadcast] = {5, 0.1, 0.3};
    model.held_out_above = 8;
    model.width_inside = 0.1;
    model.width_beyond = {{3, 0.4}, {6, 0.5}};
    model.octaves_left_out = 6;
    model.contradicted[{OperationKind::broadcast, "linear"}] = 8;
    model.dimensions = 3;
    model.forced = true;
    model.input_name = "table.csv";
    model.input_sha256 = std::string(64, 'a');
    model.max_nodes = 64;
    return model;
}

TEST(ModelFile, GivesTheSameTextAfterItWasRead) {
    std::string const text = to_text(sample());
    EXPECT_EQ(to_text(read_model(text, "model.json")), text);
}

TEST(ModelFile, OfAnOlderProgramAnswersUpToWhatItsNodesSay) {
    Json json = Json::parse(to_text(sample()));
    json["schema"] = "dlmb.machine-model/3.0";
    json["error"].erase("octaves_left_out");
    EXPECT_DOUBLE_EQ(read_model(json.dump(), "model.json").octaves_left_out, 3) << "8 to 64 nodes";
}

TEST(ModelFile, ThatIsDamagedIsRefusedByItsName) {
    std::string const text = to_text(sample());
    for (std::size_t length = 0; length + 2 < text.size(); length += 7) {
        EXPECT_THROW((void)read_model(text.substr(0, length), "model.json"), UsageError) << length;
    }
    std::vector<std::function<void(Json&)>> const damages{
        [](Json& model) { model["schema"] = "dlmb.machine-model/2.0"; },
        [](Json& model) { model["schema"] = 1; },
        [](Json& model) { model["topology"] = "ring"; },
        [](Json& model) { model.erase("system"); },
        [](Json& model) { model["parameters"]["byte_us"]["value"] = -1; },
        [](Json& model) { model["parameters"]["byte_us"]["value"] = 0; },
        [](Json& model) { model["parameters"]["byte_us"]["value"] = 2e11; },
        [](Json& model) { model["algorithms"][0]["setup_us"] = 1e12; },
        [](Json& model) { model["parameters"].erase("link_ratio"); },
        [](Json& model) { model["fresh_bytes"] = nullptr; },
        [](Json& model) { model["inject_bytes"] = -1; },
        [](Json& model) { model.erase("inject_bytes"); },
        [](Json& model) { model["range"]["most_nodes"] = 7; },
        [](Json& model) { model["range"]["fewest_nodes"] = 1.5; },
        [](Json& model) { model["algorithms"].push_back(model["algorithms"][0]); },
        [](Json& model) {
            model["algorithms"].push_back(model["algorithms"][0]);
            model["algorithms"][1]["algorithm"] = "bucket";  // stands before "ring"
            model["replicates"] = Json::array();
        },
        [](Json& model) { model["algorithms"][0]["collective"] = "scan"; },
        [](Json& model) { model["algorithms"][0]["residuals"][0]["nodes"] = 0; },
        [](Json& model) { model["replicates"][0].erase(0); },
        [](Json& model) { model["replicates"][0][0] = 26; },
        [](Json& model) { model["error"]["width_beyond"][0]["octaves"] = 0; },
        [](Json& model) { model["error"]["width_beyond"][1]["width"] = 0.3; },
        [](Json& model) { model["error"]["octaves_left_out"] = -1; },
        [](Json& model) { model["contradicted"][0]["from_nodes"] = 0; },
        [](Json& model) { model.erase("contradicted"); },
        [](Json& model) { model["dimensions"] = -1; },
        [](Json& model) { model["error"]["held_out"][0]["median"] = "low"; },
        [](Json& model) { model = Json::array(); },
    };
    for (std::size_t index = 0; index < damages.size(); ++index) {
        Json json = Json::parse(text);
        damages[index](json);
        try {
            (void)read_model(json.dump(), "model.json");
            ADD_FAILURE() << "damage " << index << " was read";
        } catch (UsageError const& error) {
            EXPECT_EQ(std::string_view(error.what()).substr(0, 12), "model.json: ") << index;
        }
    }
}

TEST(MachineOfAModel, HasABandwidthAlsoWhereAByteRoundsToNothing) {
    MachineModel model = sample();
    model.best.parameters[static_cast<std::size_t>(Parameter::byte)] = -25;  // e^-25 us are 0.01 fs
    Machine const machine = machine_of(model, model.best.parameters, 1, 2);
    for (SizeSegment const& segment : machine.levels.back()) {
        EXPECT_EQ(segment.parameters.gap_per_byte, 1);
    }
}

TEST(MachineOfAModel, WaitsForReceiversBeyondTheEagerLimitAndForTheNicBeyondTheInjectLimit) {
    MachineModel const model = sample();  // each time is e^-1 us
    Machine const machine = machine_of(model, model.best.parameters, 2, 2);
    EXPECT_EQ(machine.eager_limit, 8192) << "what is longer than the NIC takes with a command waits for no receiver";
    auto const latency = [&](Rank to, Bytes bytes) { return machine.parameters(0, to, bytes).latency; };
    auto const is_step = [](Picoseconds more) { return std::abs(more - std::llround(std::exp(-1) * 1e6)) <= 1; };
    EXPECT_TRUE(is_step(latency(2, 193) - latency(2, 192)));
    EXPECT_EQ(latency(2, 8192), latency(2, 193));
    EXPECT_TRUE(is_step(latency(2, 8193) - latency(2, 8192)));
    EXPECT_EQ(latency(1, 193), latency(1, 192)) << "inside a node";
    EXPECT_TRUE(is_step(latency(1, 8193) - latency(1, 8192)));
}

TEST(MachineOfAModel, PricesTheDistanceOfNodesInATree) {
    MachineModel model = sample();  // a hop takes e^-1 us, and so does a byte per octave of distance
    auto const of = [&](Rank from, Rank to) {
        Machine const machine = machine_of(model, model.best.parameters, 2, 8);
        return std::pair(machine.parameters(from, to, 100).latency, machine.parameters(from, to, 100).gap_per_byte);
    };
    EXPECT_EQ(of(0, 8), of(0, 2)) << "links of a torus are those of a topology";
    auto const inside = of(0, 1);
    model.kind = TopologyKind::tree;
    EXPECT_EQ(of(0, 1), inside);
    EXPECT_EQ(of(0, 6), of(6, 12)) << "ranks that do alike cost alike";
    EXPECT_EQ(of(0, 6), of(12, 2));
    auto const [latency, byte] = of(0, 8);
    model.best.parameters[index_of(Parameter::hop)] = model.best.parameters[index_of(Parameter::far)] = -40;
    // From each of the 8 nodes to the one 4 on or 4 back are two octaves; the hop of the first is everybody's.
    EXPECT_NEAR(static_cast<double>(latency - of(0, 8).first), 3 * std::exp(-1) * 1e6, 2);
    EXPECT_NEAR(static_cast<double>(byte - of(0, 8).second), 2 * std::exp(-1) * 1e9, 2);
}

TEST(MachineOfAModel, LetsTheSenderPayForTheCopiesOfEagerMessagesAndForBytesInANode) {
    MachineModel const model = sample();  // each byte takes e^-1 us
    Machine const machine = machine_of(model, model.best.parameters, 2, 2);
    auto const byte_times = [&](Rank to, Bytes bytes) {
        return static_cast<double>(machine.parameters(0, to, bytes).overhead_per_byte) / 1e9 / std::exp(-1);
    };
    EXPECT_NEAR(byte_times(2, 8192), 1, 1e-6);
    EXPECT_EQ(byte_times(2, 8193), 0);
    EXPECT_NEAR(byte_times(1, 8192), 2, 1e-6);
    EXPECT_NEAR(byte_times(1, 8193), 1, 1e-6);
}

}  // namespace
}  // namespace dlmb::predict
