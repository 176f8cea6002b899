// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Measurements that a machine model is fitted to: a table with the columns of the data of PICO, or a result file of
// dlmb_collective.
#pragma once

#include "common/tools/predict/machine_model.hpp"

#include <string>
#include <vector>

namespace dlmb::predict::commands {

struct FitInput {
    std::vector<Measurement> measurements;  // of one system, of algorithms whose messages are known
    std::string text;                       // the file as it was read
    std::string left_out_text;              // what is not among them and why, in whole lines; empty: nothing
};

/// Takes from a table the lines of `system` whose algorithm is known. A result file is of one machine, which `system`
/// names; its cells count if their messages are known: sendrecv to the next rank, and collectives by an algorithm of
/// the library (--method algorithm:CALL=NAME, which becomes NAME_ompi or NAME_mpich). A launch is a job. Without what
/// is on more than `max_nodes` nodes, unless that is 0. Throws UsageError.
[[nodiscard]] FitInput read_fit_input(std::string const& path, std::string const& system, int max_nodes);

}  // namespace dlmb::predict::commands
