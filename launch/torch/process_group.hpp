// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// PyTorch's process group `dlmb`: its operations on tensors in host memory become single operations of DLMB. Functions
// check their tensors, hand the rest to the thread of MPI, and return. Wrong tensors throw before anything is sent.
#pragma once

#include "launch/torch/runtime.hpp"
#include "launch/torch/tensors.hpp"

#include <base.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

namespace dlmb::torch {

using WorkPointer = c10::intrusive_ptr<c10d::Work>;

class ProcessGroup final : public Base {
public:
    /// Collective over the group's processes, which find each other by `store`.
    ProcessGroup(std::shared_ptr<Runtime> runtime, c10::intrusive_ptr<c10d::Store> const& store, int rank, int size,
                 std::chrono::milliseconds timeout);

    std::string const getBackendName() const override { return "dlmb"; }

    WorkPointer broadcast(Tensors& tensors, c10d::BroadcastOptions const& options) override;
    WorkPointer allreduce(Tensors& tensors, c10d::AllreduceOptions const& options) override;
    WorkPointer allreduce_coalesced(Tensors& tensors, c10d::AllreduceCoalescedOptions const& options) override;
    WorkPointer reduce(Tensors& tensors, c10d::ReduceOptions const& options) override;
    WorkPointer allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                          c10d::AllgatherOptions const& options) override;
    WorkPointer _allgather_base(at::Tensor& output, at::Tensor& input, c10d::AllgatherOptions const& options) override;
    WorkPointer allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs,
                                    c10d::AllgatherOptions const& options) override;
    WorkPointer allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                c10d::AllgatherOptions const& options) override;
    WorkPointer gather(std::vector<Tensors>& outputs, Tensors& inputs, c10d::GatherOptions const& options) override;
    WorkPointer scatter(Tensors& outputs, std::vector<Tensors>& inputs, c10d::ScatterOptions const& options) override;
    WorkPointer reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                               c10d::ReduceScatterOptions const& options) override;
    WorkPointer _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                     c10d::ReduceScatterOptions const& options) override;
    WorkPointer reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                c10d::ReduceScatterOptions const& options) override;
    WorkPointer alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_splits,
                              std::vector<int64_t>& input_splits, c10d::AllToAllOptions const& options) override;
    WorkPointer alltoall(Tensors& outputs, Tensors& inputs, c10d::AllToAllOptions const& options) override;
    WorkPointer send(Tensors& tensors, int to, int tag) override;
    WorkPointer recv(Tensors& tensors, int from, int tag) override;
    WorkPointer recvAnysource(Tensors& tensors, int tag) override;
    WorkPointer barrier(c10d::BarrierOptions const& options) override;

    void setSequenceNumberForGroup() override {}
    uint64_t getSequenceNumberForGroup() override { return operations_; }

private:
    WorkPointer submit(c10d::OpType type, char const* title, Tensors results, std::function<void()> job);
    WorkPointer receive(Tensors& tensors, int from, int tag);
    void run(Operation operation, std::vector<void*> const& memory, bool ragged = false) const;

    // Each does one operation on the thread of MPI.
    void all_reduce_packed(at::Tensor const& data, c10d::ReduceOp const& reduction) const;
    void all_gather_packed(at::Tensor const& output, at::Tensor const& input) const;
    void reduce_scatter_packed(at::Tensor const& output, at::Tensor const& input,
                               c10d::ReduceOp const& reduction) const;

    std::shared_ptr<Runtime> runtime_;
    std::chrono::milliseconds timeout_;
    GroupOfRanks const* group_ = nullptr;
    uint64_t operations_ = 0;
};

}  // namespace dlmb::torch
