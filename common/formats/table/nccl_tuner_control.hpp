// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How a benchmark tells libnccl-tuner-dlmb.so, which NCCL has loaded into the same process, which choice to force, and
// learns whether NCCL took it: the data symbol dlmb_nccl_tuner_control. dlopen the path that NCCL_TUNER_PLUGIN names;
// the loader gives the same instance. Numbers and names of functions, algorithms and protocols are NCCL's
// (common/tools/tune/consumers/nccl/tuner_abi.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace dlmb::nccl_tuner {

/// ncclFunc_t of those that are tuned.
enum Function : int { broadcast, reduce, all_gather, reduce_scatter, all_reduce, function_count };
/// NCCL_ALGO_* and NCCL_PROTO_*; pat came with 2.23.
enum Algorithm : int { tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree, pat };
enum Protocol : int { ll, ll128, simple };
inline constexpr int algorithm_count = pat + 1;
inline constexpr int protocol_count = simple + 1;
inline constexpr std::array<std::string_view, algorithm_count> algorithm_names{
    "tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"};
inline constexpr std::array<std::string_view, protocol_count> protocol_names{"ll", "ll128", "simple"};

/// Since the plugin was loaded.
struct Counters {
    std::uint64_t calls;      // of get_coll_info
    std::uint64_t honoured;   // a rule or a forced choice was written
    std::uint64_t forbidden;  // there was one, but NCCL cannot run it here: what is measured then is something else
};

inline constexpr char const* control_symbol = "dlmb_nccl_tuner_control";
inline constexpr std::uint32_t control_version = 1;

/// Whoever reads it checks `version` first; later versions only append.
struct Control {
    std::uint32_t version;
    std::uint32_t struct_size;  // sizeof(Control)
    /// From now on this function takes this; channels 0: as many as NCCL likes. Until clear() the rules of the file
    /// rest, so that other functions are NCCL's own decision. 0: done; -1: there is no such function, algorithm or
    /// protocol. Only while nothing is queued: NCCL asks when a collective is enqueued or captured.
    int (*force)(int function, int algorithm, int protocol, int channels);
    /// Back to the rules of the file.
    void (*clear)();
    Counters (*counters)();
};

}  // namespace dlmb::nccl_tuner
