// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/process.hpp"

#include <fstream>
#include <string>

namespace dlmb::fake_gpu {

bool is_running(int process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string line;
    if (!std::getline(file, line)) {
        return false;
    }
    auto const name_end = line.rfind(')');  // "pid (name) state ..."; a name may hold anything
    return name_end != std::string::npos && name_end + 2 < line.size() && line[name_end + 2] != 'Z';
}

}  // namespace dlmb::fake_gpu
