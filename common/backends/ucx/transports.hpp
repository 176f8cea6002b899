// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The transports of one rank: the one that most plans use, and one for each set of settings that a method asks for. UCX
// reads settings when a context is made, so each set has a context, a worker and endpoints of its own.
#pragma once

#include "common/backends/ucx/transport.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace dlmb::ucx {

class Transports {
public:
    /// Collective, as are all calls below that are not const.
    explicit Transports(BackendContext const& context);
    Transports(Transports const&) = delete;
    Transports& operator=(Transports const&) = delete;
    /// Collective, unless an exception is on its way: then nothing is waited for.
    ~Transports();

    /// As the user's UCX_* variables say, and prefer_for_tcp() where they do not.
    [[nodiscard]] Transport& standard() const { return *all_.front().second; }
    /// Made when these settings are first asked for. Unsupported alike on all ranks.
    [[nodiscard]] Expected<Transport*, Unsupported> with(ContextSettings const& settings);

    /// Before plans of `next` run where those of another one may have: a waiting plan progresses its own worker only,
    /// so nothing that a peer still needs may be left in another. False: it is active already.
    bool switch_to(Transport& next) {
        if (active_ == &next) {
            return false;
        }
        quiesce();
        active_ = &next;
        return true;
    }
    /// Waits until every posted operation of all ranks has reached its peer.
    void quiesce();

private:
    using WithSettings = std::pair<ContextSettings, std::unique_ptr<Transport>>;

    void progress() const;
    /// What speaks against a transport with these settings; empty: it is made.
    [[nodiscard]] std::string make(ContextSettings const& settings);

    BackendContext context_;
    int exceptions_at_start_;
    std::vector<WithSettings> all_;
    Transport* active_ = nullptr;
    ProgressHandle progress_;  // removed before the workers that it progresses
};

}  // namespace dlmb::ucx
