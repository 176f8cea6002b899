// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/environment/machine.hpp"

#include "common/base/processing_units.hpp"
#include "common/memory/control_groups.hpp"
#include "common/memory/host_space.hpp"
#include "common/memory/shared_memory_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <locale>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <sys/resource.h>
#include <sys/utsname.h>

namespace dlmb::measure {
namespace {

namespace fs = std::filesystem;

/// The value of the first "key : value" line of a /proc file.
std::optional<std::string> field(fs::path const& path, std::string_view key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::size_t const colon = line.find(':');
        if (colon == std::string::npos || !line.starts_with(key) ||
            line.find_first_not_of(" \t", key.size()) != colon) {
            continue;
        }
        std::size_t const value = line.find_first_not_of(" \t", colon + 1);
        return value == std::string::npos ? std::string{} : line.substr(value);
    }
    return std::nullopt;
}

}  // namespace

std::string first_line(fs::path const& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

std::string cpu_model(fs::path const& root) {
    if (auto model = field(root / "proc/cpuinfo", "model name")) {
        return *model;
    }
    // Arm kernels print numbers instead of a name; they identify the model all the same.
    auto const implementer = field(root / "proc/cpuinfo", "CPU implementer");
    auto const part = field(root / "proc/cpuinfo", "CPU part");
    return implementer && part ? fmt::format("implementer {} part {}", *implementer, *part) : "unknown";
}

namespace {

/// "mlx5_0 (MT4129, 28.39.1002, 400 Gb/sec (4X NDR))": type, firmware and rate of port 1, as far as the system says.
std::string network_cards(fs::path const& root) {
    std::vector<std::string> cards;
    std::error_code none;
    for (auto const& card : fs::directory_iterator(root / "sys/class/infiniband", none)) {
        std::vector<std::string> known;
        for (char const* file : {"hca_type", "fw_ver", "ports/1/rate"}) {
            if (std::string line = first_line(card.path() / file); !line.empty()) {
                known.push_back(std::move(line));
            }
        }
        cards.push_back(fmt::format("{} ({})", card.path().filename().string(), fmt::join(known, ", ")));
    }
    std::sort(cards.begin(), cards.end());
    return fmt::format("{}", fmt::join(cards, "; "));
}

/// Limits of a container or a job below those of the machine.
std::map<std::string, std::string> limit_facts(fs::path const& root) {
    std::map<std::string, std::string> facts;
    if (auto const quota = cpu_quota(root)) {
        facts.emplace("cpu_quota", fmt::format("{:g} processors", *quota));
    }
    if (auto const left = left_in_control_groups(root)) {
        facts.emplace("control_group_memory_left", human_bytes(*left));
    }
    for (fs::path const& group : control_groups("cpuset", root)) {  // the innermost counts
        for (char const* const file : {"cpuset.cpus.effective", "cpuset.effective_cpus"}) {
            if (std::string line = first_line(group / file); !line.empty()) {
                facts["cpuset"] = std::move(line);
            }
        }
    }
    if (auto const shared = shared_memory_space(root)) {
        facts.emplace("dev_shm", fmt::format("{}, {} free", human_bytes(shared->all), human_bytes(shared->free)));
    }
    rlimit locked{};
    if (getrlimit(RLIMIT_MEMLOCK, &locked) == 0) {
        facts.emplace("memlock", locked.rlim_cur == RLIM_INFINITY ? "unlimited" : human_bytes(locked.rlim_cur));
    }
    return facts;
}

}  // namespace

std::map<std::string, std::string> machine_facts(fs::path const& root) {
    constexpr std::pair<char const*, char const*> sources[]{
        {"kernel", "proc/sys/kernel/osrelease"},
        {"load", "proc/loadavg"},
        {"governor", "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"},
        {"transparent_huge_pages", "sys/kernel/mm/transparent_hugepage/enabled"},
        {"numa_balancing", "proc/sys/kernel/numa_balancing"},
        {"address_space_randomisation", "proc/sys/kernel/randomize_va_space"},
    };
    std::map<std::string, std::string> facts;
    for (auto const& [fact, file] : sources) {
        if (std::string line = first_line(root / file); !line.empty()) {
            facts.emplace(fact, std::move(line));
        }
    }
    if (std::string network = network_cards(root); !network.empty()) {
        facts.emplace("network", std::move(network));
    }
    if (auto memory = field(root / "proc/meminfo", "MemTotal")) {
        facts.emplace("memory", std::move(*memory));
    }
    for (auto& [fact, value] : limit_facts(root)) {
        facts.emplace(fact, std::move(value));
    }
    utsname names{};
    if (uname(&names) == 0) {
        facts.emplace("architecture", &names.machine[0]);
    }
    return facts;
}

std::vector<int> parse_cpu_list(std::string const& list) {
    std::vector<int> units;
    for (std::size_t begin = 0; begin <= list.size();) {
        std::string_view const range = std::string_view(list).substr(begin, list.find(',', begin) - begin);
        begin += range.size() + 1;
        std::size_t const dash = range.find('-');
        auto const first = parse_whole<int>(range.substr(0, dash));
        auto const last = dash == std::string_view::npos ? first : parse_whole<int>(range.substr(dash + 1));
        if (!first || !last || *first < 0 || *last < *first || *last >= most_processing_units ||
            units.size() > static_cast<std::size_t>(most_processing_units)) {
            return {};
        }
        units.resize(units.size() + static_cast<std::size_t>(*last - *first) + 1);
        std::iota(units.end() - (*last - *first + 1), units.end(), *first);
    }
    return units;
}

std::string cpu_list(std::vector<int> const& sorted_units) {
    std::string text;
    for (std::size_t first = 0; first < sorted_units.size();) {
        std::size_t last = first;
        while (last + 1 < sorted_units.size() && sorted_units[last + 1] == sorted_units[last] + 1) {
            ++last;
        }
        text += text.empty() ? "" : ",";
        text += first == last ? fmt::format("{}", sorted_units[first])
                              : fmt::format("{}-{}", sorted_units[first], sorted_units[last]);
        first = last + 1;
    }
    return text;
}

Affinity read_affinity(fs::path const& root) {
    Affinity affinity{usable_processing_units(), ""};
    std::vector<int> nodes;
    std::error_code failed;  // no such folder: a kernel without NUMA, and no node to name
    for (auto const& entry : fs::directory_iterator(root / "sys/devices/system/node", failed)) {
        std::string const name = entry.path().filename();
        std::vector<int> const number = name.starts_with("node") ? parse_cpu_list(name.substr(4)) : std::vector<int>{};
        if (number.size() != 1) {
            continue;
        }
        std::vector<int> const units = parse_cpu_list(first_line(entry.path() / "cpulist"));
        bool const ours = std::any_of(units.begin(), units.end(), [&](int unit) {
            return std::binary_search(affinity.units.begin(), affinity.units.end(), unit);
        });
        if (ours) {
            nodes.push_back(number.front());
        }
    }
    std::sort(nodes.begin(), nodes.end());
    affinity.numa = cpu_list(nodes);
    return affinity;
}

NodeConditions read_conditions(fs::path const& root) {
    NodeConditions conditions;
    conditions.governor = first_line(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    std::ifstream load(root / "proc/loadavg");
    load.imbue(std::locale::classic());
    load >> conditions.load;
    return conditions;
}

std::vector<int> cores_of(std::vector<int> const& units, fs::path const& root) {
    std::set<int> cores;
    for (int const unit : units) {
        std::vector<int> const siblings = parse_cpu_list(
            first_line(root / fmt::format("sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", unit)));
        cores.insert(siblings.empty() ? unit : siblings.front());
    }
    return {cores.begin(), cores.end()};
}

}  // namespace dlmb::measure
