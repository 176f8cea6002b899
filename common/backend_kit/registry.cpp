// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/registry.hpp"

#include "common/base/error.hpp"
#include "common/base/row_named.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace dlmb {

namespace {

BackendEntry const& entry_of(std::string_view name) {
    return row_named(backend_entries(), name, "backend");
}

}  // namespace

MadeBackend make_backend(std::string_view name, BackendContext const& context) {
    for (auto const& [backend, options] : context.options) {
        std::vector<std::string> const& known = entry_of(backend).options;
        for (auto const& [option, value] : options) {
            if (std::find(known.begin(), known.end(), option) == known.end()) {
                throw UsageError(unknown_name(fmt::format("option of backend {}", backend), option, known));
            }
        }
    }
    BackendEntry const& entry = entry_of(name);
    return entry.make == nullptr ? MadeBackend{Unsupported{std::string(entry.absent)}} : entry.make(context);
}

std::unique_ptr<MemorySpace> make_memory(MemoryKind kind, std::string& why_not) {
    for (BackendEntry const& entry : backend_entries()) {
        if (entry.name != name_of(kind)) {
            continue;
        }
        if (entry.make_memory == nullptr) {
            why_not = fmt::format("{} memory: {}", name_of(kind), entry.absent);
            return nullptr;
        }
        return entry.make_memory(why_not);
    }
    return make_memory_space(kind, why_not);
}

BackendPool::BackendPool(BackendContext context, Chooser const* chooser) : context_(std::move(context)) {
    if (chooser != nullptr) {
        delegation_.emplace(Delegation{*chooser, *this});
        context_.delegation = &*delegation_;
    }
}

Expected<std::shared_ptr<Backend>, Unsupported> BackendPool::backend(std::string_view name) {
    if (auto const found = made_.find(name); found != made_.end()) {
        return found->second;
    }
    using Shared = Expected<std::shared_ptr<Backend>, Unsupported>;
    MadeBackend made = make_backend(name, context_);
    Shared shared = made ? Shared{std::shared_ptr<Backend>(std::move(made).value())} : Shared{made.error()};
    made_.emplace(name, shared);
    return shared;
}

}  // namespace dlmb
