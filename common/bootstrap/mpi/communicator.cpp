// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/mpi/communicator.hpp"

#include "common/bootstrap/mpi/mpi_check.hpp"

#include <exception>
#include <utility>

namespace dlmb::mpi {

Communicator::Communicator(MPI_Comm owned) : comm_(owned) {
    check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

// MPI_Comm_free is collective: while this rank unwinds the others may be anywhere, and the launch is about to be
// aborted.
void Communicator::release() noexcept {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (comm_ != MPI_COMM_NULL && finalized == 0 && std::uncaught_exceptions() == 0) {
        MPI_Comm_free(&comm_);
    }
    comm_ = MPI_COMM_NULL;
}

int Communicator::rank() const {
    int rank = 0;
    check(MPI_Comm_rank(comm_, &rank), "MPI_Comm_rank");
    return rank;
}

int Communicator::size() const {
    int size = 0;
    check(MPI_Comm_size(comm_, &size), "MPI_Comm_size");
    return size;
}

Communicator duplicate(MPI_Comm parent) {
    MPI_Comm comm = MPI_COMM_NULL;
    check(MPI_Comm_dup(parent, &comm), "MPI_Comm_dup");
    return Communicator(comm);
}

Communicator duplicate(MPI_Comm parent, InfoKey const& info) {
    MPI_Info handle = MPI_INFO_NULL;
    check(MPI_Info_create(&handle), "MPI_Info_create");
    check(MPI_Info_set(handle, info.key.c_str(), info.value.c_str()), "MPI_Info_set");
    MPI_Comm comm = MPI_COMM_NULL;
    check(MPI_Comm_dup_with_info(parent, handle, &comm), "MPI_Comm_dup_with_info");
    check(MPI_Info_free(&handle), "MPI_Info_free");
    return Communicator(comm);
}

Communicator create_group(MPI_Comm parent, std::span<int const> members) {
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group chosen = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    check(MPI_Comm_group(parent, &all), "MPI_Comm_group");
    check(MPI_Group_incl(all, static_cast<int>(members.size()), members.data(), &chosen), "MPI_Group_incl");
    check(MPI_Comm_create_group(parent, chosen, 0, &comm), "MPI_Comm_create_group");
    check(MPI_Group_free(&chosen), "MPI_Group_free");
    check(MPI_Group_free(&all), "MPI_Group_free");
    return Communicator(comm);
}

}  // namespace dlmb::mpi
