// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/formats/table/provenance.hpp"
#include "common/formats/table/table_file.hpp"
#include "tests/unit/record/temporary_folder.hpp"
#include "tests/unit/table/sample_table.hpp"

#include <gtest/gtest.h>

namespace dlmb::tuning {
namespace {

TEST(Digest, IsThatOfTheStandard) {
    // FIPS 180-2, appendix B.1, and the digest of nothing.
    EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Digest, OfAFileIsThatOfItsContent) {
    record::TemporaryFolder const folder;
    record::write_file(folder / "abc", "abc");
    EXPECT_EQ(sha256_of_file(folder / "abc"), sha256("abc"));
    EXPECT_THROW((void)sha256_of_file(folder / "none"), UsageError);
    EXPECT_THROW((void)sha256_of_file("/dev/zero"), UsageError);
    // Address 0 of a process: a regular file that opens and that cannot be read.
    EXPECT_THROW((void)sha256_of_file("/proc/self/mem"), UsageError);
}

TEST(Digest, OfATableIsThatOfItsFileAndChangesWithEachRule) {
    record::TemporaryFolder const folder;
    TuningTable table = sample_table();
    write_table(folder / "table.json", table);
    EXPECT_EQ(sha256_of_file(folder / "table.json"), digest_of(table));
    table.rules[0].choose.method = "other";
    EXPECT_NE(sha256_of_file(folder / "table.json"), digest_of(table));
}

TEST(SystemKey, LeavesOutTheShapeOfTheLaunchAndNothingElse) {
    std::map<std::string, std::string> const identity{
        {"cpu", "x"}, {"ranks", "4"}, {"nodes", "1"}, {"ranks_per_node", "4"}};
    auto other = identity;
    other["ranks"] = "8";
    other["nodes"] = "2";
    other["ranks_per_node"] = "2";
    EXPECT_EQ(system_key(identity), system_key(other));
    other["cpu"] = "y";
    EXPECT_NE(system_key(identity), system_key(other));
    EXPECT_EQ(system_differences(system_identity(other), system_identity(identity)), "cpu y instead of x");
}

TEST(SystemDifferences, NameWhatIsThereOnOneSideOnlyAndNothingWhereASideIsNotTold) {
    EXPECT_EQ(system_differences({{"binding", "none"}, {"cpu", "x"}}, {{"cpu", "x"}, {"gpus", "two"}}),
              "binding none instead of nothing, gpus nothing instead of two");
    EXPECT_EQ(system_differences({{"cpu", "x"}}, {}), "");
}

}  // namespace
}  // namespace dlmb::tuning
