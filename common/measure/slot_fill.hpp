// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What lies in the buffers while iterations are timed.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/measure/cache_use.hpp"

#include <span>

namespace dlmb::measure {

/// By the rank that owns them, so that their pages lie near it: every byte of every slot is written. Memory never
/// written is one shared page of zeros to the kernel, and sending it costs less than sending data.
/// random: what position p sends is payload; its reductions get numbers, because other bytes may stand for ones that
/// processors are slow with.
void fill_slots(MemorySpace& memory, std::span<Buffers const> slots, std::span<Plan const> plans, Fill fill);

}  // namespace dlmb::measure
