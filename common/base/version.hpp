// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Identity of this build, filled in by CMake (version.cpp.in) and carried by every program and record.
#pragma once

#include <string_view>

namespace dlmb {

struct BuildInfo {
    std::string_view version;       // project version, "0.1.0"
    std::string_view git_revision;  // "a1b2c3d4e5f6", with "-dirty" when the tree had changes; "unknown" outside git
    std::string_view compiler;      // "GNU 12.2.0"
    std::string_view flags;         // CMAKE_CXX_FLAGS of the build type
    std::string_view build_type;    // "Release", "Debug" ...
    std::string_view sanitizers;    // "" or "address,undefined"
};

[[nodiscard]] BuildInfo const& build_info();

}  // namespace dlmb
