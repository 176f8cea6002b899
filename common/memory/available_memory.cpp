// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Files: proc_meminfo(5), and memory.max, memory.current, memory.stat of "Control Group v2" in the kernel's
// documentation. A group's limits hold for all groups below it.
#include "common/memory/available_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace dlmb {
namespace {

namespace fs = std::filesystem;

constexpr Bytes unlimited = std::numeric_limits<Bytes>::max();

/// The number behind `key` in a file of lines "key number".
std::optional<Bytes> number_behind(fs::path const& path, std::string const& key) {
    std::ifstream file(path);
    std::string word;
    for (Bytes number = 0; file >> word; file.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
        if (word == key && file >> number) {
            return number;
        }
    }
    return std::nullopt;
}

std::optional<Bytes> only_number(fs::path const& path) {
    std::ifstream file(path);
    Bytes number = 0;
    return file >> number ? std::optional(number) : std::nullopt;  // "max": no limit
}

Bytes left_in_group(fs::path const& group) {
    std::optional<Bytes> const most = only_number(group / "memory.max");
    std::optional<Bytes> const used = only_number(group / "memory.current");
    if (!most || !used) {
        return unlimited;
    }
    Bytes const droppable = number_behind(group / "memory.stat", "inactive_file").value_or(0);
    Bytes const held = *used - std::min(*used, droppable);
    return *most - std::min(*most, held);
}

/// The group of this process, "/" where the file does not say: inside a container it often is the root.
fs::path own_group(fs::path const& root) {
    std::ifstream file(root / "proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("0::/")) {
            return line.substr(std::string("0::/").size());
        }
    }
    return {};
}

}  // namespace

Bytes available_host_memory(fs::path const& root) {
    fs::path const groups = root / "sys/fs/cgroup";
    Bytes least = left_in_group(groups);
    fs::path group = groups;
    for (fs::path const& name : own_group(root)) {
        group /= name;
        least = std::min(least, left_in_group(group));
    }
    if (auto const kib = number_behind(root / "proc/meminfo", "MemAvailable:")) {
        least = std::min(least, *kib * 1024);
    }
    return least == unlimited ? 0 : least;
}

}  // namespace dlmb
