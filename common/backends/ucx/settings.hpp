// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// UCX's configuration as it stands after the user's UCX_* variables. Over tcp this backend sets four things that the
// user has not: what else was tried is in docs/performance.md.
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

/// Where UCX_TLS has nothing but tcp and self, sets what UCX_RNDV_THRESH, UCX_TCP_RX_SEG_SIZE, UCX_TCP_SNDBUF and
/// UCX_MAX_RNDV_RAILS leave open (the two of tcp as variables: UCX does not tell what a ucx.conf says of a
/// transport).
/// - Rendezvous from 768 KiB on, because UCX 1.13 takes two round trips more per message from some KiB on; on one node
///   from 896 KiB on.
/// - Reads of 100 KiB from sockets, not of 64 KiB. Messages are cut alike, and a fragment is copied out when all of it
///   has been read: that goes beside the sending of the next one. The first read of each part of a rendezvous is copied
///   twice.
/// - On one node a send buffer of 256 KiB; the kernel doubles it (and gives no more than net.core.wmem_max): with the
///   megabytes that it takes of itself, what is written has left the caches before the peer reads it. Between nodes the
///   network decides how much has to be under way.
/// - On one node rendezvous through one socket, not one per network device: they end in the same kernel.
/// `one_node`: whether all ranks are on one. What was set, by UCX's names without "UCX_".
[[nodiscard]] ContextSettings prefer_for_tcp(ucp_config_t& config, bool one_node);

/// What ucp_config_modify() of this version calls a setting: up to 1.16 those of transports have no transport in their
/// name. The other name is taken without a word and warned of when a worker is made (tried with 1.13 to 1.18 and 1.22).
[[nodiscard]] std::string name_to_modify(std::string_view setting, unsigned major, unsigned minor);

/// The settings that most change what is measured, for the record: {"ucx_rndv_scheme", "auto"}.
[[nodiscard]] std::map<std::string, std::string, std::less<>> settings_of_interest(ucp_config_t const& config);

}  // namespace dlmb::ucx
