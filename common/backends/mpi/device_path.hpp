// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// May a device pointer reach MPI? It must be known before the call: a library that does not expect one crashes in it,
// and no error handler helps.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backends/mpi/device_query.hpp"

#include <optional>
#include <string>

namespace dlmb::mpi {

/// All that is known about this rank's library.
struct DeviceAnswers {
    DevicePointers wanted = DevicePointers::ask;
    DeviceQuery query;
    std::optional<std::string> alloc_kinds;
};

/// direct: MPI is given device pointers. Otherwise payload on a device is staged through host memory.
struct DevicePath {
    bool direct = false;
    std::string reason;
    bool operator==(DevicePath const&) const = default;
};

/// The first that answers decides: the user, the library's query, the memory kinds it names. Without any answer: no.
[[nodiscard]] DevicePath decide(DeviceAnswers const& answers);

/// Collective. Direct only where it is on every rank; the reason is that of the lowest rank that refuses.
[[nodiscard]] DevicePath agree(DevicePath const& own, Bootstrap& bootstrap);

}  // namespace dlmb::mpi
