// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/tuner.hpp"

#include "common/bootstrap/over_ranks.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <dlfcn.h>

namespace dlmb::nccl {

Tuner::Tuner(Bootstrap& bootstrap) : why_not_(first_refusal(bootstrap, open())) {}

std::string Tuner::open() {
    char const* const path = std::getenv("NCCL_TUNER_PLUGIN");
    if (path == nullptr) {
        return "NCCL_TUNER_PLUGIN is not set; give it the path of libnccl-tuner-dlmb.so";
    }
    // Never closed: NCCL has the same instance.
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        return fmt::format("NCCL_TUNER_PLUGIN={}: {}", path, dlerror());
    }
    auto const* const control = static_cast<nccl_tuner::Control const*>(dlsym(library, nccl_tuner::control_symbol));
    if (control == nullptr || control->version < nccl_tuner::control_version) {
        return fmt::format("NCCL_TUNER_PLUGIN={} is another tuner; give it the path of libnccl-tuner-dlmb.so", path);
    }
    control_ = control;
    return {};
}

}  // namespace dlmb::nccl
