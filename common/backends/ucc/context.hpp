// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// UCC's library and context of one rank, with a team per group of ranks. UCC reads the choice of algorithms when a
// context is made, so each choice has a context of its own.
#pragma once

#include "common/backend_kit/backend.hpp"

#include <map>
#include <memory>
#include <string>
#include <ucc/api/ucc.h>
#include <vector>

namespace dlmb::ucc {

class Context {
public:
    /// Collective over the world. `tune`: as UCC_TL_UCP_TUNE; empty: as the user's variables say.
    Context(Bootstrap& bootstrap, std::string const& tune);
    Context(Context const&) = delete;
    Context& operator=(Context const&) = delete;
    /// Collective, unless an exception is on its way: then UCC is left as it is.
    ~Context();

    /// Collective over the world: makes the teams that the collective steps of `plan` need.
    void prepare(Plan const& plan);
    [[nodiscard]] ucc_team_h team(Group const& group) const { return teams_.at(group.members).team; }
    void progress() const { ucc_context_progress(context_); }

private:
    struct Team {
        std::vector<std::uint64_t> ranks;  // of the world, by rank of the team; UCC keeps a pointer to them
        ucc_team_h team = nullptr;
    };
    void make(Team& team) const;
    void close();

    Bootstrap& bootstrap_;
    int exceptions_at_start_;
    ucc_lib_h library_ = nullptr;
    ucc_context_h context_ = nullptr;
    std::map<std::vector<Rank>, Team> teams_;
};

/// The contexts of one rank, by choice of algorithms. Whoever waits in the bootstrap keeps all of them going.
class Contexts {
public:
    /// Collective.
    explicit Contexts(Bootstrap& bootstrap);

    /// Collective. Made when the choice is first asked for.
    [[nodiscard]] Context& with(std::string const& tune);
    /// Collective. Afterwards nothing is in flight.
    void quiesce() { bootstrap_.barrier(); }

private:
    Bootstrap& bootstrap_;
    std::map<std::string, std::unique_ptr<Context>> by_tune_;
    ProgressHandle progress_;
};

}  // namespace dlmb::ucc
