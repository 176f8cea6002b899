// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Every receive posted, then every send, then one wait for all. Also carries plain Send and Recv steps, and exchanges
// whose counts no other call of an MPI-3 library can express.
#pragma once

#include "common/backends/mpi/messages.hpp"

#include <mpi.h>

namespace dlmb::mpi {

class IsendIrecv {
public:
    IsendIrecv(std::vector<Message> messages, SelfCopy copy, int tag, MPI_Comm comm);
    void start();
    void wait();
    [[nodiscard]] bool test();

private:
    std::vector<Message> messages_;  // receives first: an early message finds its buffer
    std::vector<MPI_Request> requests_;
    SelfCopy copy_;
    int tag_;
    MPI_Comm comm_;
};

/// Posts one message.
void post(Message const& message, int tag, MPI_Comm comm, MPI_Request& request);

/// The messages of an exchange on a communicator where this rank is `me`: receives, then sends, both rotated.
[[nodiscard]] std::vector<Message> messages_of(Exchange const& exchange, Buffers const& buffers, int me,
                                               Limits const& limits);

}  // namespace dlmb::mpi
