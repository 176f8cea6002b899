// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/diagnosis/watchdog.hpp"

#include "common/backend_kit/backend.hpp"
#include "common/base/clock.hpp"
#include "common/base/error.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <pthread.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

namespace dlmb::measure {

struct Watchdog::State {
    explicit State(std::function<void(HangReport const&)> call) : expired(std::move(call)) {}

    void expire(int signal);
    void at_deadline();
    void wake_at(Nanoseconds time_ns);
    void touch(Nanoseconds now) {
        touched.store(now, std::memory_order_relaxed);
        begun.store(0, std::memory_order_relaxed);
    }

    std::function<void(HangReport const&)> expired;
    pthread_t owner = pthread_self();
    timer_t timer{};
    bool takes_signals = false;
    bool over = false;
    // The handlers run on the thread that writes these: atomics keep the compiler from reordering, no more.
    std::atomic<Nanoseconds> touched{now_ns()};
    std::atomic<std::uint64_t> begun{0};  // iterations since then
    std::atomic<CompiledPlan const*> running{nullptr};
    std::atomic<Plan const*> plan{nullptr};
    // Changed with the signals held.
    std::string cell;
    std::string activity;
    Nanoseconds timeout_ns = 0;  // 0: not armed
    Nanoseconds wakes_at = 0;    // 0: the timer does not run
};

namespace {

Error system_error(std::string const& call, int code) {
    return Error(call + ": " + std::generic_category().message(code));
}

constexpr std::array termination_signals{SIGTERM, SIGINT};

/// A signal without meaning to other libraries: UCX may use SIGALRM and SIGIO for itself.
int deadline_signal() {
    return SIGRTMIN + 3;
}

sigset_t set_of_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, deadline_signal());
    for (int const signal : termination_signals) {
        sigaddset(&signals, signal);
    }
    return signals;
}

/// A signal handler has no argument of ours: whose watchdog takes SIGTERM and SIGINT.
std::atomic<Watchdog::State*> signal_taker{nullptr};

void on_deadline(int /*signal*/, siginfo_t* info, void* /*context*/) {
    int const error_before = errno;
    static_cast<Watchdog::State*>(info->si_value.sival_ptr)->at_deadline();
    errno = error_before;
}

void on_termination(int signal) {
    int const error_before = errno;
    if (Watchdog::State* const state = signal_taker.load(); state != nullptr) {
        if (pthread_equal(state->owner, pthread_self()) != 0) {
            state->expire(signal);
        } else {
            pthread_kill(state->owner, signal);  // a thread of some library was interrupted
        }
    }
    errno = error_before;
}

void handle(int signal, void (*simple)(int), void (*with_info)(int, siginfo_t*, void*)) {
    struct sigaction action {};
    if (simple != nullptr) {
        action.sa_handler = simple;
    } else {
        action.sa_sigaction = with_info;
    }
    action.sa_mask = set_of_signals();  // one end of a launch is enough
    action.sa_flags = SA_RESTART | (simple == nullptr ? SA_SIGINFO : 0);
    if (sigaction(signal, &action, nullptr) != 0) {
        throw system_error("sigaction", errno);
    }
}

/// Signals this thread, also where ranks are threads.
timer_t make_timer(Watchdog::State* state) {
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = deadline_signal();
    event.sigev_value.sival_ptr = state;
    event._sigev_un._tid =
        static_cast<pid_t>(syscall(SYS_gettid));  // glibc names neither the field nor, before 2.30, gettid
    timer_t timer{};
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) {
        throw system_error("timer_create", errno);
    }
    return timer;
}

}  // namespace

HeldSignals::HeldSignals() {
    sigset_t const signals = set_of_signals();
    pthread_sigmask(SIG_BLOCK, &signals, &before_);
}

HeldSignals::~HeldSignals() {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Watchdog::State::expire(int signal) {
    if (over) {
        return;
    }
    over = true;
    HangReport hang{cell, activity, "", now_ns() - touched.load(std::memory_order_relaxed), signal};
    CompiledPlan const* const compiled = running.load(std::memory_order_acquire);
    Plan const* const its_plan = plan.load(std::memory_order_relaxed);
    if (compiled != nullptr && its_plan != nullptr) {
        if (auto const open = compiled->first_open_step(); open && *open < its_plan->steps.size()) {
            hang.step = its_plan->steps[*open].label;
        }
    }
    expired(hang);
}

void Watchdog::State::at_deadline() {
    wakes_at = 0;
    if (over || timeout_ns <= 0) {
        return;
    }
    // Iterations that follow each other without a touch are progress, too: of a sample of many only the end is touched.
    if (begun.load(std::memory_order_relaxed) > 1) {
        touch(now_ns());
    }
    Nanoseconds const deadline = touched.load(std::memory_order_relaxed) + timeout_ns;
    if (now_ns() >= deadline) {
        expire(0);
    } else {
        wake_at(deadline);
    }
}

void Watchdog::State::wake_at(Nanoseconds time_ns) {
    constexpr Nanoseconds second = 1'000'000'000;
    wakes_at = time_ns;
    Nanoseconds const left = std::max<Nanoseconds>(1, time_ns - now_ns());
    itimerspec const when{{}, {left / second, left % second}};
    timer_settime(timer, 0, &when, nullptr);  // fails only for arguments that are not there
}

Watchdog::Watchdog(std::function<void(HangReport const&)> expired, Signals signals)
    : state_(std::make_unique<State>(std::move(expired))) {
    handle(deadline_signal(), nullptr, on_deadline);
    state_->timer = make_timer(state_.get());
    sigset_t mine;
    sigemptyset(&mine);
    sigaddset(&mine, deadline_signal());
    if (signals == Signals::taken) {
        state_->takes_signals = true;
        signal_taker = state_.get();
        for (int const signal : termination_signals) {
            handle(signal, on_termination, nullptr);
            sigaddset(&mine, signal);
        }
    }
    pthread_sigmask(SIG_UNBLOCK, &mine, nullptr);
}

Watchdog::~Watchdog() {
    HeldSignals const held;
    timer_delete(state_->timer);
    sigset_t deadline;
    sigemptyset(&deadline);
    sigaddset(&deadline, deadline_signal());
    timespec const at_once{};
    while (sigtimedwait(&deadline, nullptr, &at_once) > 0) {  // one that was on its way
    }
    if (state_->takes_signals) {
        for (int const signal : termination_signals) {
            std::signal(signal, SIG_DFL);
        }
        signal_taker = nullptr;
    }
}

void Watchdog::arm(std::string cell, Nanoseconds timeout_ns) {
    touch();
    HeldSignals const held;
    state_->cell = std::move(cell);
    state_->timeout_ns = std::max<Nanoseconds>(0, timeout_ns);
    Nanoseconds const deadline = state_->touched.load(std::memory_order_relaxed) + timeout_ns;
    if (timeout_ns > 0 && (state_->wakes_at == 0 || deadline < state_->wakes_at)) {
        state_->wake_at(deadline);
    }
}

void Watchdog::activity(std::string what) {
    touch();
    HeldSignals const held;
    state_->activity = std::move(what);
}

void Watchdog::iteration(CompiledPlan const* running, Plan const* plan) noexcept {
    state_->running.store(nullptr, std::memory_order_relaxed);  // never a plan beside another one's steps
    state_->plan.store(plan, std::memory_order_release);
    state_->running.store(running, std::memory_order_release);
    state_->begun.store(state_->begun.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void Watchdog::touch() noexcept {
    touch(now_ns());
}

void Watchdog::touch(Nanoseconds now) noexcept {
    state_->touch(now);
}

void Watchdog::expire() {
    HeldSignals const held;
    state_->expire(0);
}

void Watchdog::disarm() {
    iteration(nullptr, nullptr);
    HeldSignals const held;
    state_->timeout_ns = 0;
    state_->cell.clear();
    state_->activity.clear();
}

}  // namespace dlmb::measure
