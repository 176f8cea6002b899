// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/launcher.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"

namespace dlmb::app {

bool mpi_in_this_build() {
    return true;
}

int run_under_launcher(int argc, char** argv, std::function<int(Bootstrap&)> const& body) {
    MpiSession const session(argc, argv);
    std::unique_ptr<Bootstrap> const bootstrap = make_mpi_bootstrap();
    return body(*bootstrap);
}

}  // namespace dlmb::app
