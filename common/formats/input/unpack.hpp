// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Files out of compressed files and archives. CMake picks unpack.cpp, which needs libarchive, or unpack_absent.cpp.
#pragma once

#include "common/formats/input/input.hpp"

#include <filesystem>
#include <functional>
#include <string>

namespace dlmb::input {

/// Hidden files are no traces; macOS writes one of attributes beside each file.
[[nodiscard]] bool is_hidden(std::filesystem::path const& file);

/// Calls `visit` for each file in `packed`: the members of an archive, or the one file that is compressed or plain.
void visit_unpacked(std::string const& name, ByteSource& packed, std::function<void(Input&)> const& visit);

}  // namespace dlmb::input
