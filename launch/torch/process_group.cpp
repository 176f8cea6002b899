// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/torch/process_group.hpp"

#include "common/bootstrap/mpi/mpi_check.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

namespace dlmb::torch {
namespace {

using c10d::OpType;

// Results of a job and waiting for it
// ----------------------------------------------------------------------------------

class TorchWork final : public c10d::Work {
public:
    TorchWork(OpType type, char const* title, Tensors results, std::chrono::milliseconds timeout)
        : Work(-1, type, title), results_(std::move(results)), timeout_(timeout),
          future_(c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()))) {}

    void complete(std::exception_ptr error, int source = -1) {
        source_ = source;
        if (error) {
            future_->setError(error);
        } else {
            future_->markCompleted(c10::IValue(results_));
        }
        finish(std::move(error));
    }

    bool wait(std::chrono::milliseconds timeout) override {
        return Work::wait(timeout == kNoTimeout ? timeout_ : timeout);
    }
    Tensors result() override { return results_; }
    int sourceRank() const override { return source_; }
    c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }

private:
    Tensors results_;
    std::chrono::milliseconds timeout_;
    c10::intrusive_ptr<c10::ivalue::Future> future_;
    int source_ = -1;
};

constexpr Region region(BufferId buffer) {
    return {buffer, 0};
}

/// The ranks of MPI's world, by rank in the group.
std::vector<Rank> find_members(c10d::Store& store, int rank, int size, int world_rank) {
    auto const key = [](int of) { return "dlmb/" + std::to_string(of); };
    std::string const text = std::to_string(world_rank);
    store.set(key(rank), std::vector<uint8_t>(text.begin(), text.end()));
    std::vector<Rank> members;
    for (int each = 0; each < size; ++each) {
        std::vector<uint8_t> const told = store.get(key(each));
        members.push_back(std::stoi(std::string(told.begin(), told.end())));
    }
    TORCH_CHECK(std::set<Rank>(members.begin(), members.end()).size() == members.size(),
                "dlmb: several ranks of this group are one process of MPI; start the program with mpirun -np ", size,
                " (or srun), and give init_process_group the ranks that it has there");
    return members;
}

}  // namespace

ProcessGroup::ProcessGroup(std::shared_ptr<Runtime> runtime, c10::intrusive_ptr<c10d::Store> const& store, int rank,
                           int size, std::chrono::milliseconds timeout)
    : Base(rank, size), runtime_(std::move(runtime)), timeout_(timeout),
      group_(&runtime_->make_group(find_members(*store, rank, size, runtime_->rank()))) {}

WorkPointer ProcessGroup::submit(OpType type, char const* title, Tensors results, std::function<void()> job) {
    ++operations_;
    auto work = c10::make_intrusive<TorchWork>(type, title, std::move(results), timeout_);
    // The program may drop the group before its operations are done.
    auto const self = c10::intrusive_ptr<ProcessGroup>::unsafe_reclaim_from_nonowning(this);
    runtime_->executor().submit([self, work, job = std::move(job)] {
        std::exception_ptr error;
        try {
            at::NoGradGuard const no_gradients;
            job();
        } catch (...) {
            error = std::current_exception();
        }
        work->complete(error);
    });
    return work;
}

void ProcessGroup::run(Operation operation, std::vector<void*> const& memory, bool ragged) const {
    runtime_->steps().run(group_->members, std::move(operation), memory, ragged);
}

// Reductions
// -----------------------------------------------------------------------------------------------------------

void ProcessGroup::all_reduce_packed(at::Tensor const& data, c10d::ReduceOp const& reduction) const {
    if (data.numel() > 0) {
        run(Collective{OperationKind::all_reduce, 0, 0, region(0), region(0), bytes_of(data),
                       *element_of(data.scalar_type()), *reduction_of(reduction)},
            {data.data_ptr()});
        average(data, reduction, size_);
    }
}

WorkPointer ProcessGroup::allreduce(Tensors& tensors, c10d::AllreduceOptions const& options) {
    at::Tensor const tensor = only(tensors, "all_reduce");
    require_reducible(tensor, options.reduceOp, "all_reduce");
    return submit(OpType::ALLREDUCE, "dlmb:all_reduce", {tensor}, [this, tensor, reduction = options.reduceOp] {
        at::Tensor const data = packed(tensor);
        all_reduce_packed(data, reduction);
        deliver(data, tensor);
    });
}

WorkPointer ProcessGroup::allreduce_coalesced(Tensors& tensors, c10d::AllreduceCoalescedOptions const& options) {
    for (at::Tensor const& each : tensors) {
        require_host(each, "all_reduce_coalesced");
        require_reducible(each, options.reduceOp, "all_reduce_coalesced");
        TORCH_CHECK(each.scalar_type() == tensors.front().scalar_type(),
                    "dlmb: all_reduce_coalesced: ", each.scalar_type(), " beside ", tensors.front().scalar_type(),
                    "; all have to be of one type");
    }
    return submit(OpType::ALLREDUCE_COALESCED, "dlmb:all_reduce_coalesced", tensors,
                  [this, tensors, reduction = options.reduceOp] {
                      if (!tensors.empty()) {
                          at::Tensor const data = joined(tensors);
                          all_reduce_packed(data, reduction);
                          deliver_parts(data, tensors);
                      }
                  });
}

WorkPointer ProcessGroup::reduce(Tensors& tensors, c10d::ReduceOptions const& options) {
    at::Tensor const tensor = only(tensors, "reduce");
    require_reducible(tensor, options.reduceOp, "reduce");
    auto const root = static_cast<Rank>(options.rootRank);
    return submit(OpType::REDUCE, "dlmb:reduce", {tensor}, [this, tensor, root, reduction = options.reduceOp] {
        if (tensor.numel() == 0) {
            return;
        }
        at::Tensor const input = packed(tensor);
        at::Tensor const output = rank_ == root ? at::empty_like(input) : input;
        run(Collective{OperationKind::reduce, 0, root, region(0), region(rank_ == root ? 1 : 0), bytes_of(input),
                       *element_of(input.scalar_type()), *reduction_of(reduction)},
            {input.data_ptr(), output.data_ptr()});
        if (rank_ == root) {
            average(output, reduction, size_);
            tensor.copy_(output);
        }
    });
}

void ProcessGroup::reduce_scatter_packed(at::Tensor const& output, at::Tensor const& input,
                                         c10d::ReduceOp const& reduction) const {
    if (output.numel() == 0) {
        return;
    }
    // A part of the input as output is no form that MPI has.
    bool const overlap = input.storage().is_alias_of(output.storage());
    at::Tensor const result = overlap ? at::empty_like(output) : output;
    run(Collective{OperationKind::reduce_scatter, 0, 0, region(0), region(1), bytes_of(input),
                   *element_of(input.scalar_type()), *reduction_of(reduction)},
        {input.data_ptr(), result.data_ptr()});
    average(result, reduction, size_);
    deliver(result, output);
}

WorkPointer ProcessGroup::reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                                         c10d::ReduceScatterOptions const& options) {
    at::Tensor const output = only(outputs, "reduce_scatter");
    require_reducible(output, options.reduceOp, "reduce_scatter");
    Tensors const parts = only(inputs, static_cast<std::size_t>(size_), output, "reduce_scatter");
    return submit(OpType::REDUCE_SCATTER, "dlmb:reduce_scatter", {output},
                  [this, output, parts, reduction = options.reduceOp] {
                      at::Tensor const result = packed(output);
                      reduce_scatter_packed(result, joined(parts), reduction);
                      deliver(result, output);
                  });
}

WorkPointer ProcessGroup::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                               c10d::ReduceScatterOptions const& options) {
    Tensors outputs{output};
    Tensors inputs{input};
    return reduce_scatter_tensor_coalesced(outputs, inputs, options);
}

WorkPointer ProcessGroup::reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                          c10d::ReduceScatterOptions const& options) {
    TORCH_CHECK(outputs.size() == inputs.size(), "dlmb: reduce_scatter_tensor: as many outputs as inputs are needed");
    for (std::size_t each = 0; each < inputs.size(); ++each) {
        require_parts(inputs[each], outputs[each], size_, "reduce_scatter_tensor");
        require_reducible(inputs[each], options.reduceOp, "reduce_scatter_tensor");
    }
    return submit(OpType::_REDUCE_SCATTER_BASE, "dlmb:reduce_scatter_tensor", outputs,
                  [this, outputs, inputs, reduction = options.reduceOp] {
                      for (std::size_t each = 0; each < inputs.size(); ++each) {
                          at::Tensor const result = packed(outputs[each]);
                          reduce_scatter_packed(result, packed(inputs[each]), reduction);
                          deliver(result, outputs[each]);
                      }
                  });
}

// Gathers, scatters, broadcasts
// ----------------------------------------------------------------------------------------

void ProcessGroup::all_gather_packed(at::Tensor const& output, at::Tensor const& input) const {
    if (input.numel() == 0) {
        return;
    }
    // The own part of the output as input is a form that operations have; other parts are not.
    Bytes const before = bytes_of(input) * static_cast<Bytes>(rank_);
    bool const in_place = input.data_ptr() == static_cast<std::byte*>(output.data_ptr()) + before;
    bool const overlap = !in_place && input.storage().is_alias_of(output.storage());
    at::Tensor const from = overlap ? input.clone() : input;
    run(Collective{OperationKind::all_gather, 0, 0, in_place ? Region{1, before} : region(0), region(1),
                   bytes_of(output), moved_as(input.scalar_type())},
        {from.data_ptr(), output.data_ptr()});
}

WorkPointer ProcessGroup::allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                                    c10d::AllgatherOptions const& options) {
    only(inputs, "all_gather");
    return allgather_coalesced(outputs, inputs, options);
}

WorkPointer ProcessGroup::allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs,
                                              c10d::AllgatherOptions const& /*options*/) {
    // PyTorch gives one list per input, or for coalesced ones one list per rank.
    bool const by_rank = inputs.size() > 1 || (outputs.size() == static_cast<std::size_t>(size_) && outputs.size() > 1);
    std::vector<Tensors> lists(inputs.size());
    Tensors results;
    for (std::size_t input = 0; input < inputs.size(); ++input) {
        require_host(inputs[input], "all_gather");
        if (by_rank) {
            TORCH_CHECK(outputs.size() == static_cast<std::size_t>(size_), "dlmb: all_gather: ", outputs.size(),
                        " lists of outputs for ", size_, " ranks");
            for (Tensors const& of_rank : outputs) {
                TORCH_CHECK(of_rank.size() == inputs.size(), "dlmb: all_gather: as many outputs as inputs are needed");
                lists[input].push_back(of_rank[input]);
            }
        } else {
            TORCH_CHECK(outputs.size() == 1, "dlmb: all_gather: one list of outputs is needed");
            lists[input] = outputs.front();
        }
        std::vector<Tensors> checked{lists[input]};
        only(checked, static_cast<std::size_t>(size_), inputs[input], "all_gather");
        results.insert(results.end(), lists[input].begin(), lists[input].end());
    }
    return submit(OpType::ALLGATHER, "dlmb:all_gather", results, [this, lists, inputs] {
        for (std::size_t each = 0; each < inputs.size(); ++each) {
            at::Tensor const flat = at::empty({inputs[each].numel() * size_}, inputs[each].options());
            all_gather_packed(flat, packed(inputs[each]));
            deliver_parts(flat, lists[each]);
        }
    });
}

WorkPointer ProcessGroup::_allgather_base(at::Tensor& output, at::Tensor& input,
                                          c10d::AllgatherOptions const& options) {
    Tensors outputs{output};
    Tensors inputs{input};
    return allgather_into_tensor_coalesced(outputs, inputs, options);
}

WorkPointer ProcessGroup::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                          c10d::AllgatherOptions const& /*options*/) {
    TORCH_CHECK(outputs.size() == inputs.size(), "dlmb: all_gather_into_tensor: as many outputs as inputs are needed");
    for (std::size_t each = 0; each < inputs.size(); ++each) {
        require_parts(outputs[each], inputs[each], size_, "all_gather_into_tensor");
    }
    return submit(OpType::_ALLGATHER_BASE, "dlmb:all_gather_into_tensor", outputs, [this, outputs, inputs] {
        for (std::size_t each = 0; each < inputs.size(); ++each) {
            at::Tensor const result = packed(outputs[each]);
            all_gather_packed(result, packed(inputs[each]));
            deliver(result, outputs[each]);
        }
    });
}

WorkPointer ProcessGroup::gather(std::vector<Tensors>& outputs, Tensors& inputs, c10d::GatherOptions const& options) {
    at::Tensor const input = only(inputs, "gather");
    auto const root = static_cast<Rank>(options.rootRank);
    Tensors const parts = rank_ == root ? only(outputs, static_cast<std::size_t>(size_), input, "gather") : Tensors{};
    return submit(OpType::GATHER, "dlmb:gather", parts, [this, input, parts, root] {
        if (input.numel() == 0) {
            return;
        }
        at::Tensor const own = packed(input);
        at::Tensor const flat = rank_ == root ? at::empty({input.numel() * size_}, input.options()) : own;
        run(Collective{OperationKind::gather, 0, root, region(0), region(rank_ == root ? 1 : 0),
                       bytes_of(own) * static_cast<Bytes>(size_), moved_as(own.scalar_type())},
            {own.data_ptr(), flat.data_ptr()});
        deliver_parts(flat, parts);
    });
}

WorkPointer ProcessGroup::scatter(Tensors& outputs, std::vector<Tensors>& inputs, c10d::ScatterOptions const& options) {
    at::Tensor const output = only(outputs, "scatter");
    auto const root = static_cast<Rank>(options.rootRank);
    Tensors const parts = rank_ == root ? only(inputs, static_cast<std::size_t>(size_), output, "scatter") : Tensors{};
    return submit(OpType::SCATTER, "dlmb:scatter", {output}, [this, output, parts, root] {
        if (output.numel() == 0) {
            return;
        }
        at::Tensor const own = packed(output);
        at::Tensor const flat = rank_ == root ? joined(parts) : own;
        run(Collective{OperationKind::scatter, 0, root, region(rank_ == root ? 0 : 1), region(1),
                       bytes_of(own) * static_cast<Bytes>(size_), moved_as(own.scalar_type())},
            {flat.data_ptr(), own.data_ptr()});
        deliver(own, output);
    });
}

WorkPointer ProcessGroup::broadcast(Tensors& tensors, c10d::BroadcastOptions const& options) {
    at::Tensor const tensor = only(tensors, "broadcast");
    auto const root = static_cast<Rank>(options.rootRank);
    return submit(OpType::BROADCAST, "dlmb:broadcast", {tensor}, [this, tensor, root] {
        if (tensor.numel() > 0) {
            at::Tensor const data = packed(tensor);
            run(Collective{OperationKind::broadcast, 0, root, region(0), region(0), bytes_of(data),
                           moved_as(data.scalar_type())},
                {data.data_ptr()});
            deliver(data, tensor);
        }
    });
}

WorkPointer ProcessGroup::barrier(c10d::BarrierOptions const& /*options*/) {
    return submit(OpType::BARRIER, "dlmb:barrier", {}, [this] { run(Barrier{0}, {}); });
}

// Exchanges
// ------------------------------------------------------------------------------------------------------------

namespace {

/// `sizes`: in bytes, by rank. Empty blocks are left out.
std::vector<Block> blocks_of(std::vector<int64_t> const& sizes) {
    std::vector<Block> blocks;
    Bytes offset = 0;
    for (std::size_t peer = 0; peer < sizes.size(); ++peer) {
        auto const bytes = static_cast<Bytes>(sizes[peer]);
        if (bytes > 0) {
            blocks.push_back({static_cast<Rank>(peer), offset, bytes});
        }
        offset += bytes;
    }
    return blocks;
}

/// Bytes by rank. `splits`: rows by rank; empty: equal parts.
std::vector<int64_t> sizes_of(at::Tensor const& tensor, std::vector<int64_t> const& splits, int ranks) {
    int64_t const rows = tensor.dim() == 0 ? 1 : tensor.size(0);
    if (splits.empty()) {
        TORCH_CHECK(rows % ranks == 0, "dlmb: all_to_all_single: ", rows, " rows are not equal parts for ", ranks,
                    " ranks; give the splits");
        return std::vector<int64_t>(static_cast<std::size_t>(ranks), static_cast<int64_t>(bytes_of(tensor)) / ranks);
    }
    bool const sound = splits.size() == static_cast<std::size_t>(ranks) &&
                       std::all_of(splits.begin(), splits.end(), [](int64_t split) { return split >= 0; }) &&
                       std::accumulate(splits.begin(), splits.end(), int64_t{0}) == rows;
    TORCH_CHECK(sound, "dlmb: all_to_all_single: the splits have to be ", ranks, " numbers whose sum is the ", rows,
                " rows of the tensor");
    int64_t const row = rows == 0 ? 0 : static_cast<int64_t>(bytes_of(tensor)) / rows;
    std::vector<int64_t> sizes;
    std::transform(splits.begin(), splits.end(), std::back_inserter(sizes),
                   [row](int64_t split) { return split * row; });
    return sizes;
}

std::vector<int64_t> sizes_of(Tensors const& tensors) {
    std::vector<int64_t> sizes;
    std::transform(tensors.begin(), tensors.end(), std::back_inserter(sizes),
                   [](at::Tensor const& each) { return static_cast<int64_t>(bytes_of(each)); });
    return sizes;
}

}  // namespace

WorkPointer ProcessGroup::alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_splits,
                                        std::vector<int64_t>& input_splits, c10d::AllToAllOptions const& /*options*/) {
    require_host(output, "all_to_all_single");
    require_host(input, "all_to_all_single");
    TORCH_CHECK(output.scalar_type() == input.scalar_type(), "dlmb: all_to_all_single: ", output.scalar_type(),
                " beside ", input.scalar_type());
    std::vector<int64_t> const sent = sizes_of(input, input_splits, size_);
    std::vector<int64_t> const received = sizes_of(output, output_splits, size_);
    // Without splits on any rank all have equal blocks. With them nobody knows those of the others, be its own equal or
    // not. So all ranks give splits, or none (README.md).
    bool const ragged = !(input_splits.empty() && output_splits.empty());
    TORCH_CHECK(ragged || sent == received, "dlmb: all_to_all_single: ", input.numel(), " elements in, ",
                output.numel(), " out; give the splits, or as many");
    return submit(OpType::ALLTOALL_BASE, "dlmb:all_to_all_single", {output},
                  [this, output, input, sent, received, ragged] {
                      at::Tensor const from = packed(input);
                      at::Tensor const into = packed(output);
                      if (ragged || from.numel() > 0) {
                          run(Exchange{0, 0, 1, blocks_of(sent), blocks_of(received)},
                              {from.data_ptr(), into.data_ptr()}, ragged);
                      }
                      deliver(into, output);
                  });
}

WorkPointer ProcessGroup::alltoall(Tensors& outputs, Tensors& inputs, c10d::AllToAllOptions const& /*options*/) {
    auto const ranks = static_cast<std::size_t>(size_);
    TORCH_CHECK(outputs.size() == ranks && inputs.size() == ranks, "dlmb: all_to_all: ", inputs.size(), " inputs and ",
                outputs.size(), " outputs for ", size_, " ranks");
    for (std::size_t each = 0; each < ranks; ++each) {
        for (at::Tensor const& tensor : {inputs[each], outputs[each]}) {
            require_host(tensor, "all_to_all");
            TORCH_CHECK(tensor.scalar_type() == inputs.front().scalar_type(),
                        "dlmb: all_to_all: ", tensor.scalar_type(), " beside ", inputs.front().scalar_type());
        }
    }
    return submit(OpType::ALLTOALL, "dlmb:all_to_all", outputs, [this, outputs, inputs] {
        at::Tensor const from = joined(inputs);
        at::Tensor const into =
            at::empty({std::accumulate(outputs.begin(), outputs.end(), int64_t{0},
                                       [](int64_t sum, at::Tensor const& each) { return sum + each.numel(); })},
                      from.options());
        run(Exchange{0, 0, 1, blocks_of(sizes_of(inputs)), blocks_of(sizes_of(outputs))},
            {from.data_ptr(), into.data_ptr()}, true);
        deliver_parts(into, outputs);
    });
}

// Messages
// -------------------------------------------------------------------------------------------------------------

namespace {

int count_of(at::Tensor const& tensor, char const* operation) {
    TORCH_CHECK(bytes_of(tensor) <= static_cast<Bytes>(std::numeric_limits<int>::max()), "dlmb: ", operation, ": ",
                bytes_of(tensor), " bytes in one message; MPI's int ends at 2 GiB, send parts");
    return static_cast<int>(bytes_of(tensor));
}

/// A message under way, and what is done once it has arrived or gone; that returns the rank that it came from, -1: to
/// nobody's interest.
struct Message {
    MPI_Request request = MPI_REQUEST_NULL;
    std::function<int(MPI_Status const&)> finish;
};

/// Both on the thread of MPI: begins the message, and tests it until `work` is complete.
void submit_message(Executor& executor, c10::intrusive_ptr<TorchWork> const& work, std::function<Message()> begin) {
    executor.submit([&executor, work, begin = std::move(begin)] {
        try {
            at::NoGradGuard const no_gradients;
            executor.poll([work, message = begin()]() mutable {
                try {
                    int done = 0;
                    MPI_Status status;
                    mpi::check(MPI_Test(&message.request, &done, &status), "MPI_Test");
                    if (done != 0) {
                        at::NoGradGuard const on_delivery;
                        int const source = message.finish(status);
                        work->complete(nullptr, source);
                    }
                    return done != 0;
                } catch (...) {
                    work->complete(std::current_exception());
                    return true;
                }
            });
        } catch (...) {
            work->complete(std::current_exception());
        }
    });
}

}  // namespace

WorkPointer ProcessGroup::send(Tensors& tensors, int to, int tag) {
    at::Tensor const tensor = only(tensors, "send");
    int const count = count_of(tensor, "send");
    auto work = c10::make_intrusive<TorchWork>(OpType::SEND, "dlmb:send", Tensors{}, timeout_);
    MPI_Comm const communicator = group_->messages.get();  // lives as long as MPI does
    submit_message(runtime_->executor(), work, [tensor, count, to, tag, communicator] {
        at::Tensor const data = packed(tensor);
        Message message{MPI_REQUEST_NULL, [data](MPI_Status const& /*status*/) { return -1; }};
        mpi::check(MPI_Isend(data.data_ptr(), count, MPI_BYTE, to, tag, communicator, &message.request), "MPI_Isend");
        return message;
    });
    return work;
}

WorkPointer ProcessGroup::receive(Tensors& tensors, int from, int tag) {
    at::Tensor const tensor = only(tensors, "recv");
    int const count = count_of(tensor, "recv");
    auto work = c10::make_intrusive<TorchWork>(OpType::RECV, "dlmb:recv", Tensors{tensor}, timeout_);
    MPI_Comm const communicator = group_->messages.get();
    submit_message(runtime_->executor(), work, [tensor, count, from, tag, communicator] {
        at::Tensor const data = packed(tensor);
        Message message{MPI_REQUEST_NULL, [data, tensor, count](MPI_Status const& status) {
                            int received = 0;
                            mpi::check(MPI_Get_count(&status, MPI_BYTE, &received), "MPI_Get_count");
                            TORCH_CHECK(received == count, "dlmb: recv: rank ", status.MPI_SOURCE, " sent ", received,
                                        " bytes, the tensor has ", count);
                            deliver(data, tensor);
                            return status.MPI_SOURCE;
                        }};
        mpi::check(MPI_Irecv(data.data_ptr(), count, MPI_BYTE, from, tag, communicator, &message.request), "MPI_Irecv");
        return message;
    });
    return work;
}

WorkPointer ProcessGroup::recv(Tensors& tensors, int from, int tag) {
    return receive(tensors, from, tag);
}

WorkPointer ProcessGroup::recvAnysource(Tensors& tensors, int tag) {
    return receive(tensors, MPI_ANY_SOURCE, tag);
}

}  // namespace dlmb::torch
