// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Method isend_irecv: every receive is posted, then every send, then one wait for all. It also does plain Send and Recv
// steps, and exchanges whose counts no other call of an MPI-3 library can express.
#include "common/backends/mpi/messages.hpp"

namespace dlmb::mpi {
namespace {

class IsendIrecv {
public:
    explicit IsendIrecv(StepMessages step)
        : step_(std::move(step)), requests_(step_.messages.size(), MPI_REQUEST_NULL) {}
    void start() {
        for (std::size_t i = 0; i < step_.messages.size(); ++i) {
            post(step_.messages[i], step_.tag, step_.comm, requests_[i]);
        }
        step_.self.start();
    }
    void wait() {
        wait_all(requests_);
        step_.self.wait();
    }
    [[nodiscard]] bool test() { return test_all(requests_) && step_.self.test(); }

private:
    StepMessages step_;
    std::vector<MPI_Request> requests_;
};

PreparedCall compile_isend_irecv(Operation const& operation, CompileContext const& context) {
    return PreparedCall(IsendIrecv(messages_of(operation, context)));
}

}  // namespace

Method isend_irecv() {
    return {.info = {"isend_irecv",
                     "MPI_Irecv from and MPI_Isend to every peer, one MPI_Waitall",
                     {OperationKind::exchange, OperationKind::send, OperationKind::recv}},
            .compile = compile_isend_irecv,
            .refusal = channel_refusal};
}

}  // namespace dlmb::mpi
