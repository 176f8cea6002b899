// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/mpi_backend.hpp"

#include "common/backends/mpi/communicators.hpp"
#include "common/backends/mpi/methods.hpp"
#include "common/backends/mpi/survey.hpp"
#include "common/backends/mpi/translate.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"

#include <fmt/core.h>

namespace dlmb::mpi {
namespace {

int largest_tag(MPI_Comm comm) {
    void* value = nullptr;
    int found = 0;
    check(MPI_Comm_get_attr(comm, MPI_TAG_UB, static_cast<void*>(&value), &found), "MPI_Comm_get_attr");
    constexpr int guaranteed = 32767;
    return found != 0 ? *static_cast<int*>(value) : guaranteed;
}

class MpiBackend final : public Backend {
public:
    MpiBackend(BackendContext const& context, Limits const& limits)
        : bootstrap_(context.bootstrap), idle_(should_yield(context.yield, context.bootstrap.local_size())),
          limits_(limits), largest_tag_(largest_tag(communicators_.world())) {}

    [[nodiscard]] std::string_view name() const override { return "mpi"; }
    [[nodiscard]] std::span<MethodInfo const> methods() const override { return method_table(); }
    // Whether a device pointer may be given to MPI has to be asked and proven first; until then it never is.
    [[nodiscard]] bool supports(MemoryKind kind) const override {
        return kind == MemoryKind::host || kind == MemoryKind::pinned;
    }

    [[nodiscard]] Provenance provenance() const override {
        int version = 0;
        int subversion = 0;
        check(MPI_Get_version(&version, &subversion), "MPI_Get_version");
        return {{"mpi_library", mpi_library_version()},
                {"mpi_standard", fmt::format("{}.{}", version, subversion)},
                {"mpi_gpu_path", "host"},
                {"mpi_counts_above_int", has_large_counts() ? "alltoallv: MPI_Alltoallv_c; else messages of 1 GiB"
                                                            : "messages of 1 GiB, MPI_Isend and MPI_Irecv"},
                {"progress_yield", idle_.yields() ? "yes" : "no"}};
    }

    [[nodiscard]] Expected<std::unique_ptr<CompiledPlan>, Unsupported> compile(Plan const& plan, Buffers const& buffers,
                                                                               MethodChoice const& choice) override {
        Method const method = read_method(choice);
        if (!supports(buffers.kind)) {
            return Unsupported{
                fmt::format("mpi: {} memory: only host and pinned memory so far", name_of(buffers.kind))};
        }
        if (buffers.base.size() < plan.buffers.size()) {
            throw Error(fmt::format("rank {}: mpi: {} buffers bound to a plan that names {}", plan.me,
                                    buffers.base.size(), plan.buffers.size()));
        }
        Survey const agreed = agree(survey(plan, method, limits_, largest_tag_), bootstrap_);
        if (!agreed.refusal.empty()) {
            return Unsupported{agreed.refusal};
        }
        communicators_.prepare(plan);
        return std::unique_ptr<CompiledPlan>(std::make_unique<MpiPlan>(
            plan, translate(plan, buffers, method, agreed, communicators_, limits_),
            fmt::format("mpi/{}, {} memory, {} ranks", to_string(choice), name_of(buffers.kind), bootstrap_.size()),
            idle_));
    }

    // A rank whose own data is complete may still have to push what a slower one waits for, and it does so only while
    // it is inside MPI: nobody leaves before all are done.
    void quiesce() override { bootstrap_.barrier(); }

private:
    Bootstrap& bootstrap_;
    Idle idle_;
    Limits limits_;
    Communicators communicators_;
    int largest_tag_;
};

}  // namespace

MadeBackend make_backend(BackendContext const& context) {
    return make_limited_backend(context, Limits{});
}

MadeBackend make_limited_backend(BackendContext const& context, Limits const& limits) {
    if (context.bootstrap.kind() != "mpi") {
        return Unsupported{
            fmt::format("mpi: the ranks of this launch are not MPI processes ({}); start the program with mpirun",
                        context.bootstrap.kind())};
    }
    return std::unique_ptr<Backend>(std::make_unique<MpiBackend>(context, limits));
}

}  // namespace dlmb::mpi
