// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/output_file.hpp"
#include "tests/unit/record/temporary_folder.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fcntl.h>
#include <future>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dlmb {
namespace {

namespace fs = std::filesystem;
using record::read_file;
using testing::HasSubstr;

std::string output_refusal(fs::path const& path) {
    return message_of<OutputError>([&] { write_output(path, "text"); });
}

std::size_t files_beside(fs::path const& path) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path.parent_path()), {}));
}

TEST(WriteOutput, ReplacesARegularFileByANewOneWithItsPermissions) {
    record::TemporaryFolder const folder;
    record::write_file(folder / "table.json", "old");
    fs::permissions(folder / "table.json", fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
    int const reader = open((folder / "table.json").c_str(), O_RDONLY | O_CLOEXEC);
    write_output(folder / "table.json", "new");
    std::array<char, 8> held{};
    EXPECT_EQ(read(reader, held.data(), held.size()), 3);
    close(reader);
    EXPECT_EQ(std::string(held.data()), "old") << "who has it open keeps the whole old text";
    EXPECT_EQ(read_file(folder / "table.json"), "new");
    EXPECT_EQ(fs::status(folder / "table.json").permissions(),
              fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
    EXPECT_EQ(files_beside(folder / "table.json"), 1U);
}

TEST(WriteOutput, FollowsLinksToTheirTargetAlsoWhereThatIsNotThereYet) {
    record::TemporaryFolder const folder;
    record::write_file(folder / "deep/target", "old");
    fs::create_symlink("deep/target", folder / "second");
    fs::create_symlink("second", folder / "first");
    fs::create_symlink("deep/missing", folder / "dangling");
    write_output(folder / "first", "new");
    write_output(folder / "dangling", "made");
    EXPECT_TRUE(fs::is_symlink(folder / "first") && fs::is_symlink(folder / "second"));
    EXPECT_TRUE(fs::is_symlink(folder / "dangling"));
    EXPECT_EQ(read_file(folder / "deep/target"), "new");
    EXPECT_EQ(read_file(folder / "deep/missing"), "made");
}

TEST(WriteOutput, WritesThroughAFifoAndADeviceWhichStay) {
    record::TemporaryFolder const folder;
    fs::path const fifo = folder / "fifo";
    ASSERT_EQ(mkfifo(fifo.c_str(), S_IRUSR | S_IWUSR), 0);
    auto const read = std::async(std::launch::async, [&] { return read_file(fifo); });
    write_output(fifo, "text");
    read.wait();
    EXPECT_TRUE(fs::is_fifo(fifo));
    fs::create_symlink("/dev/null", folder / "null");
    write_output(folder / "null", "text");
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
    EXPECT_EQ(files_beside(fifo), 2U);
}

TEST(WriteOutput, AppendsToTheFileOfADescriptorInsteadOfReplacingIt) {
    record::TemporaryFolder const folder;
    record::write_file(folder / "log", "before ");
    int const file = open((folder / "log").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    write_output("/proc/self/fd/" + std::to_string(file), "text");
    EXPECT_EQ(write(file, " after", 6), 6);
    close(file);
    EXPECT_EQ(read_file(folder / "log"), "before text after");
}

TEST(WriteOutput, SaysWhyAFileCannotBeWrittenAndLeavesNothing) {
    record::TemporaryFolder const folder;
    record::write_file(folder / "file", "old");
    EXPECT_THAT(output_refusal(folder / "missing/file"), HasSubstr("missing/file: cannot be written: No such file"));
    EXPECT_THAT(output_refusal((folder / "file").parent_path()), HasSubstr("Is a directory"));
    if (fs::exists("/dev/full")) {
        EXPECT_THAT(output_refusal("/dev/full"), HasSubstr("No space left on device"));
    }
    EXPECT_EQ(files_beside(folder / "file"), 1U);
}

TEST(WriteOutput, SaysThatAFileWouldBeLargerThanItsLimit) {
    record::TemporaryFolder const folder;
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
    rlimit const small{2, limit.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    std::string const message = output_refusal(folder / "file");
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    EXPECT_THAT(message, HasSubstr("File too large"));
    EXPECT_EQ(files_beside(folder / "file"), 0U);
}

}  // namespace
}  // namespace dlmb
