// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One training iteration of a recommendation model whose embedding tables are spread over the ranks while its MLPs are
// data parallel.
//
//   every rank sends the lengths of its bags, then their indices, to the tables' owners  lengths, indices
//   owners look up and sum the rows of every bag of the whole batch                     lookup (time only)
//   the sums travel to the rank of their sample                                         forward
//   gradients of the top MLP are reduced while those of the sums travel back            dense_top, backward
//   gradients of the bottom MLP and of replicated tables are reduced                    dense_bottom
//
// Presets, byte formulas and sources: README.md. Not here: caches, the tables' content, any communication library.
#pragma once

#include "patterns/pattern.hpp"

namespace dlmb::dlrm_exchange {

[[nodiscard]] PatternType const& type();

}  // namespace dlmb::dlrm_exchange
