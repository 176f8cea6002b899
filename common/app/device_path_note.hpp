// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A line at the start of a launch on device memory: how MPI comes to it.
#pragma once

#include "common/app/launch_context.hpp"

namespace dlmb::app {

/// Rank 0 prints it on standard error, where there is a device, its memory is asked for and mpi runs.
void note_device_path(Bootstrap const& bootstrap, std::span<RequestedBackend const> backends, Options const& options);

}  // namespace dlmb::app
