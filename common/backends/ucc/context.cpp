// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucc/context.hpp"

#include "common/backends/ucc/check.hpp"
#include "common/base/output_file.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/formats/plan/group_index.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <set>

namespace dlmb::ucc {
namespace {

/// UCC's out-of-band allgather. It blocks, and so has no request to wait for: every rank makes a context at the same
/// point.
ucc_status_t gather(void* mine, void* all, std::size_t bytes, void* meeting, void** request) {
    *request = mine;  // UCC takes nullptr for a failure
    try {
        return static_cast<Meeting*>(meeting)->gather(static_cast<std::byte const*>(mine), static_cast<std::byte*>(all),
                                                      bytes);
    } catch (std::exception const& error) {
        print_error(fmt::format("dlmb: warning: ucc: allgather of addresses: {}\n", error.what()));
        return UCC_ERR_NO_MESSAGE;
    }
}

ucc_status_t nothing_left(void* /*request*/) {
    return UCC_OK;
}

ucc_lib_h make_library(Bootstrap const& bootstrap) {
    ucc_lib_config_h config = nullptr;
    check(ucc_lib_config_read(nullptr, nullptr, &config), "ucc_lib_config_read");
    ucc_lib_params_t params{};
    params.mask = UCC_LIB_PARAM_FIELD_THREAD_MODE;
    // Ranks that are threads of one process share the library's memory pools.
    params.thread_mode = bootstrap.kind() == "in_process" ? UCC_THREAD_MULTIPLE : UCC_THREAD_SINGLE;
    ucc_lib_h library = nullptr;
    ucc_status_t const status = ucc_init(&params, config, &library);
    ucc_lib_config_release(config);
    check(status, "ucc_init");
    return library;
}

ucc_context_h make_context(ucc_lib_h library, Bootstrap const& bootstrap, Meeting& meeting, std::string const& tune) {
    ucc_context_config_h config = nullptr;
    check(ucc_context_config_read(library, nullptr, &config), "ucc_context_config_read");
    // UCC leaves out most calls of progress while nothing of this rank is in flight, but a peer may wait for what this
    // rank has still to send.
    check(ucc_context_config_modify(config, nullptr, "THROTTLE_PROGRESS", "0"), "ucc_context_config_modify");
    if (!tune.empty()) {
        check(ucc_context_config_modify(config, "tl/ucp", "TUNE", tune.c_str()), "ucc_context_config_modify(TUNE)");
    }
    ucc_context_params_t params{};
    params.mask = UCC_CONTEXT_PARAM_FIELD_OOB;
    params.oob.allgather = gather;
    params.oob.req_test = nothing_left;
    params.oob.req_free = nothing_left;
    params.oob.coll_info = &meeting;
    params.oob.n_oob_eps = static_cast<std::uint32_t>(bootstrap.size());
    params.oob.oob_ep = static_cast<std::uint32_t>(bootstrap.rank());
    ucc_context_h context = nullptr;
    ucc_status_t const status = ucc_context_create(library, &params, config, &context);
    ucc_context_config_release(config);
    check(status, "ucc_context_create");
    return context;
}

/// Which rank, what failed, without the place in the source, and what says more.
std::string reason_of(Bootstrap const& bootstrap, Error const& error) {
    std::string const text = error.what();
    return fmt::format("rank {}: {}; UCC_LOG_LEVEL=info says more, and its messages go by UCX (UCX_TLS, /dev/shm)",
                       bootstrap.rank(), text.substr(0, text.rfind("\n  at ")));
}

constexpr char data_of_ucc = 'd';
constexpr char agreement = 'a';

}  // namespace

std::vector<Blob> Meeting::meet(char kind, std::span<std::byte const> mine) {
    Blob told{static_cast<std::byte>(kind)};
    told.insert(told.end(), mine.begin(), mine.end());
    std::vector<Blob> all = bootstrap_.all_gather(told);
    for (Blob const& blob : all) {
        if (blob.front() == static_cast<std::byte>(agreement) && blob.size() > 1 && refused_.empty()) {
            refused_.assign(reinterpret_cast<char const*>(blob.data()) + 1, blob.size() - 1);
        }
    }
    return all;
}

ucc_status_t Meeting::gather(std::byte const* mine, std::byte* all, std::size_t bytes) {
    std::vector<Blob> const blobs = meet(data_of_ucc, {mine, bytes});
    if (!refused_.empty()) {
        return UCC_ERR_NO_MESSAGE;
    }
    for (Blob const& blob : blobs) {
        std::copy_n(blob.begin() + 1, std::min(bytes, blob.size() - 1), all);
        all += bytes;
    }
    return UCC_OK;
}

std::string Meeting::agree(std::string const& mine) {
    if (refused_.empty()) {  // else it was told already, and the others are not in a call
        (void)meet(agreement, std::as_bytes(std::span(mine)));
    }
    return refused_;
}

Context::Context(Bootstrap& bootstrap)
    : bootstrap_(bootstrap), meeting_(std::make_unique<Meeting>(bootstrap)),
      exceptions_at_start_(std::uncaught_exceptions()) {}

Expected<std::unique_ptr<Context>, Unsupported> Context::make(Bootstrap& bootstrap, std::string const& tune) {
    std::unique_ptr<Context> made(new Context(bootstrap));
    std::string problem;
    try {
        made->library_ = make_library(bootstrap);
        made->context_ = make_context(made->library_, bootstrap, *made->meeting_, tune);
    } catch (Error const& error) {
        problem = reason_of(bootstrap, error);
    }
    if (std::string reason = made->meeting_->agree(problem); !reason.empty()) {
        made->library_ = nullptr;  // left as they are: to close them may wait for ranks that have none
        made->context_ = nullptr;
        (void)made->meeting_.release();
        return Unsupported{std::move(reason)};
    }
    return made;
}

Context::~Context() {
    if (std::uncaught_exceptions() != exceptions_at_start_) {
        return;  // peers may be anywhere, and UCC would wait for them
    }
    try {
        close();
    } catch (std::exception const& error) {
        print_error(fmt::format("dlmb: warning: rank {}: closing ucc: {}\n", bootstrap_.rank(), error.what()));
    }
}

void Context::close() {
    if (context_ == nullptr) {
        return;
    }
    for (auto const& [members, each] : teams_) {
        ucc_status_t status = UCC_INPROGRESS;
        while ((status = ucc_team_destroy(each.team)) == UCC_INPROGRESS) {
            progress();
        }
        check(status, "ucc_team_destroy");
    }
    check(ucc_context_destroy(context_), "ucc_context_destroy");
    check(ucc_finalize(library_), "ucc_finalize");
}

std::string Context::prepare(Plan const& plan) {
    // Sorted by members: two ranks that share several new groups make them in the same order, so neither waits forever.
    std::set<std::vector<Rank>> needed;
    for (Step const& step : plan.steps) {
        if (auto const group = collective_group(step.operation)) {
            needed.insert(plan.groups.at(*group).members);
        }
    }
    std::string problem;
    for (std::vector<Rank> const& members : needed) {
        if (!teams_.contains(members) && problem.empty()) {
            auto const team = teams_.emplace(members, Team{{members.begin(), members.end()}}).first;
            try {
                make(team->second);
            } catch (Error const& error) {
                problem = reason_of(bootstrap_, error);
                teams_.erase(team);
            }
        }
    }
    return first_refusal(bootstrap_, problem);  // and waits: a member may still need this rank's progress
}

void Context::make(Team& team) const {
    auto const me = std::find(team.ranks.begin(), team.ranks.end(), static_cast<std::uint64_t>(bootstrap_.rank()));
    ucc_team_params_t params{};
    params.mask = UCC_TEAM_PARAM_FIELD_EP | UCC_TEAM_PARAM_FIELD_EP_RANGE | UCC_TEAM_PARAM_FIELD_EP_MAP |
                  UCC_TEAM_PARAM_FIELD_TEAM_SIZE;
    params.ep = static_cast<std::uint64_t>(me - team.ranks.begin());
    params.ep_range = UCC_COLLECTIVE_EP_RANGE_CONTIG;
    params.team_size = team.ranks.size();
    params.ep_map.type = UCC_EP_MAP_ARRAY;
    params.ep_map.ep_num = team.ranks.size();
    params.ep_map.array.map = team.ranks.data();
    params.ep_map.array.elem_size = sizeof(std::uint64_t);
    ucc_context_h context = context_;
    check(ucc_team_create_post(&context, 1, &params, &team.team), "ucc_team_create_post");
    ucc_status_t status = UCC_INPROGRESS;
    while ((status = ucc_team_create_test(team.team)) == UCC_INPROGRESS) {
        progress();
        bootstrap_.progress();
    }
    check(status, "ucc_team_create_test");
}

Contexts::Contexts(Bootstrap& bootstrap)
    : bootstrap_(bootstrap), progress_(bootstrap.add_progress([this] {
          for (auto const& [tune, context] : by_tune_) {
              context->progress();
          }
      })) {
    if (auto const standard = with(""); !standard) {
        why_not_ = standard.error().reason;
    }
}

Expected<Context*, Unsupported> Contexts::with(std::string const& tune) {
    auto found = by_tune_.find(tune);
    if (found == by_tune_.end()) {
        auto made = Context::make(bootstrap_, tune);
        if (!made) {
            return made.error();
        }
        found = by_tune_.emplace(tune, std::move(made).value()).first;
    }
    return found->second.get();
}

}  // namespace dlmb::ucc
