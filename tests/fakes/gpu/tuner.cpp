// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/tuner.hpp"

#include "common/tools/tune/consumers/nccl/tuner_abi.hpp"
#include "tests/fakes/gpu/settings.hpp"
#include "tests/fakes/gpu/wrong_use.hpp"

#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <optional>
#include <string>

namespace dlmb::fake_gpu {
namespace {

using nccl_tuner::ll128;
using nccl_tuner::pat;
using nccl_tuner::PluginV5;
using nccl_tuner::ring;
using nccl_tuner::simple;
using nccl_tuner::tree;

std::mutex mutex;
TunedChoice newest;

void log(int, unsigned long, char const*, int, char const*, ...) {}

/// nullptr: NCCL_TUNER_PLUGIN is not set.
PluginV5 const* plugin() {
    static auto const* const loaded = []() -> PluginV5 const* {
        char const* const path = std::getenv("NCCL_TUNER_PLUGIN");
        void* const library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (path != nullptr && library == nullptr) {
            wrong_use(std::string("NCCL_TUNER_PLUGIN: ") + dlerror());
        }
        return library == nullptr ? nullptr : static_cast<PluginV5 const*>(dlsym(library, "ncclTunerPlugin_v5"));
    }();
    return loaded;
}

struct Asked {
    int function;
    std::size_t bytes;
};

/// nBytes is that of the larger of the two buffers.
std::optional<Asked> asked(Operation const& operation, std::size_t ranks) {
    std::size_t const bytes = operation.count * element_size(operation.type).value_or(0);
    switch (operation.call) {
    case Call::all_reduce:
        return Asked{nccl_tuner::all_reduce, bytes};
    case Call::broadcast:
        return Asked{nccl_tuner::broadcast, bytes};
    case Call::reduce:
        return Asked{nccl_tuner::reduce, bytes};
    case Call::all_gather:
        return Asked{nccl_tuner::all_gather, bytes * ranks};
    case Call::reduce_scatter:
        return Asked{nccl_tuner::reduce_scatter, bytes * ranks};
    case Call::none:
    case Call::message:
    case Call::all_to_all:
    case Call::put:
    case Call::wait_signal:
        break;
    }
    return std::nullopt;
}

/// As on a machine without NVLink SHARP and network reductions, and of which LL128 is not known to be safe.
bool is_possible(int function, int algorithm, int protocol) {
    bool const of_parts = function == nccl_tuner::all_gather || function == nccl_tuner::reduce_scatter;
    bool const has_algorithm = algorithm == ring || (algorithm == tree && function == nccl_tuner::all_reduce) ||
                               (algorithm == pat && of_parts && protocol == simple);
    return has_algorithm && protocol != ll128;
}

}  // namespace

Tuner::Tuner(std::size_t ranks, std::size_t nodes) : ranks_(ranks) {
    if (plugin() != nullptr &&
        plugin()->init(&context_, 0, ranks, nodes, log, nullptr, nullptr) != nccl_tuner::success) {
        wrong_use("the tuner plugin fails to start");
    }
}

Tuner::~Tuner() {
    if (plugin() != nullptr) {
        plugin()->finalize(context_);
    }
}

void Tuner::choose(Operation const& operation) {
    auto const call = asked(operation, ranks_);
    if (!call || ranks_ == 1 || call->bytes == 0 || !asks_tuner()) {
        return;
    }
    std::array<float, std::size_t{nccl_tuner::algorithm_count} * nccl_tuner::protocol_count> costs{};
    for (std::size_t i = 0; i < costs.size(); ++i) {
        bool const possible = is_possible(call->function, static_cast<int>(i) / nccl_tuner::protocol_count,
                                          static_cast<int>(i) % nccl_tuner::protocol_count);
        costs[i] = possible ? static_cast<float>(100 - i) : nccl_tuner::forbidden;
    }
    int channels = 0;
    if (plugin() != nullptr &&
        plugin()->get_coll_info(context_, call->function, call->bytes, 1, reinterpret_cast<float**>(costs.data()),
                                nccl_tuner::algorithm_count, nccl_tuner::protocol_count, 0,
                                &channels) != nccl_tuner::success) {
        wrong_use("the tuner plugin fails a collective");
    }
    std::size_t best = costs.size();
    for (std::size_t i = 0; i < costs.size(); ++i) {
        if (costs[i] >= 0 && (best == costs.size() || costs[i] < costs[best])) {
            best = i;
        }
    }
    std::lock_guard const lock(mutex);
    newest = {static_cast<int>(best) / nccl_tuner::protocol_count, static_cast<int>(best) % nccl_tuner::protocol_count,
              channels};
}

}  // namespace dlmb::fake_gpu

void dlmb_fake_gpu_tuned_choice(dlmb::fake_gpu::TunedChoice* choice) {
    std::lock_guard const lock(dlmb::fake_gpu::mutex);
    *choice = dlmb::fake_gpu::newest;
}
