// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/wrong_use.hpp"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace dlmb::fake_gpu {

void wrong_use(std::string const& what) {
    std::fprintf(stderr, "GPU test double, process %d: %s\n", getpid(), what.c_str());
    std::abort();
}

}  // namespace dlmb::fake_gpu
