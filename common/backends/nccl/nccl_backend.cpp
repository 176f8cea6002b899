// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/registry.hpp"
#include "common/backends/nccl/check.hpp"
#include "common/backends/nccl/compile.hpp"
#include "common/backends/nccl/data_types.hpp"
#include "common/backends/nccl/gpus.hpp"
#include "common/backends/nccl/shared_gpu.hpp"
#include "common/bootstrap/oversubscription.hpp"

#include <fmt/core.h>

namespace dlmb::nccl {
namespace {

constexpr int first_with_fp8 = NCCL_VERSION(2, 24, 0);

int library_version() {
    int version = 0;
    check(ncclGetVersion(&version), "ncclGetVersion");
    return version;
}

std::string why_no_fp8(Gpus const& gpus) {
    if (!fp8_type() || library_version() < first_with_fp8) {
        return "fp8 reductions came with NCCL 2.24";
    }
    return gpus.all_reduce_fp8 ? "" : "fp8 reductions need GPUs of compute capability 9.0 or later";
}

class NcclBackend final : public Backend {
public:
    NcclBackend(BackendContext const& context, Gpus gpus)
        : gpus_(std::move(gpus)), why_no_fp8_(why_no_fp8(gpus_)), communicators_(context.bootstrap),
          tuner_(context.bootstrap), shared_{context.bootstrap,
                                             communicators_,
                                             tuner_,
                                             queues_,
                                             Idle(should_yield(context.yield, context.bootstrap)),
                                             context.timeout_ns} {}

    [[nodiscard]] std::string_view name() const override { return "nccl"; }
    [[nodiscard]] std::span<MethodInfo const> methods() const override { return method_table(); }
    [[nodiscard]] std::span<MethodInfo const> methods_on(MemoryKind /*kind*/) const override { return plain_methods(); }
    [[nodiscard]] std::vector<MethodChoice> variants(MemoryKind /*kind*/,
                                                     std::span<OperationUse const> uses) const override {
        return tuner_.why_not().empty() ? algorithm_variants(uses) : std::vector<MethodChoice>{};
    }
    [[nodiscard]] bool supports(MemoryKind kind) const override {
        return kind == MemoryKind::cuda || kind == MemoryKind::nccl;
    }
    [[nodiscard]] Provenance provenance() const override {
        return {{"nccl_version", std::to_string(library_version())},
                {"nccl_headers", std::to_string(NCCL_VERSION_CODE)},
                {"device", std::to_string(gpus_.mine.index)},
                {"shared_gpu", gpus_.shared ? "yes" : "no"},
                {"init_ns", std::to_string(communicators_.init_ns())},
                {"host_driven", "no"},
                {"nccl_algorithms", tuner_.why_not().empty() ? "by the tuner plugin" : "none: " + tuner_.why_not()}};
    }

    [[nodiscard]] Expected<std::unique_ptr<CompiledPlan>, Unsupported> compile(Plan const& plan, Buffers const& buffers,
                                                                               MethodChoice const& choice) override {
        Method const method = read_method(choice);
        if (!supports(buffers.kind)) {
            return Unsupported{fmt::format("nccl takes cuda and nccl memory, not {} memory", name_of(buffers.kind))};
        }
        communicators_.prepare(plan.groups);
        return nccl::compile(plan, buffers, method, why_no_fp8_, shared_);
    }

    /// finish() leaves nothing in flight.
    void quiesce() override { shared_.bootstrap.barrier(); }

private:
    Gpus gpus_;
    std::string why_no_fp8_;
    Queues queues_;
    Communicators communicators_;
    Tuner tuner_;
    Shared shared_;
};

}  // namespace

MadeBackend make_backend(BackendContext const& context) {
    if (context.bootstrap.kind() != "mpi") {
        return Unsupported{"nccl runs one process per GPU; start with mpirun or srun"};
    }
    auto gpus = survey_gpus(context.bootstrap, context.option("nccl", "shared_gpu") == "yes");
    if (!gpus) {
        return gpus.error();
    }
    if (gpus.value().shared) {
        bool const one_host = context.bootstrap.local_size() == context.bootstrap.size();
        apply(shared_gpu_settings(context.bootstrap.rank(), one_host));
    }
    return std::unique_ptr<Backend>(std::make_unique<NcclBackend>(context, std::move(gpus).value()));
}

}  // namespace dlmb::nccl
