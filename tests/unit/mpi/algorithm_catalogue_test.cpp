// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Names and ids of MPICH's algorithms in the descriptions of its variables. The ids expected are those of the enums in
// mpir_cvars.h of the same version.
#include "common/backends/mpi/algorithm_catalogue.hpp"

#include <gtest/gtest.h>

namespace dlmb::mpi {
namespace {

TEST(MpichAlgorithms, AreReadLineByLineAndThoseWithParametersAreLeftOut) {
    EXPECT_EQ(
        mpich_algorithms_in("Variable to select allreduce algorithm\n"
                            "auto - Internal algorithm selection (can be overridden)\n"
                            "nb                       - Force nonblocking algorithm\n"
                            "smp                      - Force smp algorithm\n"
                            "recursive_doubling       - Force recursive doubling algorithm\n"
                            "recursive_multiplying    - Force recursive multiplying algorithm\n"
                            "reduce_scatter_allgather - Force reduce scatter allgather algorithm\n"
                            "tree                     - Force pipelined tree algorithm\n"
                            "recexch                  - Force generic transport recursive exchange algorithm\n"
                            "ring                     - Force ring algorithm\n"
                            "k_reduce_scatter_allgather - Force reduce scatter allgather algorithm\n"
                            "ccl                      - Force CCL algorithm"),
        (std::vector<NamedValue>{{"nb", 1}, {"recursive_doubling", 3}, {"reduce_scatter_allgather", 5}, {"ring", 8}}));
}

TEST(MpichAlgorithms, AreReadWhereNothingSeparatesANameFromTheWordsBeforeIt) {
    EXPECT_EQ(
        mpich_algorithms_in("Variable to select bcast algorithmauto - Internal algorithm selection (can be overridden)"
                            "binomial                                - Force Binomial Tree"
                            "nb                                      - Force nonblocking algorithm"
                            "smp                                     - Force smp algorithm"
                            "scatter_recursive_doubling_allgather    - Force Scatter Recursive-Doubling Allgather"
                            "scatter_ring_allgather                  - Force Scatter Ring"),
        (std::vector<NamedValue>{
            {"binomial", 1}, {"nb", 2}, {"scatter_recursive_doubling_allgather", 4}, {"scatter_ring_allgather", 5}}));
}

TEST(MpichAlgorithms, AreNoneInOtherText) {
    EXPECT_TRUE(mpich_algorithms_in("").empty());
    EXPECT_TRUE(mpich_algorithms_in("ring, nb and others").empty());
}

}  // namespace
}  // namespace dlmb::mpi
