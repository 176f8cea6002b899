// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_info describes made-up devices on the made-up node of tests/unit/environment/gpu_node.xml; no device is
// touched.
#include "common/base/error.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/run/info/info.hpp"
#include "patterns/moe_alltoall/moe_alltoall.hpp"
#include "patterns/tp_allreduce/tp_allreduce.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

namespace dlmb::run {
namespace {

using testing::HasSubstr;

constexpr char const* buses[] = {"0000:13:00.0", "0000:14:00.0", "0000:33:00.0", "0000:34:00.0",
                                 "0000:93:00.0", "0000:94:00.0", "0000:b3:00.0", "0000:b4:00.0"};

Devices eight_gpus() {
    Devices devices;
    devices.runtime_version = "13.0";
    devices.driver_version = "13.1";
    for (int index = 0; index < 8; ++index) {
        Device device;
        device.index = index;
        device.name = "Example GPU";
        device.pci_bus_id = buses[index];
        device.numa_node = index / 4;
        device.memory = Bytes{80} << 30;
        device.cache = Bytes{50} << 20;
        device.compute_capability = "9.0";
        device.peers = {index ^ 1};  // pairs
        devices.list.push_back(device);
    }
    return devices;
}

InfoJson described(Devices const& devices, measure::DeviceUse const& use) {
    EXPECT_EQ(setenv("HWLOC_XMLFILE", DLMB_GPU_NODE, 1), 0);
    InfoJson json = describe_gpus(devices, use);
    EXPECT_EQ(unsetenv("HWLOC_XMLFILE"), 0);
    return json;
}

InfoJson info_with(InfoJson gpus) {
    return {{"version", "dlmb_info 1.2.3"},
            {"machine", {{"cpu_model", "Example CPU"}}},
            {"warnings", InfoJson::array()},
            {"gpus", std::move(gpus)},
            {"memory",
             {{{"name", "host"}, {"usable", true}, {"reason", ""}},
              {{"name", "cuda"}, {"usable", false}, {"reason", "no CUDA device"}}}},
            {"backends",
             {{{"name", "mpi"},
               {"built", true},
               {"usable", true},
               {"memory", {"host", "pinned"}},
               {"no_memory", {{"cuda", "MPI takes no device memory"}}},
               {"facts", {{"mpi_gpu_path", "staged"}, {"mpi_gpu_reason", "MPIX_Query_cuda_support says no"}}}},
              {{"name", "nccl"}, {"built", true}, {"usable", false}, {"reason", "no CUDA device"}}}}};
}

TEST(Info, DescribesEveryDeviceWithItsAdaptersNearestFirst) {
    Devices const devices = eight_gpus();
    InfoJson const json = described(devices, {devices.list[5], "--device", "13.0", "13.1"});
    ASSERT_EQ(json["devices"].size(), 8U);
    EXPECT_EQ(json["devices"][5]["pci_bus_id"], "0000:94:00.0");
    EXPECT_EQ(json["devices"][5]["memory_bytes"], Bytes{80} << 30);
    EXPECT_EQ(json["devices"][5]["peers"], InfoJson::array({4}));
    EXPECT_EQ(json["used_by_this_rank"]["index"], 5);
    EXPECT_EQ(json["used_by_this_rank"]["reason"], "--device");
    InfoJson const& nics = json["devices"][5]["nics"];
    ASSERT_EQ(nics.size(), DLMB_HAVE_HWLOC != 0 ? 5U : 0U);
    if (!nics.empty()) {
        EXPECT_EQ(nics[0]["names"], "ib2 mlx5_2");
        EXPECT_EQ(nics[0]["meeting_point"], "PCI switch");
    }
}

TEST(Info, TextHasDevicesAndAPeerMatrix) {
    Devices devices = eight_gpus();
    devices.list.resize(2);
    std::string const text = info_text(info_with(described(devices, {})));
    EXPECT_THAT(text, HasSubstr("CUDA                 runtime 13.0, driver 13.1"));
    EXPECT_THAT(text, HasSubstr("0 0000:13:00.0       Example GPU, "));
    EXPECT_THAT(text, HasSubstr("compute capability 9.0, NUMA node 0"));
    EXPECT_THAT(text, HasSubstr("                          0   1\n"));
    EXPECT_THAT(text, HasSubstr("    0                     -   x\n"));
}

TEST(Info, TextSaysWhyThereIsNoDeviceAndWhatBackendsDoWithDeviceMemory) {
    std::string const text = info_text(info_with(described({{}, "no CUDA device: no driver", "13.0", "none"}, {})));
    EXPECT_THAT(text, HasSubstr("none                 no CUDA device: no driver"));
    EXPECT_THAT(text, HasSubstr("not on cuda        MPI takes no device memory"));
    EXPECT_THAT(text, HasSubstr("mpi_gpu_path       = staged"));
    EXPECT_THAT(text, HasSubstr("mpi_gpu_reason     = MPIX_Query_cuda_support says no"));
    EXPECT_THAT(text, HasSubstr("nccl                 no CUDA device"));
}

TEST(Info, TextHasNoLineThatNobodyReadsAndSaysOnceWhyMemoryIsNotHere) {
    InfoJson info = info_with(described({{}, "no CUDA device: no driver", "13.0", "none"}, {}));
    InfoJson& mpi = info["backends"][0];
    mpi["no_memory"] = {{"cuda", "no CUDA device"}, {"managed", "no pages"}, {"nccl", "no pages"}};
    std::string knobs;
    for (int i = 0; i < 80; ++i) {
        knobs += fmt::format("allreduce=algorithm_{},{}", i, i % 7 == 0 ? " " : "");
    }
    mpi["methods"] = {{{"name", "algorithm"},
                       {"description", "an algorithm of the library"},
                       {"knobs", knobs},
                       {"bitwise_stable", {{"arrival", InfoJson::array()}}}}};
    std::string const text = info_text(info);
    EXPECT_THAT(text, HasSubstr("    not here           cuda: see memory above\n"));
    EXPECT_THAT(text, HasSubstr("    not on managed, nccl no pages\n"));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(line.size(), 100U) << line;
    }
    for (int i = 0; i < 80; ++i) {
        EXPECT_THAT(text, HasSubstr(fmt::format("=algorithm_{},", i))) << "a word was cut: " << i;
    }
}

TEST(Info, KnowsMemoryAndMethodsOfABackend) {
    in_process::run_ranks(1, [](Bootstrap& bootstrap) {
        for (BackendEntry const& entry : backend_entries()) {
            if (entry.name == "in_process") {
                InfoJson const json = describe_backend(entry, {bootstrap}, describe_memory());
                EXPECT_TRUE(json["usable"].get<bool>());
                EXPECT_EQ(json["memory"][0], "host");
                EXPECT_FALSE(json["methods"].empty());
                InfoJson const nothing_here = {{{"name", "host"}, {"usable", false}, {"reason", "none is left"}}};
                InfoJson const without = describe_backend(entry, {bootstrap}, nothing_here);
                EXPECT_EQ(without["memory"].size(), 0U) << "a backend that could is not usable on what is not here";
                EXPECT_EQ(without["no_memory"]["host"], "none is left");
            }
        }
    });
}

TEST(Info, SaysWhichSumsHaveTheSameBits) {
    in_process::run_ranks(1, [](Bootstrap& bootstrap) {
        auto const entries = backend_entries();
        auto const entry = std::find_if(entries.begin(), entries.end(),
                                        [](BackendEntry const& each) { return each.name == "in_process"; });
        InfoJson const json = describe_backend(*entry, {bootstrap}, describe_memory());
        for (InfoJson const& method : json["methods"]) {
            InfoJson const& stable = method["bitwise_stable"];
            EXPECT_EQ(stable["arrival"].empty(), method["name"] == "switch_single") << method;
            EXPECT_EQ(stable["arrival"], stable["runs"]) << method;
        }
    });
}

TEST(Info, LintListsTheSizesThatAModelTells) {
    ModelShape model;
    model.source = "config.json";
    EXPECT_EQ(lint_text(lint_json(model, {})), "config.json: tells no sizes\n");
    model.hidden = 4096;
    model.layers = 32;
    model.heads = 32;
    model.kv_heads = 8;
    model.head_dim = 128;
    model.mlp = 14336;
    model.vocabulary = 128256;
    EXPECT_EQ(lint_json(model, {})["sizes"], (InfoJson{{"hidden", 4096},
                                                       {"layers", 32},
                                                       {"heads", 32},
                                                       {"key-value heads", 8},
                                                       {"mlp", 14336},
                                                       {"vocabulary", 128256}}));
    EXPECT_EQ(lint_text(lint_json(model, {})), "config.json: hidden 4096, layers 32, heads 32, key-value heads 8, "
                                               "mlp 14336, vocabulary 128256, which all fit\n");
    model.experts = 9;
    model.recommendation.tables.resize(26, {1000, 32});
    InfoJson const more = lint_json(model, parse_parallelism("ep=2", "--parallel"));
    EXPECT_EQ(more["sizes"]["experts"], 9);
    EXPECT_EQ(more["sizes"]["tables"], 26);
    EXPECT_FALSE(more["fits"].get<bool>());
    EXPECT_THAT(lint_text(more), HasSubstr(", experts 9, tables 26, 1 finding\n"));
}

// Llama 2, arXiv 2307.09288.
TEST(Info, LintListsTheSizesThatAPresetTells) {
    std::array const types{&moe_alltoall::type(), &tp_allreduce::type()};
    EXPECT_EQ(lint_json(model_of_presets("llama-70b", types), {})["sizes"],
              (InfoJson{{"hidden", 8192}, {"layers", 80}, {"vocabulary", 32000}}));
    EXPECT_THROW((void)model_of_presets("llama-71b", types), UsageError);
}

TEST(Info, WhatAMethodLeavesToTheDefaultIsAsStableAsThat) {
    std::array<MethodInfo, 2> const methods{
        {{"plain", "in rank order", every_operation, "", false, {.over_arrival = {OperationKind::all_reduce}}},
         {"fast", "as they come", {OperationKind::all_reduce}}}};
    auto const stable = [&](std::string_view method, std::vector<OperationKind> const& kinds) {
        return stability_of(methods, method, kinds);
    };
    EXPECT_EQ(stable("plain", {OperationKind::all_reduce, OperationKind::exchange}), "runs arrival");
    EXPECT_EQ(stable("fast", {OperationKind::all_reduce}), "not stated");
    EXPECT_EQ(stable("plain", {OperationKind::all_reduce, OperationKind::reduce}), "not stated");
    EXPECT_EQ(stable("fast", {OperationKind::exchange}), "") << "nothing is added";
}

}  // namespace
}  // namespace dlmb::run
