// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What the tests on device memory share. They run where the test double of CUDA is preloaded; its device memory is host
// memory that it keeps apart, so nothing here says anything about a GPU.
#pragma once

#include "tests/conformance/corpus.hpp"
#include "tests/mpi/device/watched_mpi.hpp"
#include "tests/mpi/rig.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace dlmb::mpi {

using Problems = std::vector<std::string>;

/// Every plan of the corpus for as many ranks, but those with puts and signals, which are in host memory only.
inline void expect_corpus_clean(Rig& rig, std::string_view method) {
    for (conformance::CorpusEntry const& entry : conformance::corpus(rig.ranks())) {
        auto const& plans = entry.plans;
        if (std::any_of(plans.begin(), plans.end(), [](Plan const& each) { return has_signals(each); })) {
            continue;
        }
        Plan const& plan = entry.plans[static_cast<std::size_t>(rig.me())];
        EXPECT_EQ(rig.run(plan, method), Problems{}) << entry.name << ", " << method;
    }
}

}  // namespace dlmb::mpi
