// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/input_file.hpp"
#include "tests/unit/record/temporary_folder.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace dlmb {
namespace {

TEST(ReadDocument, RefusesWhatIsNoFileOrHasNoEnd) {
    auto const complaint = [](char const* path) {
        return usage_error_of([&] { (void)read_document(path, Bytes{1} << 20); });
    };
    EXPECT_EQ(complaint("/dev/zero"), "/dev/zero: larger than 1 MiB");
    EXPECT_EQ(complaint("/nowhere"), "/nowhere: cannot be read");
    EXPECT_EQ(complaint("/"), "/: cannot be read");
}

TEST(ReadDocument, GivesEveryByte) {
    record::TemporaryFolder const folder;
    std::string const text = std::string(100000, 'x') + std::string(1, '\0') + "\r\nend";
    record::write_file(folder / "document", text);
    EXPECT_EQ(read_document(folder / "document"), text);
    EXPECT_EQ(read_document("/dev/null"), "");
}

TEST(ReadLine, ReadsAsGetlineDoes) {
    for (char const* text : {"", "\n", "a", "a\n", "a\nb", "\n\n", "a\n\nbc\n"}) {
        std::istringstream ours{text};
        std::istringstream theirs{text};
        std::string line;
        std::string expected;
        while (std::getline(theirs, expected)) {
            ASSERT_TRUE(read_line(ours, line)) << text;
            EXPECT_EQ(line, expected) << text;
            EXPECT_EQ(ours.eof(), theirs.eof()) << text;
        }
        EXPECT_FALSE(read_line(ours, line)) << text;
    }
}

TEST(ReadLine, RefusesALineThatHasNoEnd) {
    std::ifstream zeros("/dev/zero", std::ios::binary);
    std::string line;
    EXPECT_THROW((void)read_line(zeros, line, Bytes{1} << 20), UsageError);
}

}  // namespace
}  // namespace dlmb
