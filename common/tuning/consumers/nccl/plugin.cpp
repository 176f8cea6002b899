// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The symbols that NCCL and DLMB look up in libnccl-tuner-dlmb.so. Nothing here fails: an error of a tuner would fail
// the collective.
#include "common/tuning/consumers/nccl/tuner.hpp"

namespace dlmb::nccl_tuner {
namespace {

constexpr char const* plugin_name = "DLMB";

Call call_of(int function, std::size_t bytes) {
    return {function, bytes, 0, 0};
}

Result init(void** context, std::size_t ranks, std::size_t nodes, Logger logger) {
    try {
        *context = new Tuner(ranks, nodes, logger);
    } catch (...) {
        *context = nullptr;  // no memory: no choice
    }
    return success;
}

Result init_v2(std::size_t ranks, std::size_t nodes, Logger logger, void** context) {
    return init(context, ranks, nodes, logger);
}

Result init_v5(void** context, std::uint64_t, std::size_t ranks, std::size_t nodes, Logger logger, void*, void*) {
    return init(context, ranks, nodes, logger);
}

Result destroy(void* context) {
    delete static_cast<Tuner*>(context);
    return success;
}

Result get_v2(void* context, int function, std::size_t bytes, int has_collnet, int has_nvls, int /*pipe_ops*/,
              int* algorithm, int* protocol, int* channels) {
    if (context != nullptr) {
        static_cast<Tuner const*>(context)->write(call_of(function, bytes), has_collnet != 0, has_nvls != 0, algorithm,
                                                  protocol, channels);
    }
    return success;
}

Result get_v4(void* context, int function, std::size_t bytes, int /*pipe_ops*/, float** costs, int algorithms,
              int protocols, int /*registered*/, int* channels) {
    if (context != nullptr) {
        static_cast<Tuner const*>(context)->write(call_of(function, bytes), reinterpret_cast<float*>(costs), algorithms,
                                                  protocols, channels);
    }
    return success;
}

Result get_v3(void* context, int function, std::size_t bytes, int pipe_ops, float** costs, int algorithms,
              int protocols, int* channels) {
    return get_v4(context, function, bytes, pipe_ops, costs, algorithms, protocols, 0, channels);
}

int force(int function, int algorithm, int protocol, int channels) {
    if (function < 0 || function >= function_count || algorithm < 0 || algorithm >= algorithm_count || protocol < 0 ||
        protocol >= protocol_count || channels < 0) {
        return -1;
    }
    forced[static_cast<std::size_t>(function)].store(
        {static_cast<std::int16_t>(algorithm), static_cast<std::int16_t>(protocol), channels});
    forcing.store(true, std::memory_order_release);
    return 0;
}

void clear() {
    forcing.store(false, std::memory_order_release);
    for (std::atomic<Forced>& each : forced) {
        each.store({});
    }
}

Counters counters() {
    return {calls.load(), honoured.load(), refused.load()};
}

}  // namespace
}  // namespace dlmb::nccl_tuner

namespace tuner = dlmb::nccl_tuner;

extern "C" {
// The names are NCCL's.
// NOLINTBEGIN(readability-identifier-naming)
extern tuner::PluginV2 const ncclTunerPlugin_v2;
extern tuner::PluginV3 const ncclTunerPlugin_v3;
extern tuner::PluginV4 const ncclTunerPlugin_v4;
extern tuner::PluginV5 const ncclTunerPlugin_v5;
extern tuner::PluginV6 const ncclTunerPlugin_v6;
extern tuner::Control const dlmb_nccl_tuner_control;
tuner::PluginV2 const ncclTunerPlugin_v2{tuner::plugin_name, tuner::init_v2, tuner::get_v2, tuner::destroy};
tuner::PluginV3 const ncclTunerPlugin_v3{tuner::plugin_name, tuner::init_v2, tuner::get_v3, tuner::destroy};
tuner::PluginV4 const ncclTunerPlugin_v4{tuner::plugin_name, tuner::init_v2, tuner::get_v4, tuner::destroy};
tuner::PluginV5 const ncclTunerPlugin_v5{tuner::plugin_name, tuner::init_v5, tuner::get_v4, tuner::destroy};
tuner::PluginV6 const ncclTunerPlugin_v6{tuner::plugin_name, tuner::init_v5, tuner::get_v4, tuner::destroy, nullptr};
tuner::Control const dlmb_nccl_tuner_control{tuner::control_version, sizeof(tuner::Control), tuner::force, tuner::clear,
                                             tuner::counters};
// NOLINTEND(readability-identifier-naming)
}
