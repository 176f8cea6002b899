// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/clock.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/measure/calibrate.hpp"
#include "common/measure/statistics.hpp"
#include "common/memory/device_gate.hpp"
#include "common/memory/device_queue.hpp"

namespace dlmb::measure {
namespace {

constexpr int repetitions = 200;
constexpr int unrecorded = 10;  // the first kernel of a module loads it

/// Median of what `once` gives.
template <class Once>
double typical(Once once) {
    std::vector<Nanoseconds> values;
    for (int i = 0; i < repetitions; ++i) {
        Nanoseconds const value = once();
        if (i >= unrecorded) {
            values.push_back(value);
        }
    }
    return median(values);
}

}  // namespace

DeviceFloor calibrate_device(Bootstrap& bootstrap) {
    DeviceQueue const queue;
    DeviceEvent begin;
    DeviceEvent end;
    DeviceGate gate;
    double const event_pair = typical([&] {
        begin.record(queue);
        end.record(queue);
        queue.drain();
        return end.since(begin);
    });
    double const queue_and_wait = typical([&] {
        Nanoseconds const start = now_ns();
        end.record(queue);
        while (!end.reached()) {
        }
        return now_ns() - start;
    });
    double const gate_release = typical([&] {
        gate.close(queue);
        end.record(queue);
        Nanoseconds const start = now_ns();
        gate.open();
        while (!end.reached()) {
        }
        return now_ns() - start;
    });
    return {max_over_ranks(bootstrap, event_pair), max_over_ranks(bootstrap, queue_and_wait),
            max_over_ranks(bootstrap, gate_release)};
}

}  // namespace dlmb::measure
