// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/settings.hpp"

#include "tests/fakes/gpu/wrong_use.hpp"

#include <nccl.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <string>
#include <unistd.h>

namespace dlmb::fake_gpu {
namespace {

int number(char const* name, int otherwise, int most) {
    char const* const text = std::getenv(name);
    if (text == nullptr) {
        return otherwise;
    }
    char* end = nullptr;
    long const value = std::strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < 0 || value > most) {
        wrong_use(std::string(name) + " must be a number from 0 to " + std::to_string(most));
    }
    return static_cast<int>(value);
}

std::string_view one_sided_setting() {
    char const* const text = std::getenv("DLMB_FAKE_NCCL_ONE_SIDED");
    return text == nullptr ? "" : text;
}

}  // namespace

int device_count() {
    static int const count = number("DLMB_FAKE_GPU_DEVICES", default_devices, default_devices);
    return count;
}

int nccl_version() {
    return number("DLMB_FAKE_NCCL_VERSION", NCCL_VERSION_CODE, std::numeric_limits<int>::max());
}

int questions_until_done() {
    constexpr int some = 3;
    return number("DLMB_FAKE_NCCL_QUESTIONS", some, std::numeric_limits<int>::max());
}

bool asks_tuner() {
    return number("DLMB_FAKE_NCCL_ASKS_TUNER", 1, 1) == 1;
}

bool has_one_sided_calls() {
    return one_sided_setting() != "no";
}

bool signals_overtake() {
    return one_sided_setting() == "overtaken";
}

bool memory_is_protected() {
    static bool const is_protected = number("DLMB_FAKE_GPU_PROTECT", 0, 1) == 1;
    return is_protected;
}

void hang_where_told(std::string_view call) {
    static std::string const told = [] {
        char const* const text = std::getenv("DLMB_FAKE_NCCL_HANGS");
        return std::string(text == nullptr ? "" : text);
    }();
    static std::atomic<long> calls{0};
    std::size_t const colon = told.find(':');
    if (colon == std::string::npos || std::string_view(told).substr(0, colon) != call) {
        return;
    }
    if (++calls == std::strtol(told.c_str() + colon + 1, nullptr, 10)) {
        while (true) {
            pause();  // a handler of a signal runs, as in a library that waits
        }
    }
}

}  // namespace dlmb::fake_gpu
