// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/ucx_backend.hpp"

#include "common/backends/ucx/compile.hpp"
#include "common/backends/ucx/provenance.hpp"
#include "common/backends/ucx/tag.hpp"
#include "common/base/error.hpp"
#include "common/base/suggest.hpp"

#include <fmt/core.h>

#include <array>

namespace dlmb::ucx {
namespace {

constexpr int few_peers = 32;  // above, posting to all at once loads matching and links: pairwise is the default

class UcxBackend final : public Backend {
public:
    explicit UcxBackend(BackendContext const& context) : transport_(context), methods_{linear(), pairwise()} {
        if (context.bootstrap.size() - 1 > few_peers) {
            std::swap(methods_[0], methods_[1]);
        }
        infos_ = {methods_[0].info, methods_[1].info};
    }

    [[nodiscard]] std::string_view name() const override { return "ucx"; }
    [[nodiscard]] std::span<MethodInfo const> methods() const override { return infos_; }
    [[nodiscard]] bool supports(MemoryKind kind) const override { return transport_.supports(kind); }
    [[nodiscard]] Provenance provenance() const override { return provenance_of(transport_); }

    [[nodiscard]] Expected<std::unique_ptr<CompiledPlan>, Unsupported> compile(Plan const& plan, Buffers const& buffers,
                                                                               MethodChoice const& choice) override {
        return ucx::compile(plan, buffers, method(choice.name), max_outstanding_of(choice), transport_);
    }

    void quiesce() override {
        transport_.flush();
        transport_.bootstrap().barrier();  // makes progress while it waits: a peer's flush may need this worker
    }

private:
    [[nodiscard]] Method const& method(std::string_view name) const {
        std::vector<std::string> known{"default"};
        for (Method const& each : methods_) {
            if (name == each.info.name) {
                return each;
            }
            known.emplace_back(each.info.name);
        }
        if (name != "default") {
            throw UsageError(unknown_name("ucx method", name, known));
        }
        return methods_[0];
    }

    Transport transport_;
    std::array<Method, 2> methods_;
    std::vector<MethodInfo> infos_;
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
