// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/launch_calibration.hpp"

#include "common/backend_kit/registry.hpp"
#include "common/base/digits.hpp"
#include "common/bootstrap/over_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dlmb::run {
namespace {

/// Backends that serve `kind` and were not asked in an earlier kind of memory.
std::vector<Backend*> backends_for(MemoryKind kind, std::span<MemoryKind const> earlier,
                                   std::vector<OpenedBackend> const& backends) {
    std::vector<Backend*> found;
    for (OpenedBackend const& opened : backends) {
        Backend* const backend = opened.backend.get();
        if (backend != nullptr && backend->supports(kind) &&
            std::none_of(earlier.begin(), earlier.end(), [&](MemoryKind each) { return backend->supports(each); })) {
            found.push_back(backend);
        }
    }
    return found;
}

std::vector<record::ExchangeFloor> exchanges(Bootstrap& bootstrap, Options const& options,
                                             std::vector<OpenedBackend> const& backends, Nanoseconds limit_ns,
                                             measure::Watchdog& watchdog) {
    std::vector<record::ExchangeFloor> floors;
    for (std::size_t i = 0; i < options.memory.size(); ++i) {
        std::string why_not;
        std::unique_ptr<MemorySpace> const memory = memory_on_all_ranks(bootstrap, options.memory[i], why_not);
        if (memory == nullptr) {
            continue;
        }
        auto const able = backends_for(options.memory[i], std::span(options.memory).first(i), backends);
        for (auto& floor : measure::calibrate_exchange(bootstrap, *memory, able, limit_ns, watchdog)) {
            floors.push_back(std::move(floor));
        }
    }
    return floors;
}

/// `what`: "a round trip takes".
void add_slow_links(std::vector<std::string>& warnings, record::LinkFloor const& links,
                    record::LinkFloor::Times const& times, std::string_view what) {
    for (record::LinkFloor::Link const& link : times.slow) {
        warnings.push_back(fmt::format("the link between the nodes of ranks {} and {} is slow: {} {} us, {} us is the "
                                       "median of {} links",
                                       link.ranks[0], link.ranks[1], what, human_us(link.ns), human_us(times.median_ns),
                                       links.count));
    }
}

std::vector<std::string> disturbed_ranks(record::Calibration const& calibration) {
    auto const& spread = calibration.quanta.p99_over_min;
    auto const worst = std::max_element(spread.begin(), spread.end());
    auto const busy =
        std::count_if(spread.begin(), spread.end(), [](double value) { return value > record::quiet_p99_over_min; });
    if (busy == 0) {
        return {};
    }
    auto const rank = static_cast<std::size_t>(worst - spread.begin());
    return {fmt::format("other work on the machine interrupted {} of {} ranks, for up to {} (rank {}); end it", busy,
                        spread.size(),
                        human_duration(static_cast<double>(calibration.quanta.largest_detour_ns.at(rank))), rank)};
}

}  // namespace

std::optional<record::Calibration> calibrate_launch(Bootstrap& bootstrap, Options const& options,
                                                    std::vector<OpenedBackend> const& backends,
                                                    measure::DeviceUse const& device, measure::Watchdog& watchdog) {
    if (options.calibration == record::Effort::off) {
        return std::nullopt;
    }
    auto const times = measure::calibration_times(options.calibration,
                                                  std::min(options.runner.time_limit_ns, options.runner.timeout_ns));
    record::Calibration calibration;
    calibration.effort = options.calibration;
    calibration.timer = measure::calibrate_timer(bootstrap);
    watchdog.touch();
    calibration.quanta = measure::calibrate_quanta(bootstrap, times.quanta_ns);
    watchdog.touch();
    calibration.barrier = measure::calibrate_barrier(bootstrap, times.barriers_ns);
    watchdog.touch();
    calibration.links = measure::calibrate_links(bootstrap, times.link_nodes, watchdog);
    watchdog.touch();
    if (std::any_of(options.memory.begin(), options.memory.end(), on_device)) {
        if (!any_rank(bootstrap, !device.device)) {
            calibration.device = measure::calibrate_device(bootstrap);
        }
    }
    if (times.exchange_ns > 0) {
        calibration.exchanges = exchanges(bootstrap, options, backends, times.exchange_ns, watchdog);
        watchdog.arm("start-up", options.runner.timeout_ns);
    }
    return calibration;
}

std::vector<std::string> quiet_warnings(record::Calibration const& calibration) {
    std::vector<std::string> warnings = disturbed_ranks(calibration);
    if (auto const& links = calibration.links) {
        add_slow_links(warnings, *links, links->round_trips, "a round trip takes");
        add_slow_links(warnings, *links, links->transfers, "256 KiB there and back take beyond that");
        static_assert(record::link_block_bytes == Bytes{256} << 10);
    }
    return warnings;
}

std::string calibration_line(std::optional<record::Calibration> const& calibration) {
    if (!calibration) {
        return "";
    }
    auto const& spread = calibration->quanta.p99_over_min;
    std::string text = fmt::format("# noise floor: timer {:.0f} ns, barrier {} us", calibration->timer.cost_ns,
                                   human_us(calibration->barrier.median_ns));
    if (auto const& skew = calibration->barrier.exit_skew) {
        text += fmt::format(", left within {} us (p99 {})", human_us(skew->p50_ns), human_us(skew->p99_ns));
    }
    text += fmt::format("\n# fixed work takes up to {:.2f} times the shortest (p99)",
                        *std::max_element(spread.begin(), spread.end()));
    for (record::ExchangeFloor const& each : calibration->exchanges) {
        text += fmt::format("\n# 8 B over {} take {} us", each.backend, human_us(each.median_ns));
    }
    return text + "\n";
}

}  // namespace dlmb::run
