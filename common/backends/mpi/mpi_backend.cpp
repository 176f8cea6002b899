// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/mpi_backend.hpp"

#include "common/backend_kit/device_compute.hpp"
#include "common/backends/mpi/algorithm_method.hpp"
#include "common/backends/mpi/algorithms.hpp"
#include "common/backends/mpi/device_path.hpp"
#include "common/backends/mpi/methods.hpp"
#include "common/backends/mpi/mirrors.hpp"
#include "common/backends/mpi/mpi_plan.hpp"
#include "common/backends/mpi/rehearsal.hpp"
#include "common/backends/mpi/survey.hpp"
#include "common/backends/mpi/translate.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/bootstrap/oversubscription.hpp"
#include "common/memory/devices.hpp"

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

DevicePath path_of(BackendContext const& context) {
    return agree(decide({context.mpi_device, query_device_support(), memory_alloc_kinds()}), context.bootstrap);
}

class MpiBackend final : public Backend {
public:
    MpiBackend(BackendContext const& context, Limits const& limits)
        : bootstrap_(context.bootstrap), idle_(should_yield(context.yield, bootstrap_)), limits_(limits),
          path_(path_of(context)), no_device_(find_devices().why_none), largest_tag_(largest_tag(MPI_COMM_WORLD)),
          algorithm_knobs_(knobs_of(algorithms_.catalogue())), methods_(method_table().begin(), method_table().end()) {
        methods_.back().knobs = algorithm_knobs_;
    }

    [[nodiscard]] std::string_view name() const override { return "mpi"; }
    [[nodiscard]] std::span<MethodInfo const> methods() const override { return methods_; }
    [[nodiscard]] std::span<MethodInfo const> methods_on(MemoryKind kind) const override {
        if (!on_device(kind)) {
            return direct_methods();
        }
        return path_.direct ? plain_methods() : staged_method();
    }
    [[nodiscard]] std::vector<MethodChoice> variants(MemoryKind kind,
                                                     std::span<OperationUse const> uses) const override {
        bool const direct = !on_device(kind) || path_.direct;
        return direct ? algorithm_variants(algorithms_.catalogue(), uses) : std::vector<MethodChoice>{};
    }
    [[nodiscard]] bool supports(MemoryKind /*kind*/) const override { return true; }

    [[nodiscard]] Provenance provenance() const override {
        int version = 0;
        int subversion = 0;
        check(MPI_Get_version(&version, &subversion), "MPI_Get_version");
        bool const has_device = no_device_.empty();
        return {{"mpi_library", mpi_library_version()},
                {"mpi_standard", fmt::format("{}.{}", version, subversion)},
                {"mpi_gpu_path", !has_device    ? "host"
                                 : path_.direct ? "device"
                                                : "staged"},
                {"mpi_gpu_reason", has_device ? path_.reason : no_device_},
                {"mpi_staging_bytes", fmt::format("{}", mirrors_.bytes())},
                {"mpi_counts_above_int", has_large_counts() ? "alltoallv: MPI_Alltoallv_c; else messages of 1 GiB"
                                                            : "messages of 1 GiB, MPI_Isend and MPI_Irecv"},
                {"mpi_algorithms", algorithms_.catalogue().why_not.empty() ? algorithms_.catalogue().family
                                                                           : "not to be chosen in this launch"},
                {"progress_yield", idle_.yields() ? "yes" : "no"}};
    }

    [[nodiscard]] Expected<std::unique_ptr<CompiledPlan>, Unsupported> compile(Plan const& plan, Buffers const& buffers,
                                                                               MethodChoice const& choice) override {
        bool const device = on_device(buffers.kind);
        Method const method = read_method(choice, device && !path_.direct ? "staged" : "alltoallv");
        bool const served = device ? method.staged || path_.direct : !method.staged;
        if (!served) {
            return Unsupported{misplaced(method, buffers.kind)};
        }
        if (buffers.base.size() < plan.buffers.size()) {
            throw Error(fmt::format("rank {}: mpi: {} buffers bound to a plan that names {}", plan.me,
                                    buffers.base.size(), plan.buffers.size()));
        }
        algorithms_.require_offered(method.algorithms);
        Survey own = survey(plan, method, limits_, largest_tag_);
        if (method.by_algorithm() && own.refusal.empty()) {
            own.refusal = algorithms_.refusal(plan, method.algorithms);
        }
        if (device && own.refusal.empty()) {
            std::string const why_not = why_no_products(plan);
            own.refusal = why_not.empty() ? "" : fmt::format("mpi: {}", why_not);
        }
        Mirror mirror;
        if (method.staged && own.refusal.empty()) {
            std::string why_not;
            mirror = mirrors_.of(plan, buffers, bootstrap_.local_size(), why_not);
            own.refusal = why_not.empty() ? "" : fmt::format("mpi: staged: {}", why_not);
        }
        Survey const agreed = agree(own, bootstrap_);
        if (!agreed.refusal.empty()) {
            return Unsupported{agreed.refusal};
        }
        if (device && !method.staged && !takes_reductions(method, agreed)) {
            return Unsupported{
                "mpi: this library's non-blocking reductions do not take device memory; method blocking or staged"};
        }
        if (method.by_algorithm() && (agreed.concurrent || agreed.large)) {
            return Unsupported{
                "mpi: algorithm: it is chosen for blocking calls with counts of an int; in this plan steps overlap or "
                "counts are larger"};
        }
        Communicators const& communicators = algorithms_.prepare(plan, method.algorithms);
        if (device && queues_ == nullptr) {
            queues_ = std::make_unique<DeviceQueues>();
        }
        Place const place{buffers, device ? queues_.get() : nullptr, method.staged ? &mirror.host : nullptr, idle_};
        std::vector<Task> tasks = translate({plan, method, agreed, communicators, limits_}, place);
        if (method.by_algorithm()) {
            std::string const reason = inapplicable(plan, tasks, method.algorithms);
            if (!reason.empty()) {
                return Unsupported{reason};
            }
        }
        return std::unique_ptr<CompiledPlan>(std::make_unique<MpiPlan>(
            plan, std::move(tasks), std::move(mirror),
            fmt::format("mpi/{}, {} memory, {} ranks", to_string(choice), name_of(buffers.kind), bootstrap_.size()),
            idle_, PlanAlgorithms{&algorithms_, method.algorithms}));
    }

    // A rank whose own data is complete may still have to push what a slower one waits for, and it does so only while
    // it is inside MPI: nobody leaves before all are done.
    void quiesce() override {
        bootstrap_.barrier();
        algorithms_.release();
    }

private:
    /// Collective. Why the library cannot do these steps by the chosen algorithms; empty: it just did.
    [[nodiscard]] std::string inapplicable(Plan const& plan, std::vector<Task>& tasks, AlgorithmChoice const& choice) {
        std::vector<StepId> const steps = steps_by_algorithm(plan, choice);
        std::vector<std::int64_t> most{static_cast<std::int64_t>(steps.size())};
        bootstrap_.all_reduce(most, Fold::max);
        if (most[0] == 0) {
            return "mpi: algorithm: no step of this traffic makes a call that the method names";
        }
        algorithms_.activate(choice, true);
        std::string const failure = rehearse(plan, tasks, steps);
        algorithms_.release();
        std::string const first = first_refusal(bootstrap_, failure);
        return first.empty() ? "" : fmt::format("mpi: the algorithm is not applicable to {}", first);
    }

    [[nodiscard]] std::string misplaced(Method const& method, MemoryKind kind) const {
        if (method.staged) {
            return fmt::format("mpi: staged: MPI reads {} memory itself", name_of(kind));
        }
        return fmt::format("mpi: {}: MPI is not given {} memory ({}); method staged copies it", method.name,
                           name_of(kind), path_.reason);
    }

    /// Whether the library's reductions take device memory in the form that this plan uses.
    static bool takes_reductions(Method const& method, Survey const& agreed) {
        bool const blocking =
            !agreed.concurrent && method.id != MethodId::nonblocking && method.id != MethodId::persistent;
        return !agreed.reduces || blocking || nonblocking_reductions_take_device_memory();
    }

    Bootstrap& bootstrap_;
    Idle idle_;
    Limits limits_;
    DevicePath path_;
    std::string no_device_;  // why; empty: there is one
    Algorithms algorithms_;
    int largest_tag_;
    std::string algorithm_knobs_;
    std::vector<MethodInfo> methods_;
    std::unique_ptr<DeviceQueues> queues_;
    Mirrors mirrors_;
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
