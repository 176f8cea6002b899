// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/record/result_file.hpp"
#include "tests/unit/record/temporary_folder.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dlmb::record {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Lets files of this process grow to `bytes` only: a full disk that needs neither root nor a disk.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t bytes) {
        getrlimit(RLIMIT_FSIZE, &before_);
        rlimit const limit{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    FileSizeLimit(FileSizeLimit const&) = delete;
    FileSizeLimit& operator=(FileSizeLimit const&) = delete;
    FileSizeLimit(FileSizeLimit&&) = delete;
    FileSizeLimit& operator=(FileSizeLimit&&) = delete;
    ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

private:
    rlimit before_{};
};

std::string const our_line = R"({"kind":"launch","schema":"dlmb.result/1.0"})";
std::string const ours = our_line + "\n";

std::string refusal(std::function<void()> const& action) {
    return message_of<OutputError>(action);
}

class Writing : public testing::Test {
protected:
    /// To the file, from a writer of its own; what is said of it on standard error.
    std::string append(std::string const& line) const {
        testing::internal::CaptureStderr();
        ResultWriter(file).append(line);
        return testing::internal::GetCapturedStderr();
    }

    TemporaryFolder const folder;
    std::filesystem::path const file = folder / "r";
};

TEST_F(Writing, AppendsWholeLinesAndMakesTheFoldersOfItsFile) {
    auto const path = folder / "a/b/results.jsonl";
    {
        ResultWriter writer(path);
        writer.append(our_line);
    }
    ResultWriter(path).append(R"({"b":2})");
    EXPECT_EQ(read_file(path), ours + "{\"b\":2}\n");
}

TEST_F(Writing, ALineIsInTheFileWhenAppendReturns) {
    ResultWriter writer(file);
    writer.append("{}");
    EXPECT_EQ(read_file(file), "{}\n");
}

TEST_F(Writing, RemovesALastLineThatAKillBrokeAndSaysSo) {
    write_file(file, ours + "{\"b\":\"tru");
    std::string const said = append(R"({"c":3})");
    EXPECT_EQ(read_file(file), ours + "{\"c\":3}\n");
    EXPECT_THAT(said, HasSubstr(file.string()));
    EXPECT_THAT(said, HasSubstr("9 bytes"));  // {"b":"tru
}

TEST_F(Writing, KeepsALastLineThatOnlyLacksItsNewline) {
    write_file(file, ours + "{\"b\":2}");
    ResultWriter(file).append(R"({"c":3})");
    EXPECT_EQ(read_file(file), ours + "{\"b\":2}\n{\"c\":3}\n");
}

TEST_F(Writing, RepairsABrokenLineLongerThanItsReadingWindow) {
    std::string const first = ours + R"({"a":")" + std::string(200'000, 'x') + "\"}\n";
    write_file(file, first + R"({"b":")" + std::string(200'000, 'y'));
    (void)append("{}");
    EXPECT_EQ(read_file(file), first + "{}\n");
}

TEST_F(Writing, ASecondWriterIsRefusedUntilTheFirstIsGone) {
    {
        ResultWriter const first(file);
        std::string const message = refusal([&] { ResultWriter const second(file); });
        EXPECT_THAT(message, HasSubstr("another launch"));
        EXPECT_THAT(message, HasSubstr(file.string()));
    }
    EXPECT_NO_THROW(ResultWriter{file});
}

TEST_F(Writing, AKilledWriterLeavesNoLockBehind) {
    pid_t const child = fork();
    if (child == 0) {
        ResultWriter writer(file);
        writer.append(our_line);
        kill(getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    ResultWriter(file).append(R"({"parent":1})");
    EXPECT_EQ(read_file(file), ours + "{\"parent\":1}\n");
}

TEST_F(Writing, CutsBackToTheLastWholeLineWhereTheFileMayNotGrowAndHandsTheLineBack) {
    ResultWriter writer(file);
    writer.append(R"({"a":1})");
    std::string const line = R"({"b":")" + std::string(100, 'x') + R"("})";
    {
        FileSizeLimit const limit(50);  // inside the second line: write() stores a part of it, then fails
        try {
            writer.append(line);
            FAIL() << "the line cannot fit";
        } catch (LineNotWritten const& error) {
            EXPECT_EQ(error.line(), line);
            EXPECT_THAT(error.what(), AllOf(HasSubstr(file.string()), HasSubstr("File too large")));
        }
    }
    EXPECT_EQ(read_file(file), "{\"a\":1}\n");
    writer.append(R"({"c":3})");  // room again
    EXPECT_EQ(read_file(file), "{\"a\":1}\n{\"c\":3}\n");
}

TEST_F(Writing, RefusesAndLeavesAloneWhatIsNoResultFile) {
    for (std::string const content :
         {"dear diary", "dear diary\n", "a\nb", "{\"a\":1}", "{\"a\":1}\n", "{", "\n",
          "{\"kind\":\"launch\",\"schema\":\"other/1.0\"}", "{\"kind\":\"campaign\",\"name\":\"x\"}\n", "[]"}) {
        write_file(folder / "notes.txt", content);
        EXPECT_THAT(usage_error_of([&] { ResultWriter const writer(folder / "notes.txt"); }),
                    HasSubstr("notes.txt: holds something else than results"));
        EXPECT_EQ(read_file(folder / "notes.txt"), content);
    }
}

TEST_F(Writing, GoesOnWithAFileWhoseFirstLineAKillBroke) {
    for (std::string const first : {R"({"kind":"launch","schema":"dlmb.result/1)",
                                    R"({"kind": "launch", "schema": "dlmb.result/1.0", "launch_id": "0)"}) {
        write_file(file, first);
        (void)append(our_line);
        EXPECT_EQ(read_file(file), ours);
    }
}

std::string removed_lines(ResultWriter const& writer) {
    testing::internal::CaptureStdout();
    writer.print_removed_lines(STDOUT_FILENO, "LOST ");
    return testing::internal::GetCapturedStdout();
}

TEST_F(Writing, PrintsWhatItWroteToAFileThatWasRemoved) {
    write_file(file, ours);
    ResultWriter writer(file);
    std::string const longer = R"({"a":")" + std::string(10'000, 'x') + R"("})";
    writer.append(longer);
    writer.append("{}");
    EXPECT_EQ(removed_lines(writer), "") << "it is there";
    std::filesystem::remove(file);
    EXPECT_THAT(refusal([&] { writer.append("{}"); }), HasSubstr("was removed during the launch"));
    EXPECT_EQ(removed_lines(writer), "LOST " + longer + "\nLOST {}\n") << "those before are of others";
    std::string_view const piece = "{}\n";
    EXPECT_FALSE(writer.append_in_handler({&piece, 1}));
    EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(Writing, WritesNothingToAFileThatWasMovedOrReplaced) {
    {
        ResultWriter writer(file);
        writer.append(our_line);
        std::filesystem::rename(file, folder / "moved");
        EXPECT_THAT(refusal([&] { writer.append("{}"); }), HasSubstr("was moved or replaced"));
        write_file(file, "");
        EXPECT_THAT(refusal([&] { writer.append("{}"); }), HasSubstr("was moved or replaced"));
        EXPECT_EQ(removed_lines(writer), "") << "they are in the file that was moved";
    }
    EXPECT_EQ(read_file(folder / "moved"), ours);
    EXPECT_EQ(read_file(file), "");
}

TEST_F(Writing, NamesTheReasonWhenTheDeviceIsFull) {
    if (!std::filesystem::exists("/dev/full")) {
        GTEST_SKIP() << "no /dev/full here";
    }
    ResultWriter writer("/dev/full");
    std::string const message = refusal([&] { writer.append("{}"); });
    EXPECT_THAT(message, HasSubstr("/dev/full"));
    EXPECT_THAT(message, HasSubstr("No space left on device"));
}

TEST_F(Writing, CutsBackToTheLastWholeLineOnAFullDisk) {
    auto const disk = folder / "disk";
    std::filesystem::create_directory(disk);
    if (mount("none", disk.c_str(), "tmpfs", 0, "size=64k") != 0) {
        GTEST_SKIP() << "a small disk can be mounted by root only";
    }
    std::string const line = R"({"x":")" + std::string(10'000, 'x') + R"("})";
    std::size_t written = 0;
    std::string message;
    {
        ResultWriter writer(disk / "r");
        message = refusal([&] {
            for (; written < 100; ++written) {
                writer.append(line);
            }
        });
    }
    std::string const content = read_file(disk / "r");
    umount2(disk.c_str(), MNT_DETACH);
    EXPECT_THAT(message, HasSubstr("No space left on device"));
    EXPECT_EQ(written, 65'536 / (line.size() + 1));
    EXPECT_EQ(content.size(), written * (line.size() + 1));
    EXPECT_EQ(content.back(), '\n');
}

TEST_F(Writing, NamesAPathThatCannotBeOpened) {
    write_file(folder / "file", "");
    std::string const message = refusal([&] { ResultWriter const writer(folder / "file/below"); });
    EXPECT_THAT(message, HasSubstr((folder / "file/below").string()));
    EXPECT_THAT(message, HasSubstr("Not a directory"));
}

TEST_F(Writing, RefusesALineWithALineBreak) {
    ResultWriter writer(file);
    EXPECT_THROW(writer.append("{}\n{}"), Error);
    EXPECT_EQ(read_file(file), "");
}

TEST_F(Writing, AClosedPipeIsAnErrorAndNotTheEndOfTheProcess) {
    int ends[2] = {-1, -1};
    ASSERT_EQ(pipe(ends), 0);
    ResultWriter writer("/proc/self/fd/" + std::to_string(ends[1]));
    close(ends[0]);
    EXPECT_THAT(refusal([&] { writer.append("{}"); }), HasSubstr("Broken pipe"));
    close(ends[1]);
}

}  // namespace
}  // namespace dlmb::record
