// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Letters to one peer packed into one message, so that empty letters and several to one peer need no special case.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

#include <map>

namespace dlmb::mpi {

/// One message per peer: each letter as its 8-byte length followed by its bytes.
[[nodiscard]] std::map<Rank, Blob> pack(std::span<Letter const> outgoing, int ranks);

/// Appends the letters of a message from `peer`. Throws Error on a message that pack() cannot have made.
void unpack(Rank peer, std::span<std::byte const> message, std::vector<Letter>& incoming);

}  // namespace dlmb::mpi
