// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/sweep.hpp"
#include "common/base/error.hpp"
#include "patterns/moe_alltoall/moe_alltoall.hpp"

#include <gtest/gtest.h>

namespace dlmb::app {
namespace {

TEST(Sweep, WithoutAPresetThereIsOnePointOfDefaults) {
    std::vector<Variant> const variants = expand_sweep(moe_alltoall::type(), Options{});
    ASSERT_EQ(variants.size(), 1U);
    EXPECT_EQ(variants[0].preset, "");
    EXPECT_EQ(variants[0].parameters, variants[0].preset_values);
}

TEST(Sweep, IsEveryPresetWithEveryCombination) {
    Options options;
    options.presets = {"mixtral-8x7b", "deepseek-v3"};
    options.parameters = {{"hidden", {"64", "128"}}, {"tokens", {"1", "2", "3"}}};
    std::vector<Variant> const variants = expand_sweep(moe_alltoall::type(), options);
    ASSERT_EQ(variants.size(), 2U * 2U * 3U);
    EXPECT_EQ(variants[0].title, "mixtral-8x7b hidden=64 tokens=1");
    EXPECT_EQ(variants[1].parameters.at("tokens"), "2");
    EXPECT_EQ(variants[11].title, "deepseek-v3 hidden=128 tokens=3");
    EXPECT_EQ(variants[11].preset_values.at("hidden"), "7168");
}

TEST(Sweep, AnUnknownPresetNamesTheNearest) {
    Options options;
    options.presets = {"deepseek-v4"};
    try {
        (void)expand_sweep(moe_alltoall::type(), options);
        FAIL() << "accepted";
    } catch (UsageError const& error) {
        EXPECT_NE(std::string(error.what()).find("deepseek-v3"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace dlmb::app
