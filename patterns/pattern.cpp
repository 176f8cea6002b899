// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pattern.hpp"

#include <algorithm>

namespace dlmb {
std::vector<Plan> build_all(Pattern const& pattern, WorldShape const& world, Draw draw) {
    std::vector<Announcement> own;
    std::vector<std::vector<Note>> heard(static_cast<std::size_t>(world.ranks));
    for (Rank source = 0; source < world.ranks; ++source) {
        own.push_back(pattern.announce(source, draw));
        for (Note const& note : own.back().notes) {
            heard.at(static_cast<std::size_t>(note.to)).push_back(note);  // sources ascend, so this stays sorted
        }
    }
    std::vector<Plan> plans;
    plans.reserve(own.size());
    for (Rank me = 0; me < world.ranks; ++me) {
        auto const index = static_cast<std::size_t>(me);
        plans.push_back(pattern.build(me, draw, own[index], heard[index]));
    }
    return plans;
}

Plan build_one(Pattern const& pattern, Rank me, Draw draw) {
    Announcement const own = pattern.announce(me, draw);
    std::vector<Rank> sources = pattern.peers(me);
    std::sort(sources.begin(), sources.end());
    std::vector<Note> heard;
    for (Rank const source : sources) {
        Announcement const theirs = source == me ? own : pattern.announce(source, draw);
        for (Note const& note : theirs.notes) {
            if (note.to == me) {
                heard.push_back(note);
            }
        }
    }
    return pattern.build(me, draw, own, heard);
}

}  // namespace dlmb
