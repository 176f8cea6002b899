// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// UCC's library and context of one rank, with a team per group of ranks. UCC reads the choice of algorithms when a
// context is made, so each choice has a context of its own.
#pragma once

#include "common/backend_kit/backend.hpp"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <ucc/api/ucc.h>
#include <vector>

namespace dlmb::ucc {

/// The allgather that UCC is given. Where UCC gives up on one rank, that rank leaves the sequence of calls that the
/// others are in: the call by which it says so is of the same kind, and they find its reason in place of its data.
class Meeting {
public:
    explicit Meeting(Bootstrap& bootstrap) : bootstrap_(bootstrap) {}
    /// Collective. `all`: `bytes` of each rank.
    [[nodiscard]] ucc_status_t gather(std::byte const* mine, std::byte* all, std::size_t bytes);
    /// Collective. Why some rank gave up, alike on all ranks; empty: none did. `mine`: this rank's reason.
    [[nodiscard]] std::string agree(std::string const& mine);

private:
    [[nodiscard]] std::vector<Blob> meet(char kind, std::span<std::byte const> mine);

    Bootstrap& bootstrap_;
    std::string refused_;
};

class Context {
public:
    /// Collective over the world. `tune`: as UCC_TL_UCP_TUNE; empty: as the user's variables say. Unsupported alike on
    /// all ranks, where UCC cannot be used on one.
    [[nodiscard]] static Expected<std::unique_ptr<Context>, Unsupported> make(Bootstrap& bootstrap,
                                                                              std::string const& tune);
    Context(Context const&) = delete;
    Context& operator=(Context const&) = delete;
    /// Collective, unless an exception is on its way: then UCC is left as it is.
    ~Context();

    /// Collective over the world: makes the teams that the collective steps of `plan` need. Why that is not possible,
    /// alike on all ranks; empty: it is done.
    [[nodiscard]] std::string prepare(Plan const& plan);
    [[nodiscard]] ucc_team_h team(Group const& group) const { return teams_.at(group.members).team; }
    void progress() const { ucc_context_progress(context_); }

private:
    explicit Context(Bootstrap& bootstrap);
    struct Team {
        std::vector<std::uint64_t> ranks;  // of the world, by rank of the team; UCC keeps a pointer to them
        ucc_team_h team = nullptr;
    };
    void make(Team& team) const;
    void close();

    Bootstrap& bootstrap_;
    std::unique_ptr<Meeting> meeting_;  // UCC keeps a pointer to it
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

    /// Why UCC cannot be used on some rank, alike on all ranks; empty: it can.
    [[nodiscard]] std::string const& why_not() const { return why_not_; }
    /// Collective. Made when the choice is first asked for.
    [[nodiscard]] Expected<Context*, Unsupported> with(std::string const& tune);
    /// Collective. Afterwards nothing is in flight.
    void quiesce() { bootstrap_.barrier(); }

private:
    Bootstrap& bootstrap_;
    std::map<std::string, std::unique_ptr<Context>> by_tune_;
    std::string why_not_;
    ProgressHandle progress_;
};

}  // namespace dlmb::ucc
