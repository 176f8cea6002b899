// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/registry.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "tests/conformance/run_corpus.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

namespace dlmb::conformance {
namespace {

/// Every backend of the registry, whether or not this launch can use it, with every part.
class Conformance : public testing::TestWithParam<std::tuple<std::string, CorpusPart>> {};

/// Of a library (common/backends/mpi/library_faults.hpp).
bool is_known_fault(Declined const& declined) {
    return declined.reason.find("issue 9492") != std::string::npos ||
           declined.reason.find("MPICH 4.0 cannot reduce in place") != std::string::npos;
}

void expect_clean(CorpusResult const& result) {
    EXPECT_EQ(result.problems, std::vector<std::string>{});
    for (Declined const& declined : result.declined) {
        EXPECT_FALSE(declined.reason.empty()) << declined.method << ", " << declined.entry;
        EXPECT_FALSE(declined.required && !is_known_fault(declined))
            << declined.method << " must run " << declined.entry << ": " << declined.reason;
    }
}

TEST_P(Conformance, EveryEntryRunsAndEveryByteIsRightOrItIsDeclinedWithAReason) {
    auto const& [name, part] = GetParam();
    std::unique_ptr<Bootstrap> const bootstrap = make_mpi_bootstrap();
    // One GPU is enough to see that bytes are right.
    auto const backend = make_backend(name, {.bootstrap = *bootstrap, .options = {{"nccl", {{"shared_gpu", "yes"}}}}});
    if (!backend) {
        EXPECT_FALSE(backend.error().reason.empty());
        GTEST_SKIP() << backend.error().reason;
    }
    std::vector<CorpusEntry> entries;
    part.add(bootstrap->size(), entries);
    std::uint64_t ran_or_declined = 0;
    std::uint64_t const expected = runs_of(entries, *backend.value(), MemoryKind::host);
    for (MemoryKind const kind : every_memory_kind) {
        std::string const part_name = part.name;
        if (kind == MemoryKind::ucx && part_name != "exchanges" && part_name != "signals") {
            continue;  // host memory but for puts and gets
        }
        std::string why_not;
        auto const memory = make_memory(kind, why_not);
        if (memory != nullptr && backend.value()->supports(kind)) {
            CorpusResult const result = run_entries(entries, *bootstrap, *backend.value(), *memory);
            expect_clean(result);
            ran_or_declined += result.iterations / 2 + result.declined.size();
        }
    }
    EXPECT_GE(ran_or_declined, expected) << "no memory kind was served";
}

/// A one-sided method with its options.
class OneSided : public testing::TestWithParam<std::string> {};

/// Synchronizations that wait for the peers do not take steps that overlap; MPI_Accumulate does not take all elements.
/// More ranks than four differ only in the time that they take.
TEST_P(OneSided, DeliversEveryByte) {
    std::unique_ptr<Bootstrap> const bootstrap = make_mpi_bootstrap();
    if (bootstrap->size() > 4) {
        GTEST_SKIP() << "up to four ranks try the options";
    }
    auto const backend = std::move(make_backend("mpi", {.bootstrap = *bootstrap}).value());
    std::string why_not;
    auto const memory = make_memory(MemoryKind::host, why_not);
    CorpusResult const result = run_method(corpus(bootstrap->size()), GetParam(), *bootstrap, *backend, *memory);
    EXPECT_GT(result.iterations, 0U);
    EXPECT_EQ(result.problems, std::vector<std::string>{});
    for (Declined const& declined : result.declined) {
        EXPECT_TRUE(declined.reason.find("overlap") != std::string::npos || is_known_fault(declined) ||
                    declined.reason.find("its signals follow a flush") != std::string::npos ||
                    declined.method.starts_with("accumulate"))
            << declined.entry << ": " << declined.reason;
    }
}

/// Memory of MPI_Win_allocate is copied to and from, which each synchronization has to order; that of MPI_Win_create is
/// tried with one of either kind.
std::vector<std::string> one_sided_choices() {
    std::vector<std::string> choices;
    for (std::string const method : {"put", "get", "accumulate"}) {
        for (std::string const sync : {"flush", "lock", "lock_all", "fence", "pscw"}) {
            choices.push_back(fmt::format("{}:sync={}:window=allocate", method, sync));
        }
        choices.push_back(method + ":sync=lock:window=create");
        choices.push_back(method + ":sync=fence:window=create");
    }
    return choices;
}

std::string name_of_choice(testing::TestParamInfo<std::string> const& test) {
    std::string name = test.param;
    std::replace_if(
        name.begin(), name.end(), [](char letter) { return letter == ':' || letter == '='; }, '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Choices, OneSided, testing::ValuesIn(one_sided_choices()), name_of_choice);

std::vector<std::string> backend_names() {
    std::vector<std::string> names;
    for (BackendEntry const& entry : backend_entries()) {
        names.emplace_back(entry.name);
    }
    return names;
}

std::string name_of_case(testing::TestParamInfo<std::tuple<std::string, CorpusPart>> const& test) {
    return std::get<0>(test.param) + "_" + std::get<1>(test.param).name;
}

INSTANTIATE_TEST_SUITE_P(
    Backends, Conformance,
    testing::Combine(testing::ValuesIn(backend_names()),
                     testing::Values(CorpusPart{"exchanges", add_exchanges}, CorpusPart{"collectives", add_collectives},
                                     CorpusPart{"messages", add_messages}, CorpusPart{"signals", add_signals})),
    name_of_case);

}  // namespace
}  // namespace dlmb::conformance
