// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/backend_pool.hpp"

#include "common/backend_kit/registry.hpp"

namespace dlmb {

BackendPool::BackendPool(BackendContext const& context, Chooser const* chooser) : context_(context) {
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
