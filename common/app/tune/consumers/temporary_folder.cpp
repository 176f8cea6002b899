// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/tune/consumers/temporary_folder.hpp"

#include "common/base/error.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace dlmb::app::tune {

TemporaryFolder::TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "dlmb-tune-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
        throw Error(name + ": " + std::strerror(errno));
    }
    path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace dlmb::app::tune
