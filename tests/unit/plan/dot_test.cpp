// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/plan_text.hpp"
#include "tests/unit/plan/plan_sets.hpp"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

namespace dlmb {
namespace {

struct Graph {
    std::set<std::string> nodes;
    std::multiset<std::pair<std::string, std::string>> waits;
    std::map<std::pair<std::string, std::string>, Bytes> bytes;
};

/// An independent reading: every line must be one of its forms.
Graph read_graph(std::vector<Plan> const& plans) {
    static std::regex const node(R"re( +(\w+) \[(?:shape=ellipse )?label="([^"]*)"\])re");
    static std::regex const wait(R"re( +(\w+) -> (\w+) \[style=dashed\])re");
    static std::regex const edge(R"re( +(\w+) -> (\w+) \[label="(\d+)"\])re");
    static std::regex const other(R"re(digraph plan \{|  rankdir=LR|  node \[shape=box\]|  subgraph cluster_\d+ \{|)re"
                                  R"re(    label="rank \d+"|  \}|\})re");
    std::string text;
    write_dot(plans, [&](std::string_view piece) { text += piece; });
    Graph graph;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::smatch match;
        if (std::regex_match(line, match, wait)) {
            graph.waits.emplace(match[1], match[2]);
        } else if (std::regex_match(line, match, edge)) {
            graph.bytes[{match[1], match[2]}] += std::stoull(match[3]);
        } else if (std::regex_match(line, match, other)) {
            continue;
        } else if (std::regex_match(line, match, node)) {
            EXPECT_TRUE(graph.nodes.insert(match[1]).second) << "twice: " << line;
        } else {
            ADD_FAILURE() << "no form of a graph: " << line;
        }
    }
    return graph;
}

/// What the steps send, and of collectives their full logical buffer.
Bytes bytes_of(Plan const& plan) {
    Bytes sum = 0;
    for (Step const& step : plan.steps) {
        for (Block const& block : sent_blocks(step.operation)) {
            sum += block.bytes * messages_of_block(step.operation);
        }
        sum += std::visit(
            [](auto const& operation) -> Bytes {
                if constexpr (requires { operation.bytes; }) {
                    return operation.bytes;
                }
                return 0;
            },
            step.operation);
    }
    return sum;
}

TEST(Dot, HasABoxForEachStepAndAllBytesOnItsEdges) {
    auto const uneven = [](Rank from, Rank to) { return static_cast<Bytes>(100 * from + to); };
    for (auto const& plans : {test::mixed_plans(), test::exchange_plans(3, uneven), test::exchange_plans(1, uneven)}) {
        Graph const graph = read_graph(plans);
        std::size_t steps = 0;
        std::size_t waits = 0;
        Bytes bytes = 0;
        for (Plan const& plan : plans) {
            steps += plan.steps.size();
            bytes += bytes_of(plan);
            for (Step const& step : plan.steps) {
                waits += step.after.size();
            }
        }
        EXPECT_GE(graph.nodes.size(), steps);
        EXPECT_EQ(graph.waits.size(), waits);
        Bytes sum = 0;
        for (auto const& [ends, on_edge] : graph.bytes) {
            EXPECT_TRUE(graph.nodes.contains(ends.first)) << ends.first;
            EXPECT_TRUE(graph.nodes.contains(ends.second)) << ends.second;
            sum += on_edge;
        }
        EXPECT_EQ(sum, bytes);
    }
}

TEST(Dot, LeadsFromASendToItsOwnReceive) {
    Graph const graph = read_graph(test::mixed_plans());
    EXPECT_EQ(graph.bytes.count({"r0_to1_c0_0", "r1_from0_c0_0"}), 1U);
}

TEST(Dot, QuotesLabels) {
    Plan plan;
    plan.steps = {{Compute{10}, {}, R"(layer "a")"}};
    std::string text;
    write_dot(std::vector{plan}, [&](std::string_view piece) { text += piece; });
    EXPECT_NE(text.find(R"([label="compute\nlayer \"a\""])"), std::string::npos) << text;
}

}  // namespace
}  // namespace dlmb
