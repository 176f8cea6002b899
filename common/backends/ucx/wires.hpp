// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Where messages between ranks have nothing faster than TCP sockets, from the transports that a UCX context has.
#pragma once

#include "common/backend_kit/algorithms/shape.hpp"
#include "common/backends/ucx/handles.hpp"

#include <set>
#include <string>
#include <vector>

namespace dlmb::ucx {

using algorithms::Wire;
using TransportNames = std::set<std::string>;

/// {"self", "sysv", "tcp"} out of what ucp_context_print_info prints.
[[nodiscard]] TransportNames transports_of_context(std::string const& context_info);

[[nodiscard]] Wire wire_within_node(TransportNames const& transports);
[[nodiscard]] Wire wire_between_nodes(TransportNames const& transports);

struct Wires {
    Wire within_node = Wire::native;
    Wire between_nodes = Wire::native;
    std::vector<bool> on_this_node;  // by world rank

    /// Of the slowest messages among the group's members; alike on all of them.
    [[nodiscard]] Wire among(Group const& group) const;
};

}  // namespace dlmb::ucx
