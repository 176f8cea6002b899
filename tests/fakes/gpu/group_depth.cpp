// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/group_depth.hpp"

#include "tests/fakes/gpu/wrong_use.hpp"

namespace dlmb::fake_gpu {
namespace {

thread_local int depth = 0;

}  // namespace

int& group_depth() {
    return depth;
}

void require_no_open_group(char const* call) {
    if (depth > 0) {
        wrong_use(std::string(call) + " inside a group: ncclGroupEnd is missing");
    }
}

}  // namespace dlmb::fake_gpu
