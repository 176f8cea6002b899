// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/exporters/mpich_algorithms.hpp"

#include <algorithm>
#include <array>

namespace dlmb::tuning {
namespace {

using enum MpiCollective;

constexpr std::array mpich_algorithm_table{
    MpichAlgorithm{allgather, "brucks", "MPIR_Allgather_intra_brucks", MpichGuard::none},
    MpichAlgorithm{allgather, "nb", "MPIR_Allgather_allcomm_nb", MpichGuard::none},
    MpichAlgorithm{allgather, "recursive_doubling", "MPIR_Allgather_intra_recursive_doubling",
                   MpichGuard::power_of_two},
    MpichAlgorithm{allgather, "ring", "MPIR_Allgather_intra_ring", MpichGuard::none},
    MpichAlgorithm{allreduce, "nb", "MPIR_Allreduce_allcomm_nb", MpichGuard::none},
    MpichAlgorithm{allreduce, "recursive_doubling", "MPIR_Allreduce_intra_recursive_doubling", MpichGuard::none},
    MpichAlgorithm{allreduce, "reduce_scatter_allgather", "MPIR_Allreduce_intra_reduce_scatter_allgather",
                   MpichGuard::built_in_and_long},
    MpichAlgorithm{allreduce, "smp", "MPIR_Allreduce_intra_smp", MpichGuard::commutative},
    MpichAlgorithm{alltoall, "brucks", "MPIR_Alltoall_intra_brucks", MpichGuard::not_in_place},
    MpichAlgorithm{alltoall, "nb", "MPIR_Alltoall_allcomm_nb", MpichGuard::none},
    MpichAlgorithm{alltoall, "pairwise", "MPIR_Alltoall_intra_pairwise", MpichGuard::not_in_place},
    MpichAlgorithm{alltoall, "scattered", "MPIR_Alltoall_intra_scattered", MpichGuard::not_in_place},
    MpichAlgorithm{alltoallv, "nb", "MPIR_Alltoallv_allcomm_nb", MpichGuard::none},
    MpichAlgorithm{alltoallv, "scattered", "MPIR_Alltoallv_intra_scattered", MpichGuard::not_in_place},
    MpichAlgorithm{bcast, "binomial", "MPIR_Bcast_intra_binomial", MpichGuard::none},
    MpichAlgorithm{bcast, "nb", "MPIR_Bcast_allcomm_nb", MpichGuard::none},
    MpichAlgorithm{bcast, "scatter_recursive_doubling_allgather",
                   "MPIR_Bcast_intra_scatter_recursive_doubling_allgather", MpichGuard::none},
    MpichAlgorithm{bcast, "scatter_ring_allgather", "MPIR_Bcast_intra_scatter_ring_allgather", MpichGuard::none},
    MpichAlgorithm{bcast, "smp", "MPIR_Bcast_intra_smp", MpichGuard::hierarchy},
    MpichAlgorithm{reduce_scatter_block, "nb", "MPIR_Reduce_scatter_block_allcomm_nb", MpichGuard::none},
    MpichAlgorithm{reduce_scatter_block, "noncommutative", "MPIR_Reduce_scatter_block_intra_noncommutative",
                   MpichGuard::power_of_two},
    MpichAlgorithm{reduce_scatter_block, "pairwise", "MPIR_Reduce_scatter_block_intra_pairwise",
                   MpichGuard::commutative},
    MpichAlgorithm{reduce_scatter_block, "recursive_doubling", "MPIR_Reduce_scatter_block_intra_recursive_doubling",
                   MpichGuard::none},
    MpichAlgorithm{reduce_scatter_block, "recursive_halving", "MPIR_Reduce_scatter_block_intra_recursive_halving",
                   MpichGuard::commutative},
};

}  // namespace

MpichAlgorithm const* mpich_algorithm(MpiCollective collective, std::string_view name) {
    auto const found =
        std::find_if(mpich_algorithm_table.begin(), mpich_algorithm_table.end(),
                     [&](MpichAlgorithm const& one) { return one.collective == collective && one.name == name; });
    return found == mpich_algorithm_table.end() ? nullptr : &*found;
}

}  // namespace dlmb::tuning
