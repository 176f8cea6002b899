// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/sparse_allreduce/sparse_vector.hpp"

#include <gtest/gtest.h>

namespace dlmb::sparse_allreduce {
namespace {

TEST(SparseVectors, AreAddedAtEqualIndices) {
    std::vector<SparseVector> const terms{{{1, 1.0F}, {5, 2.0F}}, {}, {{5, -0.5F}, {9, 4.0F}}, {{0, 8.0F}, {5, 1.0F}}};
    EXPECT_EQ(sum_of(terms), (SparseVector{{0, 8.0F}, {1, 1.0F}, {5, 2.5F}, {9, 4.0F}}));
    EXPECT_EQ(sum_of(std::vector<SparseVector>{}), SparseVector{});
}

TEST(SparseVectors, TheLargestMagnitudesStayAndOfEqualOnesTheLowerIndices) {
    SparseVector const vector{{2, 1.0F}, {3, -4.0F}, {7, 2.0F}, {8, -2.0F}, {9, 2.0F}};
    EXPECT_EQ(largest(vector, 3), (SparseVector{{3, -4.0F}, {7, 2.0F}, {8, -2.0F}}));
    EXPECT_EQ(largest(vector, 9), vector);
    EXPECT_EQ(least_magnitude(largest(vector, 3)), 2);
    EXPECT_EQ(at_least(vector, 2), (SparseVector{{3, -4.0F}, {7, 2.0F}, {8, -2.0F}, {9, 2.0F}}));
}

TEST(SparseVectors, PartsAreHalfOpenRangesOfIndices) {
    SparseVector const vector{{2, 1.0F}, {4, 1.0F}, {4294967295U, 1.0F}};
    EXPECT_EQ(part_of(vector, 2, 4).size(), 1U);
    EXPECT_EQ(part_of(vector, 5, 5).size(), 0U);
    EXPECT_EQ(part_of(vector, 5, std::uint64_t{1} << 32).size(), 1U);
}

}  // namespace
}  // namespace dlmb::sparse_allreduce
