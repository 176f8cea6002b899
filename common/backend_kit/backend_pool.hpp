// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The backends of one launch, made when they are first asked for.
#pragma once

#include "common/backend_kit/chooser.hpp"

#include <map>

namespace dlmb {

class BackendPool final : public BackendSource {
public:
    /// Backends that use others find them here; `context.others` is not looked at.
    explicit BackendPool(BackendContext const& context);
    BackendPool(BackendPool const&) = delete;
    BackendPool& operator=(BackendPool const&) = delete;
    ~BackendPool() override = default;

    [[nodiscard]] Expected<std::shared_ptr<Backend>, Unsupported> backend(std::string_view name) override;

private:
    BackendContext context_;
    std::map<std::string, Expected<std::shared_ptr<Backend>, Unsupported>, std::less<>> made_;
};

}  // namespace dlmb
