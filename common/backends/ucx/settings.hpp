// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// UCX's configuration as it stands after the user's UCX_* variables. This backend changes three things in it, where
// the user has not: what else was tried and why it stayed out is in the README of this folder.
#pragma once

#include "common/backends/ucx/handles.hpp"

#include <map>
#include <string>
#include <string_view>

namespace dlmb::ucx {

/// What a method changes in a context of its own, by UCX's names without "UCX_": {"RNDV_THRESH", "65536"}.
using ContextSettings = std::map<std::string, std::string, std::less<>>;

[[nodiscard]] ConfigHandle read_config();

/// Value of a setting, named without "UCX_", read from UCX's own listing; empty when this UCX has no such setting.
[[nodiscard]] std::string setting(ucp_config_t const& config, std::string_view name);

/// Changes these. Why that cannot be done; empty: it is done. UCX takes a name that it does not know without a word.
[[nodiscard]] std::string set(ucp_config_t& config, ContextSettings const& settings);

struct SocketUse {
    bool cores_are_shared = false;
    bool one_node = false;
};

/// Where the user's UCX_TLS has nothing but tcp and self, and what UCX_RNDV_THRESH, UCX_TCP_RX_SEG_SIZE and
/// UCX_TCP_SNDBUF do not say otherwise:
/// - Rendezvous from 768 KiB on, because UCX 1.13 takes two round trips more per message from some KiB on.
/// - Larger reads from sockets than of 64 KiB. Messages are cut alike, and a piece is copied out when all of it has
/// been
///   read: 100 KiB where ranks have cores of their own, so that the copy goes beside the sending of the next piece, and
///   because the first read of each part of a rendezvous is copied twice; 256 KiB where they share cores and each wait
///   costs a turn.
/// - On one node, at most 512 KiB (of which the kernel takes twice as much memory) written and not read yet: what the
///   kernel holds is then still in a cache when the peer reads it, and the same memory is used again and again. Between
///   nodes the network decides how much has to be under way.
/// Returns what was changed, by the names of ucp_config_modify().
ContextSettings prefer_for_tcp(ucp_config_t& config, SocketUse use);

/// What ucp_config_modify() calls UCX_TCP_<name>: up to 1.16 settings of transports have no transport in their name.
/// The other name is taken without a word and warned of when a worker is made (tried with 1.13 to 1.18 and 1.22).
[[nodiscard]] std::string name_of_tcp_setting(unsigned major, unsigned minor, std::string_view name);

/// The settings that most change what is measured, for the record: {"ucx_rndv_scheme", "auto"}.
[[nodiscard]] std::map<std::string, std::string, std::less<>> settings_of_interest(ucp_config_t const& config);

}  // namespace dlmb::ucx
