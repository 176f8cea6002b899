// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/mpi_backend.hpp"

#include "common/backend_kit/compute.hpp"
#include "common/backends/mpi/algorithms.hpp"
#include "common/backends/mpi/collectives.hpp"
#include "common/backends/mpi/compile_plan.hpp"
#include "common/backends/mpi/device_path.hpp"
#include "common/backends/mpi/mpi_plan.hpp"
#include "common/backends/mpi/signal_board.hpp"
#include "common/backends/mpi/threads.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "common/bootstrap/over_ranks.hpp"
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
    auto const wanted = device_pointers(context.option("mpi", "device"));
    return path_of_all(decide({wanted, query_device_support(), memory_alloc_kinds()}), context.bootstrap);
}

class MpiBackend final : public Backend {
public:
    MpiBackend(BackendContext const& context, CallLimits const& limits)
        : bootstrap_(context.bootstrap), idle_(should_yield(context.yield, bootstrap_)), limits_(limits),
          path_(path_of(context)), no_device_(find_devices().why_none),
          algorithm_knobs_(knobs_of(algorithms_.catalogue())), methods_(method_table().begin(), method_table().end()) {
        limits_.channels = largest_tag(MPI_COMM_WORLD);
        methods_[count_of_plain_methods()].knobs = algorithm_knobs_;  // the row `algorithm`
        for (MethodInfo const& info : methods_) {
            MethodKind const kind = find_method(info.name).kind;
            if (kind == MethodKind::direct || (kind == MethodKind::threads && threads_may_call())) {
                host_methods_.push_back(info);
            }
        }
    }

    [[nodiscard]] std::string_view name() const override { return "mpi"; }
    [[nodiscard]] std::span<MethodInfo const> methods() const override { return methods_; }
    [[nodiscard]] std::span<MethodInfo const> methods_on(MemoryKind kind) const override {
        std::span const all(methods_);
        if (!on_device(kind)) {
            return host_methods_;
        }
        return path_.direct ? all.first(count_of_plain_methods())
                            : all.subspan(count_of_direct_methods(), 1);  // the row `staged`
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
                {"mpi_staging_bytes", fmt::format("{}", staging_buffers_.bytes())},
                {"mpi_counts_above_int", large_count_calls() != nullptr
                                             ? "alltoallv: MPI_Alltoallv_c; else messages of 1 GiB"
                                             : "messages of 1 GiB, MPI_Isend and MPI_Irecv"},
                {"mpi_algorithms", algorithms_.catalogue().why_not.empty() ? algorithms_.catalogue().family
                                                                           : "not to be chosen in this launch"},
                {"progress_yield", idle_.yields() ? "yes" : "no"}};
    }

    [[nodiscard]] MadePlan compile(Plan const& plan, Buffers const& buffers, MethodChoice const& choice) override {
        return compile(plan, buffers, choice, false);
    }
    [[nodiscard]] MadePlan compile_polled(Plan const& plan, Buffers const& buffers,
                                          MethodChoice const& choice) override {
        return compile(plan, buffers, choice, true);
    }

    // A rank whose own data is complete may still have to push what a slower one waits for, and it does so only while
    // it is inside MPI: nobody leaves before all are done.
    void quiesce() override {
        bootstrap_.barrier();
        algorithms_.release();
    }

    void barrier(Bootstrap& /*bootstrap*/) override { check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier"); }

private:
    /// `polled`: as where steps overlap, every collective is made in its non-blocking form.
    [[nodiscard]] MadePlan compile(Plan const& plan, Buffers const& buffers, MethodChoice const& choice, bool polled) {
        bool const device = on_device(buffers.kind);
        ChosenMethod const method = read_method(choice, device && !path_.direct ? "staged" : "alltoallv");
        bool const is_staged = method.row->kind == MethodKind::staged;
        if (device ? !is_staged && !path_.direct : is_staged) {
            return Unsupported{misplaced(method, buffers.kind)};
        }
        if (buffers.base.size() < plan.buffers.size()) {
            throw Error(fmt::format("rank {}: mpi: {} buffers bound to a plan that names {}", plan.me,
                                    buffers.base.size(), plan.buffers.size()));
        }
        algorithms_.require_offered(method.algorithms);
        HostImages images;
        PlanRequirements own = plan_requirements(plan, method, limits_);
        own.concurrent = own.concurrent || polled;
        if (polled && (method.row->kind == MethodKind::threads || method.row->one_sided || has_signals(plan))) {
            own.refusal = fmt::format("mpi: {} wait for other ranks, and another backend would wait, too",
                                      has_signals(plan) ? "steps with signals"
                                                        : std::string(method.row->info.name) + ": calls of it");
        }
        if (own.refusal.empty()) {
            own.refusal = own_refusal(plan, buffers, method, images);
        }
        PlanRequirements const agreed = requirements_of_all(own, bootstrap_);
        if (std::string const reason = refusal(method, agreed, device); !reason.empty()) {
            return Unsupported{reason};
        }
        GroupCommunicators const& communicators = algorithms_.prepare(plan, method.algorithms, method.calls->one_sided);
        if (device && queues_ == nullptr) {
            queues_ = std::make_unique<DeviceQueues>();
        }
        std::vector<Window> windows;
        std::unique_ptr<SignalBoard> board;
        std::vector<PreparedCall> calls;
        std::string failed;
        try {
            if (any_rank(bootstrap_, has_signals(plan))) {
                board =
                    std::make_unique<SignalBoard>(plan, buffers, bootstrap_, communicators.world(), windows, failed);
            }
            calls = compile_plan({plan, method, communicators, limits_, &buffers, device ? queues_.get() : nullptr,
                                  agreed.concurrent, agreed.large, agreed.in_place, idle_, &images.host, nullptr,
                                  nullptr, &windows, &failed, board.get()});
        } catch (CallFailed const& failure) {
            failed = failure.summary();
        }
        if (std::string const reason = first_refusal(bootstrap_, failed); !reason.empty()) {
            for (Window& window : windows) {
                window.leave();  // another rank may have none to free with
            }
            return Unsupported{fmt::format("mpi: {}: {}", method.row->info.name, reason)};
        }
        if (method.row->kind == MethodKind::algorithm) {
            std::string const reason = applicability_test(plan, calls, method.algorithms, algorithms_, bootstrap_);
            if (!reason.empty()) {
                return Unsupported{reason};
            }
        }
        std::string setting =
            fmt::format("mpi/{}, {} memory, {} ranks", to_string(choice), name_of(buffers.kind), bootstrap_.size());
        if (method.row->kind == MethodKind::threads) {
            return MadePlan(std::make_unique<ThreadsPlan>(plan, std::move(calls), std::move(setting), idle_));
        }
        auto made =
            std::make_unique<MpiPlan>(plan, std::move(calls), std::move(images), std::move(windows), std::move(board),
                                      std::move(setting), idle_, algorithms_, method.algorithms);
        if (polled || (own.concurrent && method.calls->posts_later)) {
            made->run_by_polling();
        }
        return MadePlan(std::move(made));
    }

    /// Why this rank cannot run its plan, besides what its calls refuse; empty: it can. `images`: allocated for
    /// `staged`.
    [[nodiscard]] std::string own_refusal(Plan const& plan, Buffers const& buffers, ChosenMethod const& method,
                                          HostImages& images) {
        if (method.row->kind == MethodKind::algorithm) {
            if (std::string reason = algorithms_.refusal(plan, method.algorithms); !reason.empty()) {
                return reason;
            }
        }
        if (std::string reason = method.row->kind == MethodKind::threads ? threads_refusal(plan) : "";
            !reason.empty()) {
            return reason;
        }
        bool const takes_rows = method.row->info.scattered && !on_device(buffers.kind);
        if (std::string reason = takes_rows ? "" : why_no_scattered_rows(plan); !reason.empty()) {
            return reason;
        }
        if (std::string reason = method.row->in_place ? "" : why_no_exchange_in_place(plan); !reason.empty()) {
            return reason;
        }
        if (std::string const reason = on_device(buffers.kind) ? why_no_products(plan) : ""; !reason.empty()) {
            return fmt::format("mpi: {}", reason);
        }
        bool const whole = method.row->kind == MethodKind::staged || method.row->kind == MethodKind::threads;
        if (has_signals(plan) && (whole || on_device(buffers.kind))) {
            return fmt::format("mpi: {}: puts and gets with signals go from and to host memory by calls of one thread",
                               method.row->info.name);
        }
        if (on_device(buffers.kind) && method.row->one_sided) {
            return fmt::format("mpi: {}: no MPI library can be asked whether its windows take {} memory; method staged "
                               "copies it",
                               method.row->info.name, name_of(buffers.kind));
        }
        if (on_device(buffers.kind) && method.row->host_memory) {
            return fmt::format("mpi: {}: the host adds, and cannot read {} memory; method staged:by={}",
                               method.row->info.name, name_of(buffers.kind), method.row->info.name);
        }
        std::string why_not;
        if (method.row->kind == MethodKind::staged) {
            images = staging_buffers_.of(plan, buffers, bootstrap_.local_size(), why_not);
        }
        return why_not.empty() ? "" : fmt::format("mpi: staged: {}", why_not);
    }

    /// Why the plans of all ranks cannot be run together; empty: they can.
    [[nodiscard]] static std::string refusal(ChosenMethod const& method, PlanRequirements const& agreed, bool device) {
        if (!agreed.refusal.empty()) {
            return agreed.refusal;
        }
        bool const blocking = !agreed.concurrent && !method.calls->nonblocking_reductions;
        bool const given_device_memory = device && method.row->kind != MethodKind::staged;
        if (given_device_memory && agreed.reduces && !blocking && !query_device_support().nonblocking_reductions) {
            return "mpi: this library's non-blocking reductions do not take device memory; method blocking or staged";
        }
        if (method.row->kind == MethodKind::algorithm && (agreed.concurrent || agreed.large)) {
            return "mpi: algorithm: it is chosen for blocking calls with counts of an int; in this plan steps overlap "
                   "or counts are larger";
        }
        return "";
    }

    [[nodiscard]] std::string misplaced(ChosenMethod const& method, MemoryKind kind) const {
        if (method.row->kind == MethodKind::staged) {
            return fmt::format("mpi: staged: MPI reads {} memory itself", name_of(kind));
        }
        return fmt::format("mpi: {}: MPI is not given {} memory ({}); method staged copies it", method.row->info.name,
                           name_of(kind), path_.reason);
    }

    Bootstrap& bootstrap_;
    Idle idle_;
    CallLimits limits_;
    DevicePath path_;
    std::string no_device_;  // why; empty: there is one
    Algorithms algorithms_;
    std::string algorithm_knobs_;
    std::vector<MethodInfo> methods_;
    std::vector<MethodInfo> host_methods_;
    std::unique_ptr<DeviceQueues> queues_;
    StagingBuffers staging_buffers_;
};

}  // namespace

MadeBackend make_backend(BackendContext const& context) {
    return make_limited_backend(context, CallLimits{});
}

MadeBackend make_limited_backend(BackendContext const& context, CallLimits const& limits) {
    if (context.bootstrap.kind() != "mpi") {
        return Unsupported{
            fmt::format("mpi: the ranks of this launch are not MPI processes ({}); start the program with mpirun",
                        context.bootstrap.kind())};
    }
    return std::unique_ptr<Backend>(std::make_unique<MpiBackend>(context, limits));
}

}  // namespace dlmb::mpi
