// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/commands/timed_calls.hpp"

#include "common/base/error.hpp"
#include "common/base/hash.hpp"
#include "common/base/input_file.hpp"
#include "common/base/statistics/order_statistics.hpp"
#include "common/formats/record/result_file.hpp"
#include "common/tools/predict/measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <optional>
#include <tuple>

namespace dlmb::predict::commands {
namespace {

using dlmb::predict::Collective;
using dlmb::predict::TimeRange;

/// Columns of a table that are no condition of the measurement.
constexpr std::array<std::string_view, 8> outcome_columns{"collective", "bytes",      "median_us", "p10_us",
                                                          "p90_us",     "iterations", "campaign",  "test"};

class Collector {
public:
    void read(std::string const& path) {
        std::ifstream file(path);
        char first = 0;
        if (file >> first && first == '{') {
            read_results(path);
        } else {
            read_table(path);  // also tells what is wrong with a file that cannot be read
        }
    }

    [[nodiscard]] TimedCalls finish() && {
        for (auto const& [key, launches] : seen_) {
            auto const& [setting, collective, bytes] = key;
            result_.calls.push_back({setting, collective, bytes, over(launches)});
        }
        return std::move(result_);
    }

private:
    using Key = std::tuple<std::string, Collective, std::uint64_t>;

    void keep(std::string setting, Collective collective, std::uint64_t bytes, TimeRange const& us) {
        ++result_.used;
        seen_[{std::move(setting), collective, bytes}].push_back(us);
    }

    static TimeRange over(std::vector<TimeRange> const& launches) {
        std::vector<double> times;
        TimeRange hull = launches.front();
        for (TimeRange const& launch : launches) {
            times.push_back(launch.time);
            hull.low = std::min(hull.low, launch.low);
            hull.high = std::max(hull.high, launch.high);
            hull.has_interval = hull.has_interval && launch.has_interval;
        }
        hull.time = statistics::median(times);
        if (auto const interval = statistics::median_interval(times)) {
            return {hull.time, interval->low, interval->high, true};
        }
        return hull;
    }

    void read_results(std::string const& path) {
        record::ResultFile const file = record::read_results(path, record::Converted::read);
        for (std::string const& remark : file.remarks) {
            result_.remarks.push_back(fmt::format("{}: {}", path, remark));
        }
        std::map<std::string, record::Launch const*> launches;
        for (record::Launch const& launch : file.launches) {
            launches[launch.launch_id] = &launch;
        }
        for (auto const& [launch_id, cell] : file.cells) {
            auto const launch = launches.find(launch_id);
            if (launch == launches.end() || !add(cell, *launch->second)) {
                ++result_.left_out;
            }
        }
    }

    static std::optional<Collective> collective_in(std::string const& operation) {
        if (operation == "broadcast") {
            return Collective::bcast;
        }
        if (operation == "reduce_scatter_block") {
            return Collective::reduce_scatter;
        }
        return operation == "reduce_scatter" || operation == "sendrecv" ? std::nullopt
                                                                        : dlmb::predict::collective_of(operation);
    }

    static bool is_sound(record::Record const& cell, record::Launch const& launch) {
        record::CellResult const& result = cell.result;
        return result.status == record::Status::ok && result.time.median > 0 && !result.below_floor.value_or(false) &&
               !result.throttled.value_or(false) && !cell.shared_gpu && !record::on_test_double(launch.environment) &&
               result.validation.verdict != record::Verdict::failed;
    }

    bool add(record::Record const& cell, record::Launch const& launch) {
        auto const& parameters = cell.identity.parameters;
        auto const operation = parameters.find("operation");
        auto const size = parameters.find("message-size");
        if (cell.identity.pattern != "collective" || operation == parameters.end() || size == parameters.end() ||
            !is_sound(cell, launch)) {
            return false;
        }
        auto const collective = collective_in(operation->second);
        auto const message = parse_whole<Bytes>(size->second);
        auto const ranks = static_cast<std::uint64_t>(std::max(cell.identity.world.ranks, 0));
        if (!collective || !message || ranks == 0) {
            return false;
        }
        // What --message-size counts: patterns/collective/README.md.
        bool const per_rank = *collective == Collective::allgather || *collective == Collective::gather ||
                              *collective == Collective::scatter || *collective == Collective::alltoall;
        record::TimeSummary const& time = cell.result.time;
        bool const has_interval = !cell.origin && time.median_low && time.median_high;
        TimeRange const us{time.median / nanoseconds_per_microsecond,
                           time.median_low.value_or(time.median) / nanoseconds_per_microsecond,
                           time.median_high.value_or(time.median) / nanoseconds_per_microsecond, has_interval};
        keep(setting_of(cell, launch), *collective, per_rank ? *message * ranks : *message, us);
        return true;
    }

    /// Everything but the operation and its size. A backend's own choice is called default for every operation, because
    /// it is another method for some.
    static std::string setting_of(record::Record const& cell, record::Launch const& launch) {
        record::CellIdentity const& identity = cell.identity;
        std::string others;
        for (auto const& [name, value] : identity.parameters) {
            if (name != "operation" && name != "message-size") {
                others += fmt::format("{}={} ", name, value);
            }
        }
        others += fmt::format("cache {} fill {}", static_cast<int>(identity.cache), static_cast<int>(identity.fill));
        return fmt::format("{} {}, {} memory, {} ranks, {} per node, {}, environment {}, parameters {}",
                           identity.backend, cell.is_default ? "default" : identity.method, identity.memory,
                           identity.world.ranks, identity.world.ranks_per_node, identity.mode,
                           launch.environment.env_key, stable_hash(others));
    }

    void read_table(std::string const& path) {
        auto const table = dlmb::predict::read_measurements(read_document(path), path, true);
        auto const names = split(table.header, ",");
        for (dlmb::predict::TableLine const& line : table.lines) {
            auto const cells = split(line.text, ",");
            std::map<std::string_view, std::string_view> row;
            std::string setting;
            for (std::size_t column = 0; column < cells.size(); ++column) {
                row[names[column]] = cells[column];
                if (std::find(outcome_columns.begin(), outcome_columns.end(), names[column]) == outcome_columns.end()) {
                    setting += fmt::format("{}{}={}", setting.empty() ? "" : " ", names[column], cells[column]);
                }
            }
            if (!dlmb::predict::collective_of(row["collective"])) {
                ++result_.left_out;
                continue;
            }
            double const time = line.measurement.time_us;
            auto const low = parse_whole<double>(row["p10_us"]);
            auto const high = parse_whole<double>(row["p90_us"]);
            bool const spread = low && high && *low > 0 && *low <= time && time <= *high;
            keep(std::move(setting), line.measurement.collective, static_cast<std::uint64_t>(line.measurement.bytes),
                 {time, spread ? *low : time, spread ? *high : time, spread});
        }
    }

    TimedCalls result_;
    std::map<Key, std::vector<TimeRange>> seen_;
};

}  // namespace

TimedCalls read_timed_calls(std::vector<std::string> const& paths) {
    Collector collector;
    for (std::string const& path : paths) {
        collector.read(path);
    }
    return std::move(collector).finish();
}

}  // namespace dlmb::predict::commands
