// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/call_log.hpp"

#include <string>

namespace dlmb::fake_gpu {
namespace {

struct Log {
    bool open = false;
    std::string lines;
};

Log& log() {
    thread_local Log log;
    return log;
}

}  // namespace

void note_call(std::string_view call, std::string_view detail) {
    if (!log().open) {
        return;
    }
    log().lines += call;
    if (!detail.empty()) {
        log().lines += ' ';
        log().lines += detail;
    }
    log().lines += '\n';
}

}  // namespace dlmb::fake_gpu

void dlmb_fake_gpu_log_calls() {
    dlmb::fake_gpu::log() = {true, {}};
}

char const* dlmb_fake_gpu_logged_calls() {
    dlmb::fake_gpu::log().open = false;
    return dlmb::fake_gpu::log().lines.c_str();
}
