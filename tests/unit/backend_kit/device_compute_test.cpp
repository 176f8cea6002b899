// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How often a device multiplies and what. The tests with a device run on the test doubles of CUDA and cuBLAS
// (tests/fakes), which know neither times nor numbers.
#include "common/backend_kit/compute.hpp"
#include "common/formats/plan/builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <dlfcn.h>

namespace dlmb::device_compute_test {
namespace {

TEST(ProductsIn, ComeNearestToTheTimeAndAreAtLeastOne) {
    EXPECT_EQ(products_in(1000, 300), 3U);
    EXPECT_EQ(products_in(1100, 300), 4U);
    EXPECT_EQ(products_in(100, 300), 1U);
    EXPECT_EQ(products_in(0, 300), 1U);
    EXPECT_EQ(products_in(1'000'000'000'000'000, 100), 10'000'000'000'000U) << "more than 32 bits";
}

Plan plan_with(Compute const& compute) {
    PlanBuilder builder(0);
    builder.compute(compute.busy_ns, "compute", {}, compute.product);
    return std::move(builder).finish();
}

TEST(WhyNoProducts, ConcernsPlansWithProductsOnly) {
    EXPECT_EQ(why_no_products(plan_with({1000})), "");
}

class DeviceProducts : public testing::Test {
protected:
    void SetUp() override {
        char const* const path = std::getenv("DLMB_FAKE_CUBLAS");
        if (path == nullptr) {
            GTEST_SKIP() << "runs on test doubles only";
        }
        void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(library, nullptr) << dlerror();
        products_ = reinterpret_cast<int (*)(int*, int*, int*)>(dlsym(library, "dlmb_fake_cublas_products"));
        ASSERT_NE(products_, nullptr);
    }
    [[nodiscard]] int count() const {
        std::array<int, 3> unused{};
        return products_(unused.data(), &unused[1], &unused[2]);
    }
    int (*products_)(int* m, int* n, int* k) = nullptr;
};

TEST_F(DeviceProducts, HaveTheShapeOfTheStep) {
    DeviceQueue queue;
    for (ProductShape const& shape : {ProductShape{48, 80, 16}, ProductShape{4096, 512, 1024}}) {
        DeviceCompute const compute({1000, shape}, {});
        int const before = count();
        compute.start(queue);
        queue.drain();
        EXPECT_GT(count(), before);
        int m = 0;
        int n = 0;
        int k = 0;
        products_(&m, &n, &k);
        EXPECT_EQ(
            (ProductShape{static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(m), static_cast<std::uint64_t>(k)}),
            shape)
            << "to cuBLAS, whose matrices lie column by column, rows and columns have changed places";
    }
}

TEST_F(DeviceProducts, OfStepsWithAnotherShapeLiveSideBySide) {
    DeviceQueue queue;
    DeviceCompute const small({1000, ProductShape{8, 8, 8}}, {});
    DeviceCompute const large({1000, ProductShape{512, 512, 512}}, {});
    small.start(queue);
    large.start(queue);
    small.start(queue);
    queue.drain();
    int m = 0;
    int n = 0;
    int k = 0;
    products_(&m, &n, &k);
    EXPECT_EQ((std::array<int, 3>{m, n, k}), (std::array<int, 3>{8, 8, 8}));
}

TEST_F(DeviceProducts, ThatCannotBeAreAReason) {
    ProductShape const longer_than_an_int{3'000'000'000, 8, 8};
    EXPECT_THAT(why_no_products(plan_with({1000, longer_than_an_int})), testing::HasSubstr("edges of an int"));
    setenv("DLMB_FAKE_CUBLAS_STATUS", "1", 1);
    EXPECT_THAT(why_no_products(plan_with({1000, ProductShape{24, 24, 24}})), testing::HasSubstr("cuBLAS status 1"));
    unsetenv("DLMB_FAKE_CUBLAS_STATUS");
    EXPECT_EQ(why_no_products(plan_with({1000, ProductShape{24, 24, 24}})), "");
}

}  // namespace
}  // namespace dlmb::device_compute_test
