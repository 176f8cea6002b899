// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/wires.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

namespace dlmb::ucx {
namespace {

constexpr std::string_view carry_nothing_to_others[] = {"self", "cuda_copy", "gdr_copy", "rocm_copy", "ze_copy"};
constexpr std::string_view end_at_the_node[] = {"cma",  "cuda_ipc", "knem",  "posix",
                                                "sysv", "rocm_ipc", "xpmem", "ze_ipc"};

template <class Names>
bool has(Names const& names, std::string const& name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

Wire wire(TransportNames const& transports, bool within_node) {
    bool const faster = std::any_of(transports.begin(), transports.end(), [within_node](std::string const& name) {
        return name != "tcp" && !has(carry_nothing_to_others, name) && (within_node || !has(end_at_the_node, name));
    });
    Wire const slowest = within_node ? Wire::loopback : Wire::sockets;
    return faster || !has(transports, "tcp") ? Wire::native : slowest;
}

}  // namespace

TransportNames transports_of_context(std::string const& context_info) {
    TransportNames names;
    std::istringstream lines(context_info);
    for (std::string line; std::getline(lines, line);) {
        // "#      resource 2  :  md 1  dev 2  flags -- tcp/eth0"
        std::size_t const end = line.rfind('/');
        if (end != std::string::npos && line.find(" resource ") != std::string::npos) {
            std::size_t const begin = line.rfind(' ', end) + 1;
            names.insert(line.substr(begin, end - begin));
        }
    }
    return names;
}

Wire wire_within_node(TransportNames const& transports) {
    return wire(transports, true);
}

Wire wire_between_nodes(TransportNames const& transports) {
    return wire(transports, false);
}

Wire Wires::among(Group const& group) const {
    bool const on_one_node = std::all_of(group.members.begin(), group.members.end(), [this](Rank member) {
        return on_this_node.at(static_cast<std::size_t>(member));
    });
    return on_one_node ? within_node : between_nodes;
}

}  // namespace dlmb::ucx
