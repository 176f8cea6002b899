// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A library whose flags overtake their data: wrappers before MPI_Put, MPI_Rget, ucp_put_nbx and ucp_get_nbx keep the
// data back until the iteration is over on all ranks. All bytes are right in the end; that the signals were early, or
// the reads not complete, must be found.
#include "common/backend_kit/backend_pair.hpp"
#include "common/backend_kit/plan_payload.hpp"
#include "common/backend_kit/registry.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "tests/conformance/corpus.hpp"
#include "tests/unit/plan_memory.hpp"

#include <gtest/gtest.h>
#include <mpi.h>
#include <ucp/api/ucp.h>

#include <algorithm>
#include <dlfcn.h>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

namespace dlmb::late {
namespace {

bool holds_back = false;
std::vector<std::function<void()>> held;  // accesses to data

/// quiesce() waits for the request.
void leave(ucs_status_ptr_t request) {
    if (UCS_PTR_IS_PTR(request)) {
        ucp_request_free(request);
    }
}

}  // namespace
}  // namespace dlmb::late

extern "C" {

int MPI_Put(void const* data, int count, MPI_Datatype type, int target, MPI_Aint place, int target_count,
            MPI_Datatype target_type, MPI_Win window) {
    if (!dlmb::late::holds_back) {
        return PMPI_Put(data, count, type, target, place, target_count, target_type, window);
    }
    dlmb::late::held.emplace_back([=] {
        PMPI_Put(data, count, type, target, place, target_count, target_type, window);
        PMPI_Win_flush(target, window);
    });
    return MPI_SUCCESS;
}

int MPI_Rget(void* data, int count, MPI_Datatype type, int target, MPI_Aint place, int target_count,
             MPI_Datatype target_type, MPI_Win window, MPI_Request* request) {
    if (!dlmb::late::holds_back) {
        return PMPI_Rget(data, count, type, target, place, target_count, target_type, window, request);
    }
    *request = MPI_REQUEST_NULL;  // as complete
    dlmb::late::held.emplace_back([=] {
        PMPI_Get(data, count, type, target, place, target_count, target_type, window);
        PMPI_Win_flush(target, window);
    });
    return MPI_SUCCESS;
}

ucs_status_ptr_t ucp_get_nbx(ucp_ep_h ep, void* buffer, size_t count, uint64_t remote_addr, ucp_rkey_h rkey,
                             ucp_request_param_t const* param) {
    static auto const real = reinterpret_cast<decltype(&ucp_get_nbx)>(dlsym(RTLD_NEXT, "ucp_get_nbx"));
    if (!dlmb::late::holds_back) {
        return real(ep, buffer, count, remote_addr, rkey, param);
    }
    dlmb::late::held.emplace_back([=] {
        ucp_request_param_t const plain{};
        dlmb::late::leave(real(ep, buffer, count, remote_addr, rkey, &plain));
    });
    return nullptr;
}

ucs_status_ptr_t ucp_put_nbx(ucp_ep_h ep, void const* buffer, size_t count, uint64_t remote_addr, ucp_rkey_h rkey,
                             ucp_request_param_t const* param) {
    static auto const real = reinterpret_cast<decltype(&ucp_put_nbx)>(dlsym(RTLD_NEXT, "ucp_put_nbx"));
    if (!dlmb::late::holds_back || count == dlmb::flag_bytes) {
        return real(ep, buffer, count, remote_addr, rkey, param);
    }
    dlmb::late::held.emplace_back([=] {
        ucp_request_param_t const plain{};
        dlmb::late::leave(real(ep, buffer, count, remote_addr, rkey, &plain));
    });
    return nullptr;
}
}

namespace dlmb::late {
namespace {

/// "ucx+mpi": all steps over ucx, beside a plan of mpi that has none.
std::shared_ptr<Backend> opened(std::string const& library, Bootstrap& bootstrap, std::string& why_not) {
    std::size_t const plus = library.find('+');
    auto made = make_backend(library.substr(0, plus), {.bootstrap = bootstrap});
    if (!made) {
        why_not = made.error().reason;
        return nullptr;
    }
    std::shared_ptr<Backend> const first = std::move(made).value();
    return plus == std::string::npos
               ? first
               : make_backend_pair(bootstrap, first, opened(library.substr(plus + 1), bootstrap, why_not), {}, "beside",
                                   Idle(true));
}

class LateData : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(LateData, IsFoundWhenItsSignalIsSeen) {
    std::string const& library = std::get<0>(GetParam());
    std::string const& entry_name = std::get<1>(GetParam());
    std::unique_ptr<Bootstrap> const bootstrap = make_mpi_bootstrap();
    std::string why_not;
    auto const backend = opened(library, *bootstrap, why_not);
    if (backend == nullptr) {
        GTEST_SKIP() << why_not;
    }
    auto const memory = make_memory(MemoryKind::host, why_not);
    std::vector<conformance::CorpusEntry> entries;
    conformance::add_signals(bootstrap->size(), entries);
    auto const entry = std::find_if(entries.begin(), entries.end(),
                                    [&](conformance::CorpusEntry const& each) { return each.name == entry_name; });
    ASSERT_NE(entry, entries.end());
    Plan const& plan = entry->plans[static_cast<std::size_t>(bootstrap->rank())];
    PlanMemory const bound(*memory, plan);
    PlanPayload payload(*memory, bound.buffers, plan);
    auto const compiled = backend->compile(plan, bound.buffers, {"default", {}});
    ASSERT_TRUE(compiled) << compiled.error().reason;
    auto const problems_of = [&](std::uint32_t iteration, bool late) {
        payload.prepare(iteration);
        compiled.value()->watch_signals(&payload.watch_signals(iteration));
        holds_back = late;
        bootstrap->barrier();
        compiled.value()->launch();
        compiled.value()->finish();
        bootstrap->barrier();
        holds_back = false;
        for (auto const& access : held) {
            access();
        }
        held.clear();
        backend->quiesce();
        return payload.verify(iteration);
    };
    EXPECT_EQ(problems_of(0, false), std::vector<std::string>{});
    std::vector<std::string> const problems = problems_of(1, true);
    if (bootstrap->size() > 1) {
        ASSERT_FALSE(problems.empty());
        for (std::string const& problem : problems) {
            EXPECT_NE(problem.find("its signal had come already"), std::string::npos) << problem;
        }
    }
    EXPECT_EQ(problems_of(2, false), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Backends, LateData,
                         testing::Combine(testing::Values("mpi", "ucx", "ucx+mpi"),
                                          testing::Values("puts of 4097 B", "gets of 67584 B")),
                         [](auto const& test) {
                             std::string const& library = std::get<0>(test.param);
                             return (library == "ucx+mpi" ? "ucx_beside_mpi" : library) + "_" +
                                    std::get<1>(test.param).substr(0, 4);
                         });

}  // namespace
}  // namespace dlmb::late
