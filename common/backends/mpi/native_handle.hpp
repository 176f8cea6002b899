// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Native objects of MPI that are freed with their owner, unless MPI has ended before.
#pragma once

#include <mpi.h>

#include <memory>

namespace dlmb::mpi {

template <class Native, int (*free)(Native*)>
struct FreeNative {
    void operator()(Native* object) const {
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (finalized == 0) {
            free(object);
        }
        delete object;
    }
};

using TypeHandle = std::unique_ptr<MPI_Datatype, FreeNative<MPI_Datatype, MPI_Type_free>>;
using GroupHandle = std::unique_ptr<MPI_Group, FreeNative<MPI_Group, MPI_Group_free>>;
using VariableHandle = std::unique_ptr<MPI_T_cvar_handle, FreeNative<MPI_T_cvar_handle, MPI_T_cvar_handle_free>>;

}  // namespace dlmb::mpi
