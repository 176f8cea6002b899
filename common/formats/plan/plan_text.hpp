// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plans as text for people: the steps of every rank, traffic matrices, and what a plan set moves by phase and kind of
// operation, the view in which traffic studies compare ways to be parallel (Anthony et al., "Demystifying the
// Communication Characteristics for Distributed Transformer Models"). As GOAL, the point-to-point schedule language
// of network simulators (LogGOPSim), and as a graph of Graphviz.
#pragma once

#include "common/formats/plan/plan_source.hpp"

#include <string>

namespace dlmb {

/// A table for `--plan text`: every rank's steps (operation, label, payload and wire bytes, messages), then one matrix
/// per phase. Above 32 ranks rows are summarised (total, max, min, imbalance) instead of printed cell by cell. Asks for
/// each plan once; keeps of it what is printed.
[[nodiscard]] std::string to_text(PlanSource const& plans);

/// GOAL, for plans that validate() accepts: their messages (messages.hpp), and calc, in ns, for computations;
/// arithmetic of reductions costs nothing. A message of 0 bytes has one. Asks for each plan twice, and writes rank by
/// rank.
void write_goal(PlanSource const& plans, TextSink const& sink);

/// A graph of Graphviz, for plans that validate() accepts: a cluster per rank, a box per step; dashed edges for what a
/// step waits for; an edge per message with its bytes, bytes to self included. The ranks of a collective each have an
/// edge to one node, with the bytes of its full logical buffer. Asks for each plan twice, and writes rank by rank.
void write_dot(PlanSource const& plans, TextSink const& sink);

}  // namespace dlmb
