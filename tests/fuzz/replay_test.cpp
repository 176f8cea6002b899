// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Every target over its seeds, in each test build: what was found once stays mended, and seeds do not go stale.
#include "tests/fuzz/targets.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace dlmb::fuzz {
namespace {

namespace fs = std::filesystem;

class Corpus : public testing::TestWithParam<Target> {};

TEST_P(Corpus, IsReadOrRefusedAsDocumented) {
    std::size_t seeds = 0;
    for (auto const& entry : fs::directory_iterator(fs::path(DLMB_FUZZ_CORPUS) / GetParam().name)) {
        std::ifstream file(entry.path(), std::ios::binary);
        std::string const input{std::istreambuf_iterator<char>(file), {}};
        EXPECT_NO_THROW(GetParam().read(input)) << entry.path();
        ++seeds;
    }
    EXPECT_GT(seeds, 0U);
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Corpus, testing::ValuesIn(targets),
                         [](auto const& each) { return std::string(each.param.name); });

TEST(Corpus, EveryFolderIsThatOfATarget) {
    std::set<std::string> names;
    for (Target const& target : targets) {
        names.emplace(target.name);
    }
    for (auto const& entry : fs::directory_iterator(DLMB_FUZZ_CORPUS)) {
        EXPECT_TRUE(names.contains(entry.path().filename())) << entry.path();
    }
}

}  // namespace
}  // namespace dlmb::fuzz
