// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "common/run/launcher/launcher.hpp"

#include <cstdlib>

namespace dlmb::run {

bool mpi_in_this_build() {
    return true;
}

void offer_library_algorithms() {
    constexpr int keep = 0;  // what the user has set
    if (setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", keep) != 0) {
        throw Error("setenv of OMPI_MCA_coll_tuned_use_dynamic_rules failed");
    }
}

int run_under_launcher(int argc, char** argv, std::string_view thread_level, LaunchBody const& body) {
    MpiSession const session(argc, argv, thread_level);
    std::unique_ptr<Bootstrap> const bootstrap = make_mpi_bootstrap();
    return body(*bootstrap, session.init_ns());
}

}  // namespace dlmb::run
