// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a machine model is fitted to: a table with the columns of the data of PICO, or a result file of dlmb_collective.
#pragma once

#include "common/predict/machine_model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dlmb::app::predict {

struct FitInput {
    std::vector<dlmb::predict::Measurement> measurements;  // of one system, of algorithms whose messages are known
    std::string text;                                      // the file as it was read
    std::uint64_t left_out = 0;                            // cells of a result file that say nothing about messages
};

/// Of a table, the lines of `system`. A result file is of one machine, which `system` names; of its cells those count
/// whose messages are known: sendrecv to the next rank, and collectives by an algorithm of the library
/// (--method algorithm:CALL=NAME, which becomes NAME_ompi or NAME_mpich). A launch is a job. Throws UsageError.
[[nodiscard]] FitInput read_fit_input(std::string const& path, std::string const& system);

}  // namespace dlmb::app::predict
