// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Nodes of Chakra stand in any order; what each waits for (parent; ctrl_deps and data_deps) says in which a rank comes
// to them.
#pragma once

#include "common/tools/plan/builder.hpp"
#include "common/tools/plan/formats/chakra_nodes.hpp"

#include <string>
#include <vector>

namespace dlmb::trace::chakra {

/// Places in `nodes`: each behind those that it waits for, else by their ids, as a simulator takes them. What is
/// missing or waits in a circle makes the trace incomplete; `file` is named then.
[[nodiscard]] std::vector<std::size_t> in_order(Builder& builder, std::string const& file,
                                                std::vector<Node> const& nodes);

}  // namespace dlmb::trace::chakra
