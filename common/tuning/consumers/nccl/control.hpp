// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How a benchmark in the same process tells the plugin which choice to force, and learns whether NCCL took it: the data
// symbol dlmb_nccl_tuner_control. dlopen the path that NCCL_TUNER_PLUGIN names; the loader gives the same instance.
#pragma once

#include <cstdint>

namespace dlmb::nccl_tuner {

struct Counters {
    std::uint64_t calls;      // of get_coll_info
    std::uint64_t honoured;   // a rule or a forced choice was written
    std::uint64_t forbidden;  // there was one, but NCCL cannot run it here: what is measured then is something else
};

inline constexpr char const* control_symbol = "dlmb_nccl_tuner_control";

/// Whoever reads it checks `version` first; later versions only append.
struct Control {
    std::uint32_t version;      // 1
    std::uint32_t struct_size;  // sizeof(Control)
    /// From now on every collective takes this; channels 0: as many as NCCL likes. 0: done; -1: there is no such
    /// algorithm or protocol. Only while nothing is queued: NCCL asks when a collective is enqueued or captured.
    int (*force)(int algorithm, int protocol, int channels);
    /// Back to the rules of the file.
    void (*clear)();
    /// Since the plugin was loaded.
    Counters (*counters)();
};

}  // namespace dlmb::nccl_tuner
