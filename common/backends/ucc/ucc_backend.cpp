// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives of the UCC library, which Open MPI and PyTorch use over UCX.
#include "common/backend_kit/registry.hpp"
#include "common/backends/ucc/ucc_plan.hpp"
#include "common/bootstrap/oversubscription.hpp"

#include <fmt/core.h>

#include <dlfcn.h>
#include <filesystem>

namespace dlmb::ucc {
namespace {

/// UCC loads what serves a kind of memory from a folder beside the library.
bool has_component(std::string_view name) {
    Dl_info found{};
    if (dladdr(reinterpret_cast<void const*>(&ucc_get_version_string), &found) == 0 || found.dli_fname == nullptr) {
        return false;
    }
    auto const folder = std::filesystem::path(found.dli_fname).parent_path() / "ucc";
    std::error_code unreadable;
    return std::filesystem::exists(folder / fmt::format("libucc_{}.so", name), unreadable);
}

class UccBackend final : public Backend {
public:
    explicit UccBackend(BackendContext const& context)
        : bootstrap_(context.bootstrap), idle_(should_yield(context.yield, context.bootstrap)),
          contexts_(context.bootstrap), cuda_(has_component("mc_cuda")) {}

    [[nodiscard]] std::string_view name() const override { return "ucc"; }
    [[nodiscard]] std::span<MethodInfo const> methods() const override { return method_table(); }
    [[nodiscard]] std::vector<MethodChoice> variants(MemoryKind kind,
                                                     std::span<OperationUse const> uses) const override {
        return supports(kind) ? algorithm_variants(uses) : std::vector<MethodChoice>{};
    }
    [[nodiscard]] bool supports(MemoryKind kind) const override {
        bool const device = kind == MemoryKind::cuda || kind == MemoryKind::managed;
        return kind == MemoryKind::host || kind == MemoryKind::pinned || (device && cuda_);
    }
    [[nodiscard]] std::string why_no(MemoryKind kind) const override {
        return supports(kind) ? "" : "this UCC library was built without CUDA (it has no component mc_cuda)";
    }
    [[nodiscard]] Provenance provenance() const override {
        return {{"ucc_version", ucc_get_version_string()}, {"yields", idle_.yields() ? "yes" : "no"}};
    }

    [[nodiscard]] Expected<std::unique_ptr<CompiledPlan>, Unsupported> compile(Plan const& plan, Buffers const& buffers,
                                                                               MethodChoice const& choice) override {
        Method const method = read_method(choice);
        if (!supports(buffers.kind)) {
            return Unsupported{fmt::format("{} memory: {}", dlmb::name_of(buffers.kind), why_no(buffers.kind))};
        }
        return ucc::compile(plan, buffers, method, contexts_.with(tune_text(method)), bootstrap_, idle_);
    }

    // Every collective has ended on every rank that returned from finish(); the others may need this one's progress,
    // which the bootstrap makes while it waits.
    void quiesce() override { contexts_.quiesce(); }

private:
    Bootstrap& bootstrap_;
    Idle idle_;
    Contexts contexts_;
    bool cuda_;
};

}  // namespace

MadeBackend make_backend(BackendContext const& context) {
    return std::unique_ptr<Backend>(std::make_unique<UccBackend>(context));
}

}  // namespace dlmb::ucc
