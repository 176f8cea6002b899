// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Owners of UCX objects, each released by its own call. Endpoints belong to the worker and are closed by Transport.
#pragma once

#include <ucp/api/ucp.h>

#include <memory>

namespace dlmb::ucx {

struct ReleaseConfig {
    void operator()(ucp_config_t* config) const { ucp_config_release(config); }
};
struct CleanUpContext {
    void operator()(ucp_context_h context) const { ucp_cleanup(context); }
};
struct DestroyWorker {
    void operator()(ucp_worker_h worker) const { ucp_worker_destroy(worker); }
};

using ConfigHandle = std::unique_ptr<ucp_config_t, ReleaseConfig>;
using ContextHandle = std::unique_ptr<ucp_context, CleanUpContext>;
using WorkerHandle = std::unique_ptr<ucp_worker, DestroyWorker>;

}  // namespace dlmb::ucx
