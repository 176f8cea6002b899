// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/record/result_reader.hpp"

#include "common/base/error.hpp"
#include "common/record/json.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <functional>

namespace dlmb::record {
namespace {

namespace fs = std::filesystem;

struct Line {
    std::uint64_t number = 0;  // from 1
    Json object;
};

[[noreturn]] void refuse(fs::path const& path, std::uint64_t number, std::string_view why) {
    throw UsageError(fmt::format("{}:{}: {}", path.string(), number, why));
}

/// Calls `use` with every line and returns the number of the last one if that is broken, else 0. An unterminated last
/// line counts when it is whole: the kill may have come between its last byte and its newline.
std::uint64_t for_each_line(fs::path const& path, std::function<void(Line const&)> const& use) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw UsageError(fmt::format("{}: cannot be read", path.string()));
    }
    std::uint64_t number = 0;
    for (std::string text; std::getline(file, text);) {
        ++number;
        Json object = Json::parse(text, nullptr, false);
        if (!object.is_object()) {
            if (file.eof()) {
                return number;
            }
            refuse(path, number, "not a JSON object");
        }
        Line const line{number, std::move(object)};
        try {
            use(line);
        } catch (Json::exception const& error) {
            refuse(path, number, error.what());
        } catch (UsageError const& error) {
            refuse(path, number, error.what());
        }
    }
    return 0;
}

std::string kind_of(Json const& object) {
    return object.at("kind").get<std::string>();
}

void check_schema(Json const& launch) {
    std::string const known{result_schema};
    std::string const found = launch.at("schema");
    std::string const major = known.substr(0, known.find('.', known.find('/')) + 1);  // "dlmb.result/1."
    if (!found.starts_with(major)) {
        throw UsageError(fmt::format("schema {} cannot be read by this program, which knows {}x", found, major));
    }
}

template <class Ids>
bool has(Ids const& ids, std::string const& launch_id) {
    return std::any_of(ids.begin(), ids.end(), [&](auto const& each) { return each.launch_id == launch_id; });
}

void add_remarks(ResultFile& results) {
    for (Launch const& launch : results.launches) {
        if (on_test_double(launch.environment)) {
            results.remarks.push_back(fmt::format("launch {}: {}", launch.launch_id, test_double_warning));
        }
        if (!has(results.ends, launch.launch_id)) {
            results.remarks.push_back(
                fmt::format("launch {} has no end line: it was killed or is still running", launch.launch_id));
        }
    }
}

}  // namespace

ResultFile read_results(fs::path const& path) {
    ResultFile results;
    std::uint64_t const broken = for_each_line(path, [&](Line const& line) {
        std::string const kind = kind_of(line.object);
        if (kind == "launch") {
            check_schema(line.object);
            results.launches.push_back(launch_from(line.object));
        } else if (kind == "cell") {
            StoredCell stored{line.object.at("launch_id"), record_from(line.object)};
            if (!has(results.launches, stored.launch_id)) {
                throw UsageError(fmt::format("cell of launch {}, which has no line above", stored.launch_id));
            }
            results.cells.push_back(std::move(stored));
        } else if (kind == "end") {
            results.ends.push_back(end_from(line.object));
        }
    });
    if (broken > 0) {
        results.remarks.push_back(
            fmt::format("line {} is broken and was passed over: the launch was killed while writing", broken));
    }
    add_remarks(results);
    return results;
}

std::set<std::string> finished_cells(fs::path const& path) {
    std::set<std::string> ids;
    if (!fs::exists(path)) {
        return ids;
    }
    for_each_line(path, [&](Line const& line) {
        if (kind_of(line.object) == "cell" && line.object.at("status") == "ok") {
            ids.insert(line.object.at("cell_id").get<std::string>());
        }
    });
    return ids;
}

}  // namespace dlmb::record
