// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/run/launcher/launcher.hpp"

namespace dlmb::run {

bool mpi_in_this_build() {
    return false;
}

void offer_library_algorithms() {}

int run_under_launcher(int /*argc*/, char** /*argv*/, std::string_view /*thread_level*/, LaunchBody const& /*body*/) {
    throw UsageError(
        "this build has no MPI; configure with -DDLMB_WITH_MPI=ON, or start without a launcher and with --ranks N");
}

}  // namespace dlmb::run
