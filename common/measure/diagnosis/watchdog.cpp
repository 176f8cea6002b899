// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/diagnosis/watchdog.hpp"

#include "common/backend_kit/backend.hpp"
#include "common/base/error.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <optional>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace dlmb::measure {
namespace {

Error system_error(std::string const& call) {
    return Error(call + ": " + std::generic_category().message(errno));
}

sigset_t termination_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    return signals;
}

class FileDescriptor {
public:
    FileDescriptor(int descriptor, char const* call) : descriptor_(descriptor) {
        if (descriptor < 0) {
            throw system_error(call);
        }
    }
    FileDescriptor(FileDescriptor const&) = delete;
    FileDescriptor(FileDescriptor&&) = delete;
    FileDescriptor& operator=(FileDescriptor const&) = delete;
    FileDescriptor& operator=(FileDescriptor&&) = delete;
    ~FileDescriptor() { close(descriptor_); }
    [[nodiscard]] int get() const { return descriptor_; }

private:
    int descriptor_;
};

int open_signals() {
    sigset_t const signals = termination_signals();
    return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

constexpr Nanoseconds forever = -1;

// Longer than `ns`, so that a wake-up is never a moment too early and the thread does not spin towards its deadline.
int poll_timeout(Nanoseconds ns) {
    constexpr Nanoseconds longest = 3'600'000'000'000;
    return ns == forever ? -1 : static_cast<int>(std::min(ns, longest) / 1'000'000 + 1);
}

}  // namespace

// `guard` protects what only the cold calls change; the hot ones store atomics.
struct Watchdog::State {
    explicit State(std::function<void(HangReport const&)> call) : expired(std::move(call)) {}

    void watch();
    [[nodiscard]] std::optional<HangReport> overdue_or_time_left(Nanoseconds& left);
    [[nodiscard]] HangReport describe(int signal) const;
    void wake() const {
        if (eventfd_write(wake_up.get(), 1) != 0) {
            throw system_error("eventfd_write");
        }
    }

    std::function<void(HangReport const&)> expired;
    FileDescriptor signals{open_signals(), "signalfd"};
    FileDescriptor wake_up{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd"};
    std::atomic<Nanoseconds> touched{now_ns()};
    std::atomic<CompiledPlan const*> running{nullptr};
    std::atomic<Plan const*> plan{nullptr};

    std::mutex guard;
    std::string cell;
    std::string activity;
    Nanoseconds timeout_ns = 0;  // 0: not armed
    Nanoseconds asleep_until = forever;
    bool quit = false;

    std::thread thread;
};

HangReport Watchdog::State::describe(int signal) const {
    HangReport hang{cell, activity, "", now_ns() - touched.load(std::memory_order_relaxed), signal};
    CompiledPlan const* const compiled = running.load(std::memory_order_acquire);
    Plan const* const its_plan = plan.load(std::memory_order_relaxed);
    if (compiled != nullptr && its_plan != nullptr) {
        std::size_t const done = compiled->steps_done();
        hang.step = done < its_plan->steps.size() ? its_plan->steps[done].label : "";
    }
    return hang;
}

std::optional<HangReport> Watchdog::State::overdue_or_time_left(Nanoseconds& left) {
    Nanoseconds const now = now_ns();
    asleep_until = forever;
    left = forever;
    if (timeout_ns > 0) {
        asleep_until = touched.load(std::memory_order_relaxed) + timeout_ns;
        left = asleep_until - now;
        if (left <= 0) {
            return describe(0);
        }
    }
    return std::nullopt;
}

void Watchdog::State::watch() {
    while (true) {
        Nanoseconds left = forever;
        std::optional<HangReport> hang;
        {
            std::lock_guard const lock(guard);
            if (quit) {
                return;
            }
            signalfd_siginfo received{};
            if (read(signals.get(), &received, sizeof received) == sizeof received) {
                hang = describe(static_cast<int>(received.ssi_signo));
            } else {
                hang = overdue_or_time_left(left);
            }
        }
        if (hang) {
            expired(*hang);
            return;
        }
        std::array<pollfd, 2> wanted{{{signals.get(), POLLIN, 0}, {wake_up.get(), POLLIN, 0}}};
        poll(wanted.data(), wanted.size(), poll_timeout(left));
        eventfd_t ignored = 0;
        eventfd_read(wake_up.get(), &ignored);
    }
}

Watchdog::Watchdog(std::function<void(HangReport const&)> expired)
    : state_(std::make_unique<State>(std::move(expired))) {
    state_->thread = std::thread([state = state_.get()] { state->watch(); });
}

Watchdog::~Watchdog() {
    {
        std::lock_guard const lock(state_->guard);
        state_->quit = true;
    }
    eventfd_write(state_->wake_up.get(), 1);
    state_->thread.join();
}

void Watchdog::arm(std::string cell, Nanoseconds timeout_ns) {
    touch();
    std::lock_guard const lock(state_->guard);
    state_->cell = std::move(cell);
    state_->timeout_ns = std::max<Nanoseconds>(0, timeout_ns);
    // The thread is woken only when it would sleep past the new deadline: a wake-up costs the measured rank a switch.
    bool const too_long = state_->asleep_until == forever || now_ns() + timeout_ns < state_->asleep_until;
    if (timeout_ns > 0 && too_long) {
        state_->wake();
    }
}

void Watchdog::activity(std::string what) {
    touch();
    std::lock_guard const lock(state_->guard);
    state_->activity = std::move(what);
}

void Watchdog::iteration(CompiledPlan const* running, Plan const* plan) noexcept {
    state_->plan.store(plan, std::memory_order_relaxed);
    state_->running.store(running, std::memory_order_release);
}

void Watchdog::touch() noexcept {
    state_->touched.store(now_ns(), std::memory_order_relaxed);
}

void Watchdog::expire() {
    HangReport hang;
    {
        std::lock_guard const lock(state_->guard);
        state_->timeout_ns = 0;  // not a second time on the watchdog's thread
        hang = state_->describe(0);
    }
    state_->expired(hang);
}

void Watchdog::disarm() {
    iteration(nullptr, nullptr);
    std::lock_guard const lock(state_->guard);  // waits for a description in progress
    state_->timeout_ns = 0;
    state_->cell.clear();
    state_->activity.clear();
}

void block_termination_signals() {
    sigset_t const signals = termination_signals();
    if (int const code = pthread_sigmask(SIG_BLOCK, &signals, nullptr); code != 0) {
        throw Error("pthread_sigmask: " + std::generic_category().message(code));
    }
}

}  // namespace dlmb::measure
