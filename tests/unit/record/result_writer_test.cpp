// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/record/result_file.hpp"
#include "tests/unit/record/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dlmb::record {
namespace {

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

std::string message_of(std::function<void()> const& action) {
    try {
        action();
    } catch (OutputError const& error) {
        return error.what();
    }
    return "nothing was thrown";
}

bool holds(std::string const& text, std::string const& part) {
    return text.find(part) != std::string::npos;
}

TEST(ResultWriter, AppendsWholeLinesAndMakesTheFoldersOfItsFile) {
    TemporaryFolder const folder;
    auto const path = folder / "a/b/results.jsonl";
    {
        ResultWriter writer(path);
        writer.append(our_line);
    }
    ResultWriter(path).append(R"({"b":2})");
    EXPECT_EQ(read_file(path), ours + "{\"b\":2}\n");
}

TEST(ResultWriter, ALineIsInTheFileWhenAppendReturns) {
    TemporaryFolder const folder;
    ResultWriter writer(folder / "r");
    writer.append("{}");
    EXPECT_EQ(read_file(folder / "r"), "{}\n");
}

TEST(ResultWriter, RemovesALastLineThatAKillBrokeAndSaysSo) {
    TemporaryFolder const folder;
    write_file(folder / "r", ours + "{\"b\":\"tru");
    testing::internal::CaptureStderr();
    ResultWriter(folder / "r").append(R"({"c":3})");
    std::string const said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(read_file(folder / "r"), ours + "{\"c\":3}\n");
    EXPECT_TRUE(holds(said, (folder / "r").string())) << said;
    EXPECT_TRUE(holds(said, "9 bytes")) << said;  // {"b":"tru
}

TEST(ResultWriter, KeepsALastLineThatOnlyLacksItsNewline) {
    TemporaryFolder const folder;
    write_file(folder / "r", ours + "{\"b\":2}");
    ResultWriter(folder / "r").append(R"({"c":3})");
    EXPECT_EQ(read_file(folder / "r"), ours + "{\"b\":2}\n{\"c\":3}\n");
}

TEST(ResultWriter, RepairsABrokenLineLongerThanItsReadingWindow) {
    TemporaryFolder const folder;
    std::string const first = ours + R"({"a":")" + std::string(200'000, 'x') + "\"}\n";
    write_file(folder / "r", first + R"({"b":")" + std::string(200'000, 'y'));
    testing::internal::CaptureStderr();
    ResultWriter(folder / "r").append("{}");
    (void)testing::internal::GetCapturedStderr();
    EXPECT_EQ(read_file(folder / "r"), first + "{}\n");
}

TEST(ResultWriter, ASecondWriterIsRefusedUntilTheFirstIsGone) {
    TemporaryFolder const folder;
    {
        ResultWriter const first(folder / "r");
        std::string const message = message_of([&] { ResultWriter const second(folder / "r"); });
        EXPECT_TRUE(holds(message, "another launch")) << message;
        EXPECT_TRUE(holds(message, (folder / "r").string())) << message;
    }
    EXPECT_NO_THROW(ResultWriter(folder / "r"));
}

TEST(ResultWriter, AKilledWriterLeavesNoLockBehind) {
    TemporaryFolder const folder;
    pid_t const child = fork();
    if (child == 0) {
        ResultWriter writer(folder / "r");
        writer.append(our_line);
        kill(getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    ResultWriter(folder / "r").append(R"({"parent":1})");
    EXPECT_EQ(read_file(folder / "r"), ours + "{\"parent\":1}\n");
}

TEST(ResultWriter, CutsBackToTheLastWholeLineWhereTheFileMayNotGrowAndHandsTheLineBack) {
    TemporaryFolder const folder;
    ResultWriter writer(folder / "r");
    writer.append(R"({"a":1})");
    std::string const line = R"({"b":")" + std::string(100, 'x') + R"("})";
    {
        FileSizeLimit const limit(50);  // inside the second line: write() stores a part of it, then fails
        try {
            writer.append(line);
            FAIL() << "the line cannot fit";
        } catch (LineNotWritten const& error) {
            EXPECT_EQ(error.line(), line);
            EXPECT_TRUE(holds(error.what(), (folder / "r").string())) << error.what();
            EXPECT_TRUE(holds(error.what(), "File too large")) << error.what();
        }
    }
    EXPECT_EQ(read_file(folder / "r"), "{\"a\":1}\n");
    writer.append(R"({"c":3})");  // room again
    EXPECT_EQ(read_file(folder / "r"), "{\"a\":1}\n{\"c\":3}\n");
}

TEST(ResultWriter, RefusesAndLeavesAloneWhatIsNoResultFile) {
    TemporaryFolder const folder;
    for (std::string const content :
         {"dear diary", "dear diary\n", "a\nb", "{\"a\":1}", "{\"a\":1}\n", "{", "\n",
          "{\"kind\":\"launch\",\"schema\":\"other/1.0\"}", "{\"kind\":\"campaign\",\"name\":\"x\"}\n", "[]"}) {
        write_file(folder / "notes.txt", content);
        try {
            ResultWriter const writer(folder / "notes.txt");
            ADD_FAILURE() << content;
        } catch (UsageError const& error) {
            EXPECT_TRUE(holds(error.what(), "notes.txt: holds something else than results")) << error.what();
        }
        EXPECT_EQ(read_file(folder / "notes.txt"), content);
    }
}

TEST(ResultWriter, GoesOnWithAFileWhoseFirstLineAKillBroke) {
    TemporaryFolder const folder;
    for (std::string const first : {R"({"kind":"launch","schema":"dlmb.result/1)",
                                    R"({"kind": "launch", "schema": "dlmb.result/1.0", "launch_id": "0)"}) {
        write_file(folder / "r", first);
        testing::internal::CaptureStderr();
        ResultWriter(folder / "r").append(our_line);
        (void)testing::internal::GetCapturedStderr();
        EXPECT_EQ(read_file(folder / "r"), ours);
    }
}

std::string removed_lines(ResultWriter const& writer) {
    testing::internal::CaptureStdout();
    writer.print_removed_lines(STDOUT_FILENO, "LOST ");
    return testing::internal::GetCapturedStdout();
}

TEST(ResultWriter, PrintsWhatItWroteToAFileThatWasRemoved) {
    TemporaryFolder const folder;
    write_file(folder / "r", ours);
    ResultWriter writer(folder / "r");
    std::string const longer = R"({"a":")" + std::string(10'000, 'x') + R"("})";
    writer.append(longer);
    writer.append("{}");
    EXPECT_EQ(removed_lines(writer), "") << "it is there";
    std::filesystem::remove(folder / "r");
    EXPECT_TRUE(holds(message_of([&] { writer.append("{}"); }), "was removed during the launch"));
    EXPECT_EQ(removed_lines(writer), "LOST " + longer + "\nLOST {}\n") << "those before are of others";
    std::string_view const piece = "{}\n";
    EXPECT_FALSE(writer.append_in_handler({&piece, 1}));
    EXPECT_FALSE(std::filesystem::exists(folder / "r"));
}

TEST(ResultWriter, WritesNothingToAFileThatWasMovedOrReplaced) {
    TemporaryFolder const folder;
    {
        ResultWriter writer(folder / "r");
        writer.append(our_line);
        std::filesystem::rename(folder / "r", folder / "moved");
        EXPECT_TRUE(holds(message_of([&] { writer.append("{}"); }), "was moved or replaced"));
        write_file(folder / "r", "");
        EXPECT_TRUE(holds(message_of([&] { writer.append("{}"); }), "was moved or replaced"));
        EXPECT_EQ(removed_lines(writer), "") << "they are in the file that was moved";
    }
    EXPECT_EQ(read_file(folder / "moved"), ours);
    EXPECT_EQ(read_file(folder / "r"), "");
}

TEST(ResultWriter, NamesTheReasonWhenTheDeviceIsFull) {
    if (!std::filesystem::exists("/dev/full")) {
        GTEST_SKIP() << "no /dev/full here";
    }
    ResultWriter writer("/dev/full");
    std::string const message = message_of([&] { writer.append("{}"); });
    EXPECT_TRUE(holds(message, "/dev/full")) << message;
    EXPECT_TRUE(holds(message, "No space left on device")) << message;
}

TEST(ResultWriter, CutsBackToTheLastWholeLineOnAFullDisk) {
    TemporaryFolder const folder;
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
        message = message_of([&] {
            for (; written < 100; ++written) {
                writer.append(line);
            }
        });
    }
    std::string const content = read_file(disk / "r");
    umount2(disk.c_str(), MNT_DETACH);
    EXPECT_TRUE(holds(message, "No space left on device")) << message;
    EXPECT_EQ(written, 65'536 / (line.size() + 1));
    EXPECT_EQ(content.size(), written * (line.size() + 1));
    EXPECT_EQ(content.back(), '\n');
}

TEST(ResultWriter, NamesAPathThatCannotBeOpened) {
    TemporaryFolder const folder;
    write_file(folder / "file", "");
    std::string const message = message_of([&] { ResultWriter const writer(folder / "file/below"); });
    EXPECT_TRUE(holds(message, (folder / "file/below").string())) << message;
    EXPECT_TRUE(holds(message, "Not a directory")) << message;
}

TEST(ResultWriter, RefusesALineWithALineBreak) {
    TemporaryFolder const folder;
    ResultWriter writer(folder / "r");
    EXPECT_THROW(writer.append("{}\n{}"), Error);
    EXPECT_EQ(read_file(folder / "r"), "");
}

TEST(ResultWriter, AClosedPipeIsAnErrorAndNotTheEndOfTheProcess) {
    TemporaryFolder const folder;
    int ends[2] = {-1, -1};
    ASSERT_EQ(pipe(ends), 0);
    ResultWriter writer("/proc/self/fd/" + std::to_string(ends[1]));
    close(ends[0]);
    EXPECT_TRUE(holds(message_of([&] { writer.append("{}"); }), "Broken pipe"));
    close(ends[1]);
}

}  // namespace
}  // namespace dlmb::record
