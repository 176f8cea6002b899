// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The pause of a polling loop between two empty polls. With more ranks than processing units a loop that never
// yields makes an exchange 50 to 110 times slower; with enough of them yielding costs latency, and milliseconds where
// other programs run.
#pragma once

#include <sched.h>

namespace dlmb {

enum class YieldPolicy { automatic, never, always };

class Idle {
public:
    explicit Idle(bool yield) : yield_(yield) {}
    void operator()() const {
        if (yield_) {
            sched_yield();
        } else {
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
    }
    [[nodiscard]] bool yields() const {
        return yield_;
    }

private:
    bool yield_;
};

}  // namespace dlmb
