// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How communicators come into being. All are non-blocking while they are used; each function returns when they are
// usable, and throws Error when NCCL cannot connect.
#pragma once

#include "common/bootstrap/bootstrap.hpp"
#include "common/plan/plan.hpp"

#include <nccl.h>

#include <span>

namespace dlmb::nccl {

[[nodiscard]] ncclUniqueId new_id();
/// Collective over `group`.
[[nodiscard]] ncclComm_t make_from_id(Bootstrap& bootstrap, ncclUniqueId const& id, Group const& group);
/// Collective over the world: one communicator for each of the groups, which share no rank. This rank's; nullptr where
/// it is in none. subgroups_split.cpp or, before NCCL 2.18, subgroups_from_id.cpp defines it; CMake picks one.
[[nodiscard]] ncclComm_t make_subgroups(Bootstrap& bootstrap, ncclComm_t world, std::span<Group const> groups);

[[nodiscard]] ncclConfig_t configuration();
void wait_until_ready(Bootstrap& bootstrap, ncclComm_t communicator, char const* call);

}  // namespace dlmb::nccl
