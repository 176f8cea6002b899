// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/host_space.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace dlmb {

PagePlacement sample_pages(std::byte const* data, Bytes bytes, std::span<int const> wanted_nodes, std::size_t most) {
    auto const page = static_cast<Bytes>(sysconf(_SC_PAGESIZE));
    Bytes const pages = (bytes + page - 1) / page;
    std::size_t const count = std::min<Bytes>(most, pages);
    std::vector<void const*> asked;
    for (std::size_t i = 0; i < count; ++i) {
        asked.push_back(data + pages * i / count * page);
    }
    std::vector<int> node(count, -1);
    // Without a list of nodes to move to it fills in where the pages are; a negative number is an error of that page.
    if (count == 0 || syscall(SYS_move_pages, 0, count, asked.data(), nullptr, node.data(), 0) != 0) {
        return {};
    }
    PagePlacement placement;
    for (int const where : node) {
        bool const wanted =
            wanted_nodes.empty() || std::find(wanted_nodes.begin(), wanted_nodes.end(), where) != wanted_nodes.end();
        placement.sampled += where >= 0 ? 1 : 0;
        placement.elsewhere += where >= 0 && !wanted ? 1 : 0;
    }
    return placement;
}

Bytes huge_page_bytes() {
    std::ifstream file("/proc/self/smaps_rollup");
    constexpr Bytes kib = 1024;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("AnonHugePages:")) {
            return std::stoull(line.substr(line.find(':') + 1)) * kib;
        }
    }
    return 0;
}

namespace {

[[noreturn]] void host_out_of_memory(Bytes bytes, int code) {
    throw Error(fmt::format("host memory: cannot allocate {} B ({}): {}; use smaller sizes or fewer ranks per node",
                            bytes, human_bytes(bytes), std::strerror(code)));
}

/// What munmap gets back: the mapping of an allocation of `bytes`.
Bytes mapped_bytes(Bytes bytes) {
    return (bytes + host_alignment - 1) / host_alignment * host_alignment;
}

/// Maps one alignment too much and gives back what lies before and behind the aligned part.
std::byte* map_aligned(Bytes bytes) {
    Bytes const length = bytes + host_alignment;
    void* const mapping = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) {  // NOLINT(performance-no-int-to-ptr,cppcoreguidelines-pro-type-cstyle-cast): the macro
        host_out_of_memory(bytes, errno);
    }
    auto* const start = static_cast<std::byte*>(mapping);
    Bytes const before = (host_alignment - reinterpret_cast<std::uintptr_t>(mapping) % host_alignment) % host_alignment;
    if (before > 0) {
        munmap(start, before);
    }
    munmap(start + before + bytes, host_alignment - before);
    return start + before;
}

}  // namespace

Allocation allocate_host(Bytes bytes) {
    if (bytes == 0) {
        return {};
    }
    if (bytes > std::numeric_limits<Bytes>::max() - 2 * host_alignment) {
        host_out_of_memory(bytes, ENOMEM);
    }
    return {map_aligned(mapped_bytes(bytes)), bytes, release_host};
}

void release_host(std::byte* data, Bytes bytes) {
    munmap(data, mapped_bytes(bytes));
}

// Of proc_meminfo(5), and memory.max, memory.current, memory.stat of "Control Group v2" in the kernel's documentation.
// A group's limits hold for all groups below it.
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
