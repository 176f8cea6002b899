// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>
#include <pthread.h>

namespace dlmb {

/// Holds back, on this thread, the signals that a write beyond a file size limit or into a closed pipe raises: the
/// error code of write() says the same. Async-signal-safe.
class QuietWrite {
public:
    QuietWrite() {
        sigemptyset(&signals_);
        sigaddset(&signals_, SIGXFSZ);
        sigaddset(&signals_, SIGPIPE);
        pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    }
    QuietWrite(QuietWrite const&) = delete;
    QuietWrite& operator=(QuietWrite const&) = delete;
    QuietWrite(QuietWrite&&) = delete;
    QuietWrite& operator=(QuietWrite&&) = delete;
    ~QuietWrite() {
        timespec const at_once{};
        while (sigtimedwait(&signals_, nullptr, &at_once) > 0) {
        }
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

private:
    sigset_t signals_{};
    sigset_t before_{};
};

}  // namespace dlmb
