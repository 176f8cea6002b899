// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/ucx_backend.hpp"

#include "common/backends/ucx/compile.hpp"
#include "common/backends/ucx/memory_types.hpp"
#include "common/backends/ucx/provenance.hpp"
#include "common/backends/ucx/tag.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::ucx {
namespace {

class UcxBackend final : public Backend {
public:
    explicit UcxBackend(BackendContext const& context)
        : transports_(context), methods_(context.bootstrap.size() - 1), trial_(*this, context.bootstrap) {}

    [[nodiscard]] std::string_view name() const override { return "ucx"; }
    [[nodiscard]] std::span<MethodInfo const> methods() const override { return methods_.infos(); }
    [[nodiscard]] std::span<MethodInfo const> methods_on(MemoryKind kind) const override {
        return works_on_device(kind) ? methods_.infos_of_messages() : methods_.infos();
    }
    [[nodiscard]] std::vector<MethodChoice> variants(MemoryKind kind,
                                                     std::span<OperationUse const> uses) const override {
        return methods_.variants(uses, goes_by_messages(kind));
    }
    [[nodiscard]] bool supports(MemoryKind kind) const override {
        return transports_.standard().memory_types().has(kind);
    }
    [[nodiscard]] std::string why_no(MemoryKind kind) const override { return transports_.standard().why_no(kind); }
    [[nodiscard]] Provenance provenance() const override { return provenance_of(transports_.standard()); }

    [[nodiscard]] Expected<std::unique_ptr<CompiledPlan>, Unsupported> compile(Plan const& plan, Buffers const& buffers,
                                                                               MethodChoice const& choice) override {
        return ucx::compile(plan, buffers, methods_.choose(choice), transports_, trial_);
    }

    void quiesce() override { transports_.quiesce(); }

private:
    /// Also where a rank could load and store instead.
    [[nodiscard]] bool goes_by_messages(MemoryKind kind) const {
        std::vector<bool> const& sharing = transports_.standard().sharing();
        return works_on_device(kind) || std::find(sharing.begin(), sharing.end(), false) != sharing.end();
    }

    Transports transports_;
    MethodTable methods_;
    WindowTrial trial_;  // its plans end before the transports
};

}  // namespace

MadeBackend make_backend(BackendContext const& context) {
    if (static_cast<std::uint64_t>(context.bootstrap.size()) > tag_field_limit) {
        return Unsupported{
            fmt::format("a message tag names {} ranks, the launch has {}", tag_field_limit, context.bootstrap.size())};
    }
    return std::unique_ptr<Backend>(std::make_unique<UcxBackend>(context));
}

}  // namespace dlmb::ucx
