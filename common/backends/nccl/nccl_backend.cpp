// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend/registry.hpp"
#include "common/backends/nccl/check.hpp"
#include "common/backends/nccl/communicators.hpp"
#include "common/backends/nccl/compiled.hpp"
#include "common/base/suggest.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace dlmb::nccl {
namespace {

constexpr std::array<MethodInfo, 2> method_table{{
    {"grouped", "one ncclGroup of ncclSend and ncclRecv per exchange; ncclAllGather", every_operation},
    {"alltoall", "ncclAlltoAll", {OperationKind::exchange}, "", true},
}};

using CompiledCall = Expected<NativeCall, Unsupported>;

/// Start of packed equal blocks for all members of the group in order, self included; nullptr when they are not.
std::byte* packed_start(std::vector<Block> const& blocks, std::size_t group_size, std::byte* base) {
    if (blocks.size() != group_size) {
        return nullptr;
    }
    Block const& first = blocks.front();
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (blocks[i].bytes != first.bytes || blocks[i].offset != first.offset + i * first.bytes) {
            return nullptr;
        }
    }
    return base + first.offset;
}

/// Translates the steps of one plan.
class Translator {
public:
    Translator(Plan const& plan, Buffers const& buffers, Communicators const& communicators, bool all_to_all)
        : plan_(plan), buffers_(buffers), communicators_(communicators), all_to_all_(all_to_all) {}

    [[nodiscard]] CompiledCall translate(StepId step) const {
        Operation const& operation = plan_.steps[step].operation;
        if (auto const* exchange = std::get_if<Exchange>(&operation)) {
            return all_to_all_ ? uniform(step, *exchange) : grouped(step, *exchange);
        }
        if (auto const* gather = std::get_if<AllGather>(&operation)) {
            Group const& group = plan_.groups[gather->group];
            return NativeCall{step, AllGatherCall{communicators_.of(group), at(gather->send), at(gather->recv),
                                                  gather->bytes / group.members.size()}};
        }
        return Unsupported{fmt::format("{}: nccl does not run {} yet", plan_.steps[step].label, name_of(operation))};
    }

private:
    [[nodiscard]] std::byte* at(Region const& region) const { return buffers_.base[region.buffer] + region.offset; }

    [[nodiscard]] CompiledCall grouped(StepId step, Exchange const& exchange) const {
        GroupedCall call{communicators_.of(plan_.groups[exchange.group]), {}, {}};
        for (Block const& block : exchange.send) {
            call.sends.push_back({buffers_.base[exchange.send_buffer] + block.offset, block.bytes, block.peer});
        }
        for (Block const& block : exchange.recv) {
            call.receives.push_back({buffers_.base[exchange.recv_buffer] + block.offset, block.bytes, block.peer});
        }
        return NativeCall{step, std::move(call)};
    }

    [[nodiscard]] CompiledCall uniform(StepId step, Exchange const& exchange) const {
        Group const& group = plan_.groups[exchange.group];
        std::byte* const send = packed_start(exchange.send, group.members.size(), buffers_.base[exchange.send_buffer]);
        std::byte* const recv = packed_start(exchange.recv, group.members.size(), buffers_.base[exchange.recv_buffer]);
        if (send == nullptr || recv == nullptr) {
            return Unsupported{
                fmt::format("{}: ncclAlltoAll needs equal packed blocks; method grouped takes ragged ones",
                            plan_.steps[step].label)};
        }
        return NativeCall{step, AllToAllCall{communicators_.of(group), send, recv, exchange.send.front().bytes}};
    }

    Plan const& plan_;
    Buffers const& buffers_;
    Communicators const& communicators_;
    bool all_to_all_;
};

class NcclBackend final : public Backend {
public:
    NcclBackend(Bootstrap& bootstrap, int device) : bootstrap_(bootstrap), device_(device), communicators_(bootstrap) {}

    [[nodiscard]] std::string_view name() const override { return "nccl"; }
    [[nodiscard]] std::span<MethodInfo const> methods() const override { return method_table; }
    [[nodiscard]] bool supports(MemoryKind kind) const override { return kind == MemoryKind::cuda; }
    [[nodiscard]] Provenance provenance() const override {
        int version = 0;
        check(ncclGetVersion(&version), "ncclGetVersion");
        return {{"nccl_version", std::to_string(version)}, {"device", std::to_string(device_)}, {"host_driven", "no"}};
    }

    [[nodiscard]] Expected<std::unique_ptr<CompiledPlan>, Unsupported> compile(Plan const& plan, Buffers const& buffers,
                                                                               MethodChoice const& method) override {
        bool const all_to_all = method.name == "alltoall";
        if (!all_to_all && method.name != "grouped" && method.name != "default") {
            std::vector<std::string> const known{"grouped", "alltoall"};
            throw UsageError(unknown_name("method of nccl", method.name, known));
        }
        if (!method.knobs.empty()) {
            throw UsageError(fmt::format("nccl {}: has no knob '{}'", method.name, method.knobs.begin()->first));
        }
        communicators_.prepare(plan.groups);
        if (all_to_all && all_to_all_missing() != nullptr) {
            return Unsupported{all_to_all_missing()};
        }
        Translator const translator(plan, buffers, communicators_, all_to_all);
        std::vector<NativeCall> calls;
        for (StepId step = 0; step < plan.steps.size(); ++step) {
            CompiledCall call = translator.translate(step);
            if (!call) {
                return call.error();
            }
            calls.push_back(std::move(call).value());
        }
        return std::unique_ptr<CompiledPlan>(
            std::make_unique<Compiled>(std::move(calls), plan.steps.size(), communicators_, stream_));
    }

    void quiesce() override {
        check(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");
        bootstrap_.barrier();
    }

private:
    Bootstrap& bootstrap_;
    int device_;
    Stream stream_;
    Communicators communicators_;
};

}  // namespace

MadeBackend make_backend(BackendContext const& context) {
    if (context.bootstrap.kind() != "mpi") {
        return Unsupported{"nccl runs one process per GPU; start with mpirun or srun"};
    }
    auto const device = choose_device(context.bootstrap.local_rank());
    std::vector<std::int64_t> usable{device ? 1 : 0};
    context.bootstrap.all_reduce(usable, Fold::min);
    if (!device) {
        return device.error();
    }
    if (usable[0] == 0) {
        return Unsupported{"another rank has no CUDA device"};
    }
    return std::unique_ptr<Backend>(std::make_unique<NcclBackend>(context.bootstrap, device.value()));
}

}  // namespace dlmb::nccl
