// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/version.hpp"

#include <gtest/gtest.h>

#include <regex>

namespace dlmb {
namespace {

TEST(BuildInfo, NamesVersionRevisionAndCompiler) {
    BuildInfo const& build = build_info();
    EXPECT_TRUE(std::regex_match(std::string(build.version), std::regex(R"(\d+\.\d+\.\d+)"))) << build.version;
    // A revision of twelve or more hex digits, or "unknown" where the sources are no git checkout.
    EXPECT_TRUE(std::regex_match(std::string(build.git_revision), std::regex(R"(([0-9a-f]{12,}(-dirty)?)|unknown)")))
        << build.git_revision;
    EXPECT_TRUE(std::regex_match(std::string(build.compiler), std::regex(R"((GNU|Clang) \d+\..*)"))) << build.compiler;
    EXPECT_FALSE(build.build_type.empty());
}

}  // namespace
}  // namespace dlmb
