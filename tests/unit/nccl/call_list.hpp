// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Calls of the CUDA runtime and NCCL by a piece of code, as the test double lists them (tests/fakes/gpu/call_log.hpp).
#pragma once

#include "common/base/error.hpp"

#include <dlfcn.h>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace dlmb::nccl {

using CallList = std::vector<std::string>;

template <class Function>
Function* of_the_double(char const* name) {
    auto* const found = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
    if (found == nullptr) {
        throw Error(std::string(name) + " is not there: preload the test double");
    }
    return found;
}

/// Polls of one event are one wait, with whatever is asked between them while it is not reached.
inline CallList waits_joined(std::string const& log) {
    CallList calls;
    bool waiting = false;
    std::istringstream lines(log);
    for (std::string line; std::getline(lines, line);) {
        if (line == "cudaEventQuery not ready") {
            waiting = true;
        } else if (line == "cudaEventQuery") {
            waiting = false;
            calls.emplace_back("wait for an event");
        } else if (!waiting) {
            calls.push_back(line);
        }
    }
    return calls;
}

inline CallList calls_of(std::function<void()> const& body) {
    of_the_double<void()>("dlmb_fake_gpu_log_calls")();
    body();
    return waits_joined(of_the_double<char const*()>("dlmb_fake_gpu_logged_calls")());
}

}  // namespace dlmb::nccl
