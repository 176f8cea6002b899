// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/device_path_note.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::app {

void note_device_path(Bootstrap const& bootstrap, std::span<RequestedBackend const> backends, Options const& options) {
    bool const on_device = std::any_of(options.memory.begin(), options.memory.end(), [](MemoryKind kind) {
        return kind == MemoryKind::cuda || kind == MemoryKind::nccl;
    });
    if (bootstrap.rank() != 0 || !on_device) {
        return;
    }
    for (RequestedBackend const& requested : backends) {
        Provenance const facts = requested.backend == nullptr ? Provenance{} : requested.backend->provenance();
        auto const path = facts.find("mpi_gpu_path");
        if (path != facts.end() && path->second != "host") {
            fmt::print(stderr, "{}: path of device memory: {} ({})\n", requested.name, path->second,
                       facts.at("mpi_gpu_reason"));
        }
    }
}

}  // namespace dlmb::app
