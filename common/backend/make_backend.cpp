// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend/registry.hpp"
#include "common/base/error.hpp"
#include "common/base/suggest.hpp"

#include <fmt/core.h>

namespace dlmb {

MadeBackend make_backend(std::string_view name, BackendContext const& context) {
    std::vector<std::string> known;
    for (BackendEntry const& entry : backend_entries()) {
        if (entry.name == name) {
            return entry.make == nullptr ? MadeBackend{Unsupported{std::string(entry.absent)}} : entry.make(context);
        }
        known.emplace_back(entry.name);
    }
    throw UsageError(unknown_name("backend", name, known));
}

}  // namespace dlmb
