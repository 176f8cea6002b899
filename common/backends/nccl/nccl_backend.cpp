// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend/registry.hpp"
#include "common/backends/nccl/check.hpp"
#include "common/backends/nccl/communicators.hpp"
#include "common/backends/nccl/compiled.hpp"
#include "common/backends/nccl/translate.hpp"
#include "common/base/suggest.hpp"

#include <fmt/core.h>

#include <array>

namespace dlmb::nccl {
namespace {

constexpr std::array<MethodInfo, 2> method_table{{
    {"grouped", "one ncclGroup of ncclSend and ncclRecv per exchange; the library's collectives", every_operation},
    {"alltoall", "ncclAlltoAll", {OperationKind::exchange}, "", true},
}};

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
        auto calls = translate(plan, buffers, communicators_, all_to_all);
        if (!calls) {
            return calls.error();
        }
        return std::unique_ptr<CompiledPlan>(
            std::make_unique<Compiled>(std::move(calls).value(), plan.steps.size(), communicators_, stream_));
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
