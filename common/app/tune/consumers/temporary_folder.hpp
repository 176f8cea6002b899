// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A folder that is gone with the object.
#pragma once

#include <filesystem>

namespace dlmb::app::tune {

class TemporaryFolder {
public:
    /// Throws Error with the system's reason.
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(TemporaryFolder const&) = delete;
    TemporaryFolder& operator=(TemporaryFolder const&) = delete;
    [[nodiscard]] std::filesystem::path const& path() const { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace dlmb::app::tune
