// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Sources: cgroups(7), proc_pid_cgroup(5), proc_pid_mountinfo(5), and "Control Group v2" and "CFS Bandwidth Control" in
// the kernel's documentation.
#include "common/memory/control_groups.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

namespace dlmb {
namespace {

namespace fs = std::filesystem;

bool names(std::string_view list, std::string_view word) {
    auto const parts = split(list, ",");
    return std::find(parts.begin(), parts.end(), word) != parts.end();
}

/// Where a hierarchy is mounted, and which of its groups is there.
struct Mount {
    fs::path point;  // below `root`
    fs::path group;  // "/" outside of containers
};

/// `controller`: empty for version 2.
std::optional<Mount> mount_of(std::string_view controller, fs::path const& root) {
    std::ifstream file(root / "proc/self/mountinfo");
    for (std::string line; std::getline(file, line);) {
        std::size_t const dash = line.find(" - ");
        std::string_view const text = line;
        auto const place = split(text.substr(0, dash), " ");
        constexpr std::size_t group = 3;
        constexpr std::size_t point = 4;
        if (place.size() <= point || dash == std::string::npos) {
            continue;
        }
        auto const what = split(text.substr(dash + 3), " ");
        bool const ours =
            controller.empty() ? what.front() == "cgroup2" : what.front() == "cgroup" && names(what.back(), controller);
        if (ours) {
            return Mount{root / fs::path(place[point]).relative_path(), place[group]};
        }
    }
    return std::nullopt;
}

/// Without mountinfo: the places that systemd and container runtimes use.
Mount usual_mount(std::string_view controller, fs::path const& root) {
    fs::path const groups = root / "sys/fs/cgroup";
    return {controller.empty() ? groups : groups / controller, "/"};
}

/// The mounted group and those from there down to `own`, as far as they are there.
void add_groups(Mount const& mount, fs::path const& own, std::vector<fs::path>& folders) {
    std::error_code none;
    if (!fs::is_directory(mount.point, none)) {
        return;
    }
    folders.push_back(mount.point);
    fs::path folder = mount.point;
    // A path that leaves the mounted group ("/../..") is that of a process outside of this view.
    for (fs::path const& name : own.lexically_relative(mount.group)) {
        folder /= name;
        if (name == ".." || !fs::is_directory(folder, none)) {
            return;
        }
        if (name != ".") {
            folders.push_back(folder);
        }
    }
}

std::optional<Bytes> number_in(fs::path const& path) {
    std::ifstream file(path);
    Bytes number = 0;
    return file >> number ? std::optional(number) : std::nullopt;  // "max" and -1: no limit
}

}  // namespace

std::optional<Bytes> number_behind(fs::path const& path, std::string_view key) {
    std::ifstream file(path);
    std::string word;
    for (Bytes number = 0; file >> word; file.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
        if (word == key && file >> number) {
            return number;
        }
    }
    return std::nullopt;
}

std::vector<fs::path> control_groups(std::string_view controller, fs::path const& root) {
    std::vector<fs::path> unified;
    std::vector<fs::path> legacy;
    bool told = false;
    std::ifstream file(root / "proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {  // "4:cpu,cpuacct:/jobs/7", "0::/jobs/7"
        std::size_t const first = line.find(':');
        std::size_t const second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) {
            continue;
        }
        std::string const controllers = line.substr(first + 1, second - first - 1);
        fs::path const own = line.substr(second + 1);
        told = true;
        if (controllers.empty()) {
            add_groups(mount_of("", root).value_or(usual_mount("", root)), own, unified);
        } else if (names(controllers, controller)) {
            add_groups(mount_of(controller, root).value_or(usual_mount(controller, root)), own, legacy);
        }
    }
    if (!told) {
        add_groups(usual_mount("", root), "/", unified);
    }
    unified.insert(unified.end(), legacy.begin(), legacy.end());
    return unified;
}

std::optional<Bytes> left_in_control_groups(fs::path const& root) {
    constexpr Bytes no_limit = Bytes{1} << 60U;  // version 1 says "none" as the largest number of whole pages
    std::optional<Bytes> least;
    for (fs::path const& group : control_groups("memory", root)) {
        bool const second = fs::exists(group / "memory.max");
        auto const most = number_in(group / (second ? "memory.max" : "memory.limit_in_bytes"));
        auto const used = number_in(group / (second ? "memory.current" : "memory.usage_in_bytes"));
        if (!most || !used || *most >= no_limit) {
            continue;
        }
        Bytes const droppable =
            number_behind(group / "memory.stat", second ? "inactive_file" : "total_inactive_file").value_or(0);
        Bytes const held = *used - std::min(*used, droppable);
        Bytes const left = *most - std::min(*most, held);
        least = std::min(least.value_or(left), left);
    }
    return least;
}

std::optional<double> cpu_quota(fs::path const& root) {
    std::optional<double> least;
    for (fs::path const& group : control_groups("cpu", root)) {
        double quota = 0;
        double period = 0;
        if (std::ifstream file(group / "cpu.max"); file) {
            file >> quota >> period;  // "max 100000": no quota
        } else {
            std::ifstream(group / "cpu.cfs_quota_us") >> quota;  // -1: no quota
            std::ifstream(group / "cpu.cfs_period_us") >> period;
        }
        if (quota > 0 && period > 0) {
            least = std::min(least.value_or(quota / period), quota / period);
        }
    }
    return least;
}

}  // namespace dlmb
