// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/backend.hpp"

#include "common/base/row_named.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace dlmb {
namespace {

bool serves(MethodInfo const& method, OperationUse const& use) {
    bool const takes_blocks = use.uniform || !method.uniform_only || use.kind != OperationKind::exchange;
    return method.operations.has(use.kind) && takes_blocks;
}

}  // namespace

/// In pieces on the stack: a signal handler allocates nothing.
std::optional<StepId> CompiledPlan::first_open_step() const noexcept {
    std::size_t const done = steps_done_.load(std::memory_order_acquire);
    std::array<bool, 4096> complete{};
    for (std::size_t first = 0; done < marks_.size() && first < marks_.size(); first += complete.size()) {
        std::size_t const count = std::min(complete.size(), marks_.size() - first);
        complete.fill(false);
        for (std::size_t place = 0; place < done; ++place) {
            if (std::size_t const step = marks_[place].step; step >= first && step < first + count) {
                complete[step - first] = true;
            }
        }
        auto const end = complete.begin() + static_cast<std::ptrdiff_t>(count);
        if (auto const open = std::find(complete.begin(), end, false); open != end) {
            return static_cast<StepId>(first) + static_cast<StepId>(open - complete.begin());
        }
    }
    return std::nullopt;
}

std::string stability_of(std::span<MethodInfo const> methods, std::string_view method,
                         std::span<OperationKind const> kinds) {
    bool any = false;
    bool arrival = true;
    bool rank_count = true;
    for (OperationKind const kind : kinds) {
        if (!reduces(kind)) {
            continue;
        }
        auto const own = std::find_if(methods.begin(), methods.end(), [&](MethodInfo const& row) {
            return row.name == method && row.operations.has(kind);
        });
        MethodInfo const* const row = own == methods.end() ? default_method(methods, {kind, true}) : &*own;
        any = true;
        arrival = arrival && row != nullptr && row->stable.over_arrival.has(kind);
        rank_count = rank_count && row != nullptr && row->stable.over_rank_counts.has(kind);
    }
    if (!any || !arrival) {
        return any ? "not stated" : "";
    }
    return rank_count ? "runs arrival rank_count" : "runs arrival";
}

std::vector<MethodInfo> methods_for(std::span<MethodInfo const> methods, std::span<OperationUse const> uses) {
    std::vector<MethodInfo> chosen;
    std::copy_if(methods.begin(), methods.end(), std::back_inserter(chosen), [&](MethodInfo const& method) {
        return std::any_of(uses.begin(), uses.end(), [&](OperationUse const& use) { return serves(method, use); });
    });
    return chosen;
}

MadePlan Backend::compile_polled(Plan const& /*plan*/, Buffers const& /*buffers*/, MethodChoice const& /*method*/) {
    return Unsupported{fmt::format("{} does not run at the same time as another backend", name())};
}

std::string_view BackendContext::option(std::string_view backend, std::string_view name) const {
    auto const own = options.find(backend);
    if (own == options.end()) {
        return {};
    }
    auto const found = own->second.find(name);
    return found == own->second.end() ? std::string_view{} : found->second;
}

std::size_t find_method(std::span<MethodInfo const> methods, std::string_view backend, std::string_view name) {
    MethodInfo const& method = row_named(methods, name, fmt::format("{} method", backend));
    return static_cast<std::size_t>(&method - methods.data());
}

MethodInfo const& chosen_method(std::span<MethodInfo const> methods, std::string_view backend,
                                MethodChoice const& choice) {
    MethodInfo const& method = methods[choice.name == "default" ? 0 : find_method(methods, backend, choice.name)];
    if (method.knobs.empty() && !choice.knobs.empty()) {
        throw_unknown_knob(backend, method, choice, choice.knobs.begin()->first);
    }
    return method;
}

void throw_unknown_knob(std::string_view backend, MethodInfo const& method, MethodChoice const& choice,
                        std::string_view knob) {
    throw UsageError(fmt::format("--method {}: unknown knob '{}'; {} {} has {}", to_string(choice), knob, backend,
                                 method.name, method.knobs.empty() ? "none" : method.knobs));
}

MethodInfo const* default_method(std::span<MethodInfo const> methods, OperationUse const& use) {
    auto const first = [&](bool scattered) {
        return std::find_if(methods.begin(), methods.end(), [&](MethodInfo const& method) {
            return serves(method, use) && (method.scattered || !scattered);
        });
    };
    auto found = first(use.scattered);
    found = found == methods.end() ? first(false) : found;  // its compile() says why not
    return found == methods.end() ? nullptr : &*found;
}

}  // namespace dlmb
