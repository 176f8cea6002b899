// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// UCX's configuration as it stands after the user's UCX_* variables. This backend changes two things in it, where the
// user has not: what else was tried and why it stayed out is in the README of this folder.
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

/// Where the user's UCX_TLS has nothing but tcp and self, and unless UCX_RNDV_THRESH or UCX_TCP_RX_SEG_SIZE say
/// otherwise: rendezvous from 768 KiB on, because UCX 1.13 takes two round trips more per message from some KiB on, and
/// larger reads from sockets than of 64 KiB. Messages are cut alike, and a piece is copied out when all of it has been
/// read: 100 KiB where ranks have cores of their own, so that the copy goes beside the sending of the next piece, and
/// because the first read of each part of a rendezvous is copied twice; 256 KiB where `cores_are_shared` and each wait
/// costs a turn. True: rendezvous begin where DLMB lets them.
[[nodiscard]] bool prefer_for_tcp(ucp_config_t& config, bool cores_are_shared);

/// What ucp_config_modify() calls UCX_TCP_RX_SEG_SIZE: up to 1.16 settings of transports have no transport in their
/// name. The other name is taken without a word and warned of when a worker is made (tried with 1.13 to 1.18 and 1.22).
[[nodiscard]] char const* receive_segment_name(unsigned major, unsigned minor);

/// The settings that most change what is measured, for the record: {"ucx_rndv_scheme", "auto"}.
[[nodiscard]] std::map<std::string, std::string, std::less<>> settings_of_interest(ucp_config_t const& config);

}  // namespace dlmb::ucx
