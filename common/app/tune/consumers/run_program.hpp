// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs another program and collects what it prints.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace dlmb::app::tune {

struct Finished {
    int exit_code = 0;   // 128 + signal, 124: it ran out of time and was ended
    std::string output;  // standard output and error as they came
};

/// `arguments`: the program, by path or by name, and what it is given. Throws Error when it cannot be started.
[[nodiscard]] Finished run_program(std::vector<std::string> const& arguments, std::chrono::seconds most);

}  // namespace dlmb::app::tune
