// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/benchmarks/collective_overhead/native_loop.hpp"

#include "common/base/clock.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/mpi/mpi_check.hpp"
#include "tests/benchmarks/alltoallv_side.hpp"

#include <utility>
#include <vector>

namespace dlmb::benchmark {
namespace {

using mpi::check;
using Loop = std::function<void(int)>;

/// Return codes are checked as any careful program would.
class LoopMaker {
public:
    LoopMaker(Plan const& plan, Buffers const& buffers, MPI_Comm comm, bool clocked)
        : buffers_(buffers), comm_(comm), clocked_(clocked), ranks_(plan.groups.at(0).members.size()) {}

    Loop operator()(Collective const& step) const {
        void* const send = at(step.send);
        void* const recv = at(step.recv);
        int const whole = count(step.bytes);
        int const part = count(step.bytes / ranks_);
        switch (step.shares.empty() ? step.kind : OperationKind::compute) {
        case OperationKind::all_reduce:
            return repeat([=, comm = comm_] {
                check(MPI_Allreduce(send, recv, whole, MPI_FLOAT, MPI_SUM, comm), "MPI_Allreduce");
            });
        case OperationKind::reduce_scatter:
            return repeat([=, comm = comm_] {
                check(MPI_Reduce_scatter_block(send, recv, part, MPI_FLOAT, MPI_SUM, comm), "MPI_Reduce_scatter_block");
            });
        case OperationKind::all_gather:
            return repeat([=, comm = comm_] {
                check(MPI_Allgather(send, part, MPI_FLOAT, recv, part, MPI_FLOAT, comm), "MPI_Allgather");
            });
        case OperationKind::broadcast:
            return repeat([=, root = step.root, comm = comm_] {
                check(MPI_Bcast(recv, whole, MPI_FLOAT, root, comm), "MPI_Bcast");
            });
        default:
            throw Error("no native loop for this collective");
        }
    }
    Loop operator()(Exchange const& step) const {
        return repeat([send = side(step.send, buffers_.base.at(step.send_buffer), ranks_),
                       recv = side(step.recv, buffers_.base.at(step.recv_buffer), ranks_), comm = comm_] {
            check(MPI_Alltoallv(send.base, send.counts.data(), send.offsets.data(), MPI_BYTE, recv.base,
                                recv.counts.data(), recv.offsets.data(), MPI_BYTE, comm),
                  "MPI_Alltoallv");
        });
    }
    template <class Other>
    Loop operator()(Other const& /*step*/) const {
        throw Error("no native loop for this operation");
    }

private:
    template <class Call>
    Loop repeat(Call call) const {
        if (clocked_) {
            return [call = std::move(call)](int iterations) {
                for (int i = 0; i < iterations; ++i) {
                    call();
                    (void)now_ns();
                }
            };
        }
        return [call = std::move(call)](int iterations) {
            for (int i = 0; i < iterations; ++i) {
                call();
            }
        };
    }

    [[nodiscard]] std::byte* at(Region const& region) const { return buffers_.base.at(region.buffer) + region.offset; }
    static int count(Bytes bytes) { return static_cast<int>(bytes / size_of(Element::fp32)); }

    Buffers const& buffers_;
    MPI_Comm comm_;
    bool clocked_;
    std::size_t ranks_;
};

}  // namespace

Loop native_loop(Plan const& plan, Buffers const& buffers, MPI_Comm comm, bool clocked) {
    return std::visit(LoopMaker(plan, buffers, comm, clocked), plan.steps.at(0).operation);
}

}  // namespace dlmb::benchmark
