// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/choose_ways.hpp"

#include "common/backends/ucx/shared_windows.hpp"
#include "common/bootstrap/over_ranks.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::ucx {
namespace {

template <class Property>
bool any_shared(std::vector<StepWay> const& ways, Property const& has) {
    return std::any_of(ways.begin(), ways.end(), [&has](StepWay const& way) { return way.shared && has(*way.shared); });
}

std::string text_of(Bytes messages_from) {
    return messages_from == WindowUse::never ? "inf" : fmt::format("{}", messages_from);
}

/// What is fastest of what can be tried.
WindowUse try_out(WindowTrial& trial, Transports& transports, Transport const& transport) {
    Transport const& standard = transports.standard();
    if (!standard.why_no_shared_memory().empty()) {
        return {};
    }
    WindowUse found = trial.fastest(standard.sharing()).value_or(WindowUse{});
    if (&transport != &standard) {
        found.messages_from = WindowUse::never;  // messages of the other context were not tried
    }
    return found;
}

}  // namespace

Expected<ChosenWays, Unsupported> choose_ways(Plan const& plan, Buffers const& buffers, ChosenMethods const& methods,
                                              Transports& transports, Transport& transport, WindowTrial& trial) {
    Bootstrap& bootstrap = transport.bootstrap();
    auto const ways_by = [&](WindowUse use) -> Expected<std::vector<StepWay>, Unsupported> {
        auto ways = ways_of(plan, buffers, methods, transport.sharing(), transport.wires(), use);
        if (std::string reason = first_refusal(bootstrap, ways ? "" : ways.error().reason); !reason.empty()) {
            return Unsupported{std::move(reason)};
        }
        return ways;
    };
    auto ways = ways_by({});
    if (!ways) {
        return ways.error();
    }
    bool const limit_is_given = methods.window_use({}).messages_from != WindowUse::never;
    bool const has_large_copies = any_rank(bootstrap, any_shared(ways.value(), has_large_window_copies));
    bool const has_limit = any_rank(bootstrap, any_shared(ways.value(), [limit_is_given](SharedWay const& way) {
                                        return way.has_limit && (limit_is_given || has_large_window_copies(way));
                                    }));
    bool const is_tried = has_large_copies && !methods.fixes_window_use();
    WindowUse const use = methods.window_use(is_tried ? try_out(trial, transports, transport) : WindowUse{});
    bool const can_share = transport.why_no_shared_memory().empty();  // also after the trial
    if (use != WindowUse{} || (is_tried && !can_share)) {
        ways = ways_by(use);
        if (!ways) {
            return ways.error();
        }
    }
    ChosenWays chosen{std::move(ways).value(), {}};
    if (has_limit && can_share) {
        chosen.record["messages_from"] = text_of(use.messages_from);
    }
    return chosen;
}

}  // namespace dlmb::ucx
