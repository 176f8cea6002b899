// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A strict reading of GOAL: everything that txt2bin of LogGOPSim or the simulators take wrongly or in silence is a
// failure here (a blank in front, a comment, options in another order, labels that repeat or come late, ranks out of
// order, a size of 0, a tag that repeats between two ranks or means any).
#pragma once

#include "common/base/units.hpp"
#include "common/formats/plan/plan_text.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace dlmb::test::goal {

/// (source, destination, tag) -> bytes.
using Traffic = std::map<std::tuple<int, int, unsigned long>, Bytes>;

inline std::string to_goal(PlanSource const& plans) {
    std::string text;
    write_goal(plans, [&](std::string_view piece) { text += piece; });
    return text;
}

struct Schedule {
    Traffic sent, received;
    std::map<int, std::map<int, std::vector<int>>> requires_labels;  // rank -> label -> labels
    std::map<int, int> lines;                                        // rank -> labelled lines
};

/// The pattern must take the whole line, so that nothing stands behind it; `line` written again is the same.
template <class... Values>
bool is(std::string const& line, char const* pattern, Values*... values) {
    constexpr std::size_t most = 128;
    char again[most];
    if (std::sscanf(line.c_str(), pattern, values...) != static_cast<int>(sizeof...(values))) {
        return false;
    }
    std::snprintf(again, most, pattern, *values...);
    return line == again;
}

inline Schedule read(std::string const& text) {
    Schedule schedule;
    std::istringstream lines(text);
    std::string line;
    int ranks = 0;
    int rank = -1;
    bool inside = false;
    std::getline(lines, line);
    EXPECT_TRUE(is(line, "num_ranks %d", &ranks)) << line;
    while (std::getline(lines, line)) {
        int label = 0;
        int other = 0;
        unsigned long bytes = 0;
        unsigned long tag = 0;
        bool const sends = is(line, "l%d: send %lub to %d tag %lu", &label, &bytes, &other, &tag);
        if (!inside) {
            if (!line.empty()) {
                EXPECT_TRUE(is(line, "rank %d {", &other)) << line;
                EXPECT_EQ(other, ++rank) << "ranks in order";
                inside = true;
            }
        } else if (sends || is(line, "l%d: recv %lub from %d tag %lu", &label, &bytes, &other, &tag)) {
            EXPECT_EQ(label, ++schedule.lines[rank]) << "labels count up: " << line;
            EXPECT_TRUE(other >= 0 && other < ranks && other != rank) << line;
            EXPECT_GE(bytes, 1U) << line;
            EXPECT_LT(tag, 4294967295U) << "any: " << line;
            bool const first = sends ? schedule.sent.emplace(std::tuple(rank, other, tag), bytes).second
                                     : schedule.received.emplace(std::tuple(other, rank, tag), bytes).second;
            EXPECT_TRUE(first) << "rank " << rank << " has the tag twice: " << line;
        } else if (is(line, "l%d: calc %lu", &label, &bytes)) {
            EXPECT_EQ(label, ++schedule.lines[rank]) << line;
        } else if (is(line, "l%d requires l%d", &label, &other)) {
            EXPECT_LE(label, schedule.lines[rank]) << "defined in front: " << line;
            EXPECT_LT(other, label) << "only earlier lines: " << line;
            schedule.requires_labels[rank][label].push_back(other);
        } else {
            EXPECT_EQ(line, "}");
            inside = false;
        }
    }
    EXPECT_FALSE(inside);
    EXPECT_EQ(rank + 1, ranks) << "every rank has a block";
    return schedule;
}

}  // namespace dlmb::test::goal
