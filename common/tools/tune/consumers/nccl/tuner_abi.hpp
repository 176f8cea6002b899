// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The interface that NCCL expects of a tuner plugin: data symbols ncclTunerPlugin_v2 (2.21) to ncclTunerPlugin_v6
// (2.30), of which it takes the newest that it knows. nccl.h declares none of this. Source:
// plugins/tuner/example/nccl/tuner.h and src/include/plugin/tuner of NCCL 2.21 to 2.30 (facts only; the names of
// versions 2 to 6 are NCCL's).
#pragma once

#include "common/formats/table/nccl_tuner_control.hpp"

#include <cstddef>
#include <cstdint>

namespace dlmb::nccl_tuner {

/// ncclResult_t. An error of a tuner fails the collective, so ours knows no other.
enum Result : int { success = 0 };

/// ncclDebugLogger_t; levels: 3 information; subsystems: 64 tuning.
using Logger = void (*)(int level, unsigned long subsystem, char const* file, int line, char const* format, ...);
inline constexpr int log_warning = 2;
inline constexpr int log_information = 3;
inline constexpr unsigned long log_tuning = 64;

/// In a cost table: the library cannot or may not run this pair.
inline constexpr float forbidden = -1.0F;

using InitV2 = Result (*)(std::size_t ranks, std::size_t nodes, Logger logger, void** context);
/// `nvlink` and `constants` are NCCL's structures of the NVLink domain and of its cost model; ours reads neither.
using InitV5 = Result (*)(void** context, std::uint64_t communicator, std::size_t ranks, std::size_t nodes,
                          Logger logger, void* nvlink, void* constants);
/// `costs`: really a flat float[algorithms][protocols], whatever its type says.
using GetCollInfoV4 = Result (*)(void* context, int function, std::size_t bytes, int pipe_ops, float** costs,
                                 int algorithms, int protocols, int registered, int* channels);
using Destroy = Result (*)(void* context);

struct PluginV2 {
    char const* name;
    InitV2 init;
    Result (*get_coll_info)(void* context, int function, std::size_t bytes, int collnet, int nvls, int pipe_ops,
                            int* algorithm, int* protocol, int* channels);
    Destroy destroy;
};

struct PluginV3 {
    char const* name;
    InitV2 init;
    Result (*get_coll_info)(void* context, int function, std::size_t bytes, int pipe_ops, float** costs, int algorithms,
                            int protocols, int* channels);
    Destroy destroy;
};

struct PluginV4 {
    char const* name;
    InitV2 init;
    GetCollInfoV4 get_coll_info;
    Destroy destroy;
};

struct PluginV5 {
    char const* name;
    InitV5 init;
    GetCollInfoV4 get_coll_info;
    Destroy finalize;
};

struct PluginV6 {
    char const* name;
    InitV5 init;
    GetCollInfoV4 get_coll_info;
    Destroy finalize;
    /// May be null.
    Result (*get_chunk_size)(void* context, int function, std::size_t bytes, int algorithm, int protocol, int channels,
                             std::size_t* chunk_bytes);
};

static_assert(sizeof(PluginV5) == 32 && sizeof(PluginV6) == 40);

}  // namespace dlmb::nccl_tuner
