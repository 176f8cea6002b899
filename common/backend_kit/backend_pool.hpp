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
    /// `chooser`: for a backend that hands its steps to the others of this pool; nullptr: there is none.
    explicit BackendPool(BackendContext const& context, Chooser const* chooser = nullptr);
    BackendPool(BackendPool const&) = delete;
    BackendPool& operator=(BackendPool const&) = delete;
    ~BackendPool() override = default;

    [[nodiscard]] Expected<std::shared_ptr<Backend>, Unsupported> backend(std::string_view name) override;

private:
    BackendContext context_;
    std::optional<Delegation> delegation_;
    std::map<std::string, Expected<std::shared_ptr<Backend>, Unsupported>, std::less<>> made_;
};

}  // namespace dlmb
