// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plain copies with which steps that pack and unpack are compared: as many bytes between the same buffers, on the same
// ranks at the same time, in the same turn of slots.
#pragma once

#include "common/formats/record/record.hpp"
#include "common/measure/buffers/buffer_pool.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dlmb::measure {

/// Collective. By label, as `labels`, which is the same on all ranks; nothing for a phase that packs nothing anywhere.
/// Some tens of milliseconds, or one pass over the draws. Overwrites what lies in `slots`. `converts`: does the steps
/// that do not say who does them; nullopt: unknown, so that their phases get nothing. `flush`: swept before each turn;
/// nullptr: nothing is.
[[nodiscard]] std::vector<std::optional<record::PlainCopy>>
time_plain_copies(Bootstrap& bootstrap, std::span<Buffers const> slots, std::span<Plan const> plans,
                  std::span<std::string const> labels, std::optional<Processor> converts, CacheFlush* flush);

}  // namespace dlmb::measure
