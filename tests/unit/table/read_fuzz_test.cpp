// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Seeded mutations of a valid table: the reader accepts or refuses each, and nothing else. Run with the sanitizers of
// preset asan this also shows that it reads no byte it should not.
#include "common/formats/table/table_file.hpp"
#include "tests/unit/table/sample_table.hpp"

#include <gtest/gtest.h>

#include <random>

namespace dlmb::tuning {
namespace {

class Mutator {
public:
    explicit Mutator(std::uint64_t seed) : random_(seed) {}

    void mutate(std::string& text) {
        std::size_t const place = below(text.size());
        std::size_t const length = std::min(below(40), text.size() - place);
        switch (below(6)) {
        case 0:
            text[place] = static_cast<char>(below(256));
            break;
        case 1:
            text.erase(place, length);
            break;
        case 2:
            text.insert(place, text.substr(below(text.size()), length));
            break;
        case 3:
            text.insert(place, tokens[below(std::size(tokens))]);
            break;
        case 4:
            replace_digit(text, place);
            break;
        default:
            text.resize(std::max<std::size_t>(place, 1));
        }
    }

    std::size_t below(std::size_t limit) { return random_() % limit; }

private:
    static constexpr std::string_view tokens[] = {
        "null", "{", "}", "[", "]", "\"", ",", ":", "-", "0", "1e999", "18446744073709551616", "\\u0000", "\xff",
    };

    void replace_digit(std::string& text, std::size_t from) {
        std::size_t const place = text.find_first_of("0123456789", from);
        if (place != std::string::npos) {
            text[place] = static_cast<char>('0' + below(10));
        }
    }

    std::mt19937_64 random_;
};

TEST(ReadFuzz, AcceptsOrRefusesEveryMutationOfATable) {
    std::string const valid = to_json(sample_table());
    Mutator mutator(20260301);
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0;
    for (int round = 0; round < 2'000; ++round) {
        std::string text = valid;
        for (std::size_t changes = 1 + mutator.below(3); changes > 0; --changes) {
            mutator.mutate(text);
        }
        try {
            TuningTable const table = parse_table(text, "mutant");
            ++accepted;
            EXPECT_EQ(parse_table(to_json(table), "again"), table) << text;
        } catch (TableError const&) {
            ++refused;
        }
    }
    EXPECT_GT(accepted, 20) << "mutations must also reach what lies behind the syntax";
    EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace dlmb::tuning
