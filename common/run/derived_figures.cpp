// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/derived_figures.hpp"

#include "common/base/statistics/series.hpp"
#include "common/base/units.hpp"
#include "common/formats/plan/transform/overlay.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace dlmb::run {
namespace {

double statistic(record::Record const& cell, std::string const& name) {
    auto const found = cell.statistics.find(name);
    return found == cell.statistics.end() ? 0 : found->second;
}

double median_us(record::Record const& cell) {
    return cell.result.status == record::Status::ok ? cell.result.time.median / nanoseconds_per_microsecond : 0;
}

bool has_compute_steps(record::Record const& cell) {
    return statistic(cell, "compute_us") > 0;
}

std::string parameter_of(record::Record const& cell, std::string const& name) {
    auto const found = cell.identity.parameters.find(name);
    return found == cell.identity.parameters.end() ? "" : found->second;
}

/// Whether its plans are two that run at the same time.
bool is_overlay(record::Record const& cell) {
    return !parameter_of(cell, overlay_parameter).empty();
}

/// All methods of a cell with the plans of this file, on this backend.
std::string alone_key(record::Record const& cell, std::string const& plan, std::string_view backend) {
    record::CellIdentity identity = cell.identity;
    identity.backend = backend;
    identity.method = "";
    identity.draws = 0;  // one of the two may have no routing that could be drawn
    identity.parameters[overlay_parameter] = "";
    identity.parameters["plan"] = plan;
    return "alone " + record::cell_id(identity, {});
}

/// Where the two parts of a cell that has both are measured alone.
struct PairedBackends {
    std::string main;
    std::string beside;
    std::string beside_method;  // of a pair of backends; of one backend that of the cell
};

PairedBackends parts_of(record::Record const& together) {
    std::string const& backend = together.identity.backend;
    std::size_t const plus = backend.find('+');
    std::string const second = plus == std::string::npos ? backend : backend.substr(plus + 1);
    std::size_t const slash = std::min(second.find('/'), second.size());
    std::string const method =
        plus == std::string::npos ? together.identity.method : second.substr(std::min(slash + 1, second.size()));
    OverlayNames const names = overlay_names(parameter_of(together, overlay_parameter));
    return {alone_key(together, names.main, backend.substr(0, plus)),
            alone_key(together, names.beside, second.substr(0, slash)), method};
}

/// The end of the last of the phases whose label `is_meant` takes; nullopt where one of them has none.
std::optional<record::MedianInterval> last_end(record::Record const& together, auto const& is_meant) {
    std::optional<record::MedianInterval> last;
    for (record::PhaseResult const& phase : together.result.phases) {
        if (is_meant(phase.label)) {
            if (!phase.ended) {
                return std::nullopt;
            }
            last = !last || phase.ended->median > last->median ? phase.ended : last;
        }
    }
    return last;
}

void add_slowdown(std::map<std::string, double>& figures, std::string const& name,
                  std::optional<record::MedianInterval> const& ended, record::MedianInterval const& alone) {
    if (!ended) {
        return;
    }
    figures[name] = ended->median / alone.median;
    if (ended->low && ended->high && alone.low && alone.high && *alone.low > 0) {
        figures[name + "_low"] = *ended->low / *alone.high;
        figures[name + "_high"] = *ended->high / *alone.low;
    }
}

/// "1.20 (1.18 to 1.22)"
std::string slowdown_text(record::Record const& cell, std::string const& name) {
    std::string text = fmt::format("{:.3g}", statistic(cell, name));
    if (cell.statistics.contains(name + "_low")) {
        text += fmt::format(" ({:.3g} to {:.3g})", statistic(cell, name + "_low"), statistic(cell, name + "_high"));
    }
    return text;
}

/// The error of the common clock counts where the sample is a span on it. OSU's programs divide what was timed: a call
/// took as long as the slowest rank's.
bool is_below_floor(record::CellResult const& result, double timer_ns) {
    double call_ns = result.time.median;
    for (double const rank_ns : result.rank_median_ns) {
        call_ns = std::max(call_ns, rank_ns);
    }
    return statistics::is_below_floor(call_ns * static_cast<double>(result.iterations_per_sample), timer_ns,
                                      result.sync.is_span ? static_cast<double>(result.sync.clock_error_ns) : 0);
}

void add_message_rate(record::Record& cell) {
    constexpr double nanoseconds_per_second = 1e9;
    if (double const messages = statistic(cell, window_messages); messages > 0 && cell.result.time.median > 0) {
        cell.statistics["message_rate_per_s"] = messages / cell.result.time.median * nanoseconds_per_second;
    }
}

}  // namespace

void add_figures(record::Record& cell, std::optional<double> timer_cost_ns) {
    if (timer_cost_ns && !cell.result.samples_ns.empty()) {
        cell.result.below_floor = is_below_floor(cell.result, *timer_cost_ns);
    }
    add_exposed_times(cell);
    add_message_rate(cell);
    add_packing_times(cell);
}

void add_exposed_times(record::Record& cell) {
    double const iteration_us = median_us(cell);
    if (!(iteration_us > 0) || !has_compute_steps(cell)) {
        return;
    }
    double const compute_us = statistic(cell, "compute_us");
    cell.statistics["exposed_us"] = iteration_us - compute_us;
    cell.statistics["bubble_ratio"] = 1 - compute_us / iteration_us;
}

std::string CellRelations::communication_key(record::Record const& cell) const {
    record::CellIdentity identity = cell.identity;
    std::erase_if(identity.parameters, [&](auto const& parameter) { return sets_compute(type_, parameter.first); });
    return "communication " + record::cell_id(identity, {});
}

void CellRelations::add(record::Record const& cell) {
    double const us = median_us(cell);
    if (!(us > 0)) {
        return;
    }
    if (!has_compute_steps(cell)) {
        std::string const key = communication_key(cell);
        communication_us_[key] = us;
        found(key);
    }
    if (type_.reads_plans && !is_overlay(cell)) {
        std::string const key = alone_key(cell, parameter_of(cell, "plan"), cell.identity.backend);
        Alone& alone = alone_[key];
        record::TimeSummary const& time = cell.result.time;
        Alone::Measured& measured = alone.by_method[cell.identity.method];
        measured = {{time.median, time.median_low, time.median_high}, last_end(cell, [](auto&) { return true; }), {}};
        for (record::PhaseResult const& phase : cell.result.phases) {
            measured.phases.insert(phase.label);
        }
        if (cell.is_default) {
            alone.standard = cell.identity.method;
        }
        found(key);
    }
}

void CellRelations::found(std::string const& key) {
    auto const [first, last] = awaited_.equal_range(key);
    std::for_each(first, last, [&](auto const& entry) { due_.insert(entry.second); });
}

double CellRelations::communication_us(record::Record const& cell) const {
    auto const alone = communication_us_.find(communication_key(cell));
    return alone == communication_us_.end() ? 0 : alone->second;
}

void CellRelations::add_overlap(record::Record& cell) const {
    cell.statistics.merge(overlap_of(cell));
}

CellRelations::Figures CellRelations::overlap_of(record::Record const& cell) const {
    double const iteration_us = median_us(cell);
    double const alone_us = communication_us(cell);
    if (!has_compute_steps(cell) || !(iteration_us > 0) || !(alone_us > 0)) {
        return {};
    }
    double const makespan_us = statistic(cell, "ideal_makespan_us");
    double const without_communication_us = makespan_us > 0 ? makespan_us : statistic(cell, "compute_us");
    return {{"communication_us", alone_us},
            {"overlap_ratio", 1 - (iteration_us - without_communication_us) / alone_us}};
}

CellRelations::Figures CellRelations::interference_of(record::Record const& together) const {
    PairedBackends const parts = parts_of(together);
    Alone::Measured const* const main = alone(parts.main, together.identity.method);
    Alone::Measured const* const beside = alone(parts.beside, parts.beside_method);
    double const us = median_us(together);
    if (main == nullptr || beside == nullptr || !(us > 0)) {
        return {};
    }
    double const main_us = main->ns.median / nanoseconds_per_microsecond;
    double const beside_us = beside->ns.median / nanoseconds_per_microsecond;
    Figures figures{{"main_alone_us", main_us},
                    {"beside_alone_us", beside_us},
                    {"interference", us / std::max(main_us, beside_us)},
                    {"overlap_share", (main_us + beside_us - us) / std::min(main_us, beside_us)}};
    auto const is_of_main = [&](std::string const& label) { return main->phases.contains(label); };
    add_slowdown(figures, "main_slowdown", last_end(together, is_of_main), main->ended.value_or(main->ns));
    add_slowdown(figures, "beside_slowdown", last_end(together, std::not_fn(is_of_main)),
                 beside->ended.value_or(beside->ns));
    return figures;
}

CellRelations::Alone::Measured const* CellRelations::alone(std::string const& key, std::string const& method) const {
    auto const found = alone_.find(key);
    if (found == alone_.end()) {
        return nullptr;
    }
    auto const& by_method = found->second.by_method;
    auto const same = by_method.find(method);
    auto const chosen = same != by_method.end() ? same : by_method.find(found->second.standard);
    return chosen == by_method.end() ? nullptr : &chosen->second;
}

void CellRelations::await(record::Record cell, std::string title) {
    bool const lacks_overlap =
        !type_.compute_parameters.empty() && has_compute_steps(cell) && cell.statistics.count("overlap_ratio") == 0;
    bool const lacks_interference = is_overlay(cell) && cell.statistics.count("interference") == 0;
    if (!(median_us(cell) > 0) || (!lacks_overlap && !lacks_interference)) {
        return;
    }
    std::size_t const number = next_++;
    if (lacks_overlap) {
        awaited_.emplace(communication_key(cell), number);
    }
    if (lacks_interference) {
        PairedBackends const parts = parts_of(cell);
        awaited_.emplace(parts.main, number);
        awaited_.emplace(parts.beside, number);
    }
    cell.result.samples_ns = {};
    awaiting_.emplace(number, Awaiting{std::move(cell), std::move(title)});
    due_.insert(number);
}

std::vector<CellRelations::Completed> CellRelations::completed() {
    std::vector<Completed> all;
    for (std::size_t const number : std::exchange(due_, {})) {
        auto const found = awaiting_.find(number);
        if (found == awaiting_.end()) {
            continue;
        }
        auto& [cell, title] = found->second;
        Figures figures = is_overlay(cell) ? interference_of(cell) : overlap_of(cell);
        if (!figures.empty()) {
            cell.statistics.insert(figures.begin(), figures.end());
            all.push_back({std::move(cell), std::move(title), std::move(figures)});
            awaiting_.erase(found);
        }
    }
    return all;
}

std::string overlap_line(record::Record const& cell) {
    if (cell.statistics.count("exposed_us") == 0) {
        return "";
    }
    std::string text =
        fmt::format("# compute {:.3f} us, exposed {:.3f} us, bubble ratio {:.3f}", statistic(cell, "compute_us"),
                    statistic(cell, "exposed_us"), statistic(cell, "bubble_ratio"));
    if (cell.statistics.count("ideal_makespan_us") > 0) {
        text += fmt::format("; without communication makespan {:.3f} us, bubble ratio {:.3f}",
                            statistic(cell, "ideal_makespan_us"), statistic(cell, "ideal_bubble_ratio"));
    }
    if (cell.statistics.count("overlap_ratio") > 0) {
        text += fmt::format("; communication alone {:.3f} us, overlap ratio {:.3f}",
                            statistic(cell, "communication_us"), statistic(cell, "overlap_ratio"));
    }
    return text + "\n";
}

std::string interference_line(record::Record const& cell) {
    auto const found = cell.statistics.find("interference");
    if (found == cell.statistics.end()) {
        return "";
    }
    std::string text =
        fmt::format("# alone {:.3f} us, beside alone {:.3f} us: interference {:.3f}, overlap share {:.3f}\n",
                    cell.statistics.at("main_alone_us"), cell.statistics.at("beside_alone_us"), found->second,
                    cell.statistics.at("overlap_share"));
    if (cell.statistics.contains("main_slowdown") && cell.statistics.contains("beside_slowdown")) {
        text += fmt::format("# slowed down: main {}, beside {}\n", slowdown_text(cell, "main_slowdown"),
                            slowdown_text(cell, "beside_slowdown"));
    }
    return text;
}

void add_packing_times(record::Record& cell) {
    double wire_us = 0;
    bool packs = false;
    for (record::PhaseResult const& timed : cell.result.phases) {
        auto const known = std::find_if(cell.phases.begin(), cell.phases.end(),
                                        [&](auto const& phase) { return phase.label == timed.label; });
        double const us = timed.time.median / nanoseconds_per_microsecond;
        if (known == cell.phases.end() || us <= 0) {
            continue;
        }
        if (known->plain_copy && (timed.label == "pack" || timed.label == "unpack")) {
            packs = true;
            cell.statistics[fmt::format("time_{}_us", timed.label)] = us;
            cell.statistics[fmt::format("{}_of_copy", timed.label)] = known->plain_copy->time_ns / timed.time.median;
        } else if (known->traffic.payload_bytes > 0) {
            wire_us += us;
        }
    }
    if (packs) {
        cell.statistics["time_wire_us"] = wire_us;
    }
}

std::string packing_line(record::Record const& cell) {
    auto const wire_us = cell.statistics.find("time_wire_us");
    if (wire_us == cell.statistics.end()) {
        return "";
    }
    auto const phase = [&](char const* name) -> std::string {
        auto const us = cell.statistics.find(fmt::format("time_{}_us", name));
        return us == cell.statistics.end()
                   ? ""
                   : fmt::format(", time_{} {:.3f} us ({:.2f} of copy bandwidth)", name, us->second,
                                 cell.statistics.at(fmt::format("{}_of_copy", name)));
    };
    return fmt::format("# time_wire {:.3f} us{}{}\n", wire_us->second, phase("pack"), phase("unpack"));
}

}  // namespace dlmb::run
