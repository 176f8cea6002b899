// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// nccl over the corpus, on the test double of the CUDA runtime and NCCL (tests/fakes/gpu), which is preloaded: a launch
// without a device is a failure here and not a reason to skip.
#include "common/backend_kit/registry.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "common/memory/devices.hpp"
#include "tests/conformance/run_corpus.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace dlmb::conformance {
namespace {

class Nccl : public testing::TestWithParam<std::tuple<MemoryKind, CorpusPart>> {};

/// Methods by whether they ran any entry.
struct Methods {
    std::set<std::string> asked, ran;
};

Methods methods_of(std::vector<CorpusEntry> const& entries, Backend const& backend, MemoryKind memory,
                   CorpusResult const& result) {
    Methods methods;
    for (CorpusEntry const& entry : entries) {
        for (MethodInfo const& method : methods_to_run(entry, backend, memory)) {
            std::string const name(method.name);
            methods.asked.insert(name);
            bool const declined =
                std::any_of(result.declined.begin(), result.declined.end(),
                            [&](Declined const& known) { return known.method == name && known.entry == entry.name; });
            if (!declined) {
                methods.ran.insert(name);
            }
        }
    }
    return methods;
}

bool has_puts(CorpusEntry const& entry) {
    return std::any_of(entry.plans.begin(), entry.plans.end(), [](Plan const& plan) { return has_signals(plan); });
}

TEST_P(Nccl, EveryMethodRunsAndEveryByteIsRight) {
    auto const& [kind, part] = GetParam();
    std::unique_ptr<Bootstrap> const bootstrap = make_mpi_bootstrap();
    use_device(bootstrap->local_rank());
    auto const backend = make_backend("nccl", {*bootstrap});
    ASSERT_TRUE(backend) << backend.error().reason;
    ASSERT_TRUE(backend.value()->supports(kind));
    std::string why_not;
    auto const memory = make_memory(kind, why_not);
    ASSERT_NE(memory, nullptr) << why_not;

    std::vector<CorpusEntry> entries;
    part.add(bootstrap->size(), entries);
    CorpusResult const result = run_entries(entries, *bootstrap, *backend.value(), *memory);
    EXPECT_EQ(result.problems, std::vector<std::string>{});
    // A special method may need more than an entry offers, such as buffers of one size on all ranks.
    std::string_view const by_default = backend.value()->methods().front().name;
    for (Declined const& declined : result.declined) {
        EXPECT_FALSE(declined.reason.empty()) << declined.method << ", " << declined.entry;
        EXPECT_FALSE(declined.required && declined.method == by_default) << declined.entry << ": " << declined.reason;
    }
    Methods methods = methods_of(entries, *backend.value(), kind, result);
    if (std::any_of(entries.begin(), entries.end(), has_puts)) {
        EXPECT_EQ(methods.asked.erase("graph"), 1U) << "which takes none";
        EXPECT_EQ(methods.ran.count("put"), 1U);
    }
    EXPECT_EQ(methods.ran, methods.asked);
}

INSTANTIATE_TEST_SUITE_P(OnTheTestDouble, Nccl,
                         testing::Combine(testing::Values(MemoryKind::cuda, MemoryKind::nccl),
                                          testing::Values(CorpusPart{"exchanges", add_exchanges},
                                                          CorpusPart{"collectives", add_collectives},
                                                          CorpusPart{"messages", add_messages})),
                         [](auto const& test) {
                             return std::string(name_of(std::get<0>(test.param))) + "_" + std::get<1>(test.param).name;
                         });

INSTANTIATE_TEST_SUITE_P(PutsOnTheTestDouble, Nccl,
                         testing::Combine(testing::Values(MemoryKind::nccl),
                                          testing::Values(CorpusPart{"signals", add_signals})),
                         [](auto const& /*test*/) { return "nccl_signals"; });

}  // namespace
}  // namespace dlmb::conformance
