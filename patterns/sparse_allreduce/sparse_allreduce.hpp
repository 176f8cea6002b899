// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Allreduce of the k largest of n gradients: the ranks' largest gradients lie at different indices, so what is sent
// depends on the data.
//
//   dense             all n are reduced                                                          reduce
//   topk_allgather    every rank gathers the k pairs (index, value) of all ranks                 gather
//   gtopk             pairs are added along a tree, of each sum the k largest stay               reduce, gather
//   recursive_sparse  pairs are added by recursive doubling, sums fill in                        reduce
//   oktopk            owners of regions add pairs, and what is above a threshold is gathered     split, gather
//
// Formulas and sources: README.md. Not here: time, any communication library.
#pragma once

#include "patterns/pattern.hpp"

namespace dlmb::sparse_allreduce {

[[nodiscard]] PatternType const& type();

}  // namespace dlmb::sparse_allreduce
