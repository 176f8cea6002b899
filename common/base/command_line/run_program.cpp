// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/command_line/run_program.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace dlmb {
namespace {

constexpr int exit_timeout = 124;

void check(int error, char const* call) {
    if (error != 0) {
        throw Error(fmt::format("{}: {}", call, std::strerror(error)));
    }
}

/// Holds back the signals that would end this process, so that it ends the processes that it started first. Those that
/// are ignored stay so.
class HeldSignals {
public:
    HeldSignals() {
        sigset_t held;
        sigemptyset(&held);
        for (int const signal : {SIGHUP, SIGINT, SIGTERM}) {
            struct sigaction action {};
            if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) {
                sigaddset(&held, signal);
            }
        }
        check(pthread_sigmask(SIG_BLOCK, &held, &before_), "pthread_sigmask");
        descriptor_ = signalfd(-1, &held, SFD_CLOEXEC);
    }
    HeldSignals(HeldSignals const&) = delete;
    HeldSignals& operator=(HeldSignals const&) = delete;
    /// A signal that has come ends this process now.
    ~HeldSignals() {
        close(descriptor_);
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    [[nodiscard]] sigset_t const& before() const { return before_; }
    /// Readable once a signal has come; never read, so that it stays pending.
    [[nodiscard]] int descriptor() const { return descriptor_; }

private:
    sigset_t before_{};
    int descriptor_ = -1;  // poll() leaves out a negative one
};

/// A process group of its own, so that the ranks under a launcher end with it.
pid_t start(std::vector<std::string> const& arguments, int output, sigset_t const& signals) {
    std::vector<char*> pointers;
    for (std::string const& argument : arguments) {
        pointers.push_back(const_cast<char*>(argument.c_str()));
    }
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    check(posix_spawn_file_actions_init(&actions), "posix_spawn_file_actions_init");
    check(posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", 0, 0),
          "posix_spawn_file_actions_addopen");
    check(posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO), "posix_spawn_file_actions_adddup2");
    check(posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO), "posix_spawn_file_actions_adddup2");
    posix_spawnattr_t attributes;
    check(posix_spawnattr_init(&attributes), "posix_spawnattr_init");
    check(posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK),
          "posix_spawnattr_setflags");
    check(posix_spawnattr_setsigmask(&attributes, &signals), "posix_spawnattr_setsigmask");
    pid_t pid = 0;
    int const error = posix_spawnp(&pid, pointers.front(), &actions, &attributes, pointers.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        throw Error(fmt::format("{} cannot be started: {}", arguments.front(), std::strerror(error)));
    }
    return pid;
}

/// Later output is lost.
constexpr std::size_t most_output_bytes = std::size_t{64} << 20;

enum class Waited { to_the_end, until, late, signalled };

/// Until the other end is closed, or `until` (which may be empty) or a signal has come, or it is too late.
Waited read_output(int pipe, int signals, std::chrono::steady_clock::time_point deadline, std::string_view until,
                   std::string& text) {
    std::array<char, 65536> buffer{};
    while (true) {
        auto const left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        std::array<pollfd, 2> both{{{pipe, POLLIN, 0}, {signals, POLLIN, 0}}};
        if (left.count() <= 0 || poll(both.data(), both.size(), static_cast<int>(left.count())) == 0) {
            return Waited::late;
        }
        if (both[1].revents != 0) {
            return Waited::signalled;
        }
        ssize_t const count = read(pipe, buffer.data(), buffer.size());
        if (count == 0) {
            return Waited::to_the_end;
        }
        if (count > 0) {
            std::size_t const known = text.size() - std::min(text.size(), until.size());
            text.append(buffer.data(), std::min(static_cast<std::size_t>(count), most_output_bytes - text.size()));
            if (!until.empty() && text.find(until, known) != std::string::npos) {
                return Waited::until;
            }
        } else if (errno != EINTR) {
            check(errno, "read");
        }
    }
}

/// A process may go on when it has closed its output. Leaves it for waitpid().
Waited wait_for_end(pid_t pid, int signals, std::chrono::steady_clock::time_point deadline) {
    constexpr int pause_ms = 1;
    while (true) {
        siginfo_t ended{};
        if (waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == pid) {
            return Waited::to_the_end;
        }
        if (std::chrono::steady_clock::now() >= deadline) {
            return Waited::late;
        }
        pollfd signal{signals, POLLIN, 0};
        if (poll(&signal, 1, pause_ms) > 0) {
            return Waited::signalled;
        }
    }
}

}  // namespace

Finished run_program(std::vector<std::string> const& arguments, std::chrono::seconds most, std::string_view until) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        check(errno, "pipe2");
    }
    Finished finished;
    HeldSignals const signals;
    pid_t pid = 0;
    try {
        pid = start(arguments, ends[1], signals.before());
    } catch (...) {
        close(ends[0]);
        close(ends[1]);
        throw;
    }
    close(ends[1]);
    auto const deadline = std::chrono::steady_clock::now() + most;
    Waited how = read_output(ends[0], signals.descriptor(), deadline, until, finished.output);
    if (how == Waited::to_the_end) {
        how = wait_for_end(pid, signals.descriptor(), deadline);
    }
    if (how != Waited::to_the_end) {
        kill(-pid, SIGKILL);
    }
    close(ends[0]);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            check(errno, "waitpid");
        }
    }
    finished.exit_code = how == Waited::late    ? exit_timeout
                         : how == Waited::until ? 0
                         : WIFEXITED(status)    ? WEXITSTATUS(status)
                                                : 128 + WTERMSIG(status);
    return finished;
}

Finished run_ranks(std::vector<std::string> const& launcher, std::uint64_t ranks,
                   std::map<std::string, std::string> const& environment, std::vector<std::string> const& arguments,
                   std::chrono::seconds most) {
    std::vector<std::string> words = launcher;
    words.insert(words.end(), {"-n", fmt::format("{}", ranks), "env"});
    for (auto const& [name, value] : environment) {
        words.push_back(fmt::format("{}={}", name, value));
    }
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run_program(words, most);
}

TemporaryFolder::TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "dlmb-tune-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
        throw Error(name + ": " + std::strerror(errno));
    }
    path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace dlmb
