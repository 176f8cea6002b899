// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/host_space.hpp"

#include "common/base/error.hpp"
#include "common/memory/control_groups.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <sys/mman.h>
#include <sys/resource.h>
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

namespace {

[[noreturn]] void host_out_of_memory(Bytes bytes, int code) {
    throw Error(fmt::format("host memory: cannot allocate {} B ({}): {}; use smaller sizes or fewer ranks per node",
                            bytes, human_bytes(bytes), std::strerror(code)));
}

/// Size of the mapping of an allocation of `bytes`, for munmap.
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

namespace {

namespace fs = std::filesystem;

constexpr Bytes unlimited = std::numeric_limits<Bytes>::max();
constexpr Bytes kib = 1024;

/// Bytes that getrlimit(2) leaves. It counts mapped memory, not used memory.
Bytes left_of_limit(auto resource, std::optional<Bytes> mapped_kib) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return unlimited;
    }
    return limit.rlim_cur - std::min<Bytes>(limit.rlim_cur, mapped_kib.value_or(0) * kib);
}

}  // namespace

Bytes huge_page_bytes() {
    return number_behind("/proc/self/smaps_rollup", "AnonHugePages:").value_or(0) * kib;
}

Bytes available_host_memory(fs::path const& root) {
    Bytes least = left_in_control_groups(root).value_or(unlimited);
    if (auto const available_kib = number_behind(root / "proc/meminfo", "MemAvailable:")) {
        least = std::min(least, *available_kib * kib);
    }
    return least == unlimited ? 0 : least;
}

Bytes mappable_memory(fs::path const& root) {
    fs::path const status = root / "proc/self/status";
    Bytes const least = std::min(left_of_limit(RLIMIT_AS, number_behind(status, "VmSize:")),
                                 left_of_limit(RLIMIT_DATA, number_behind(status, "VmData:")));
    return least == unlimited ? 0 : least;
}

}  // namespace dlmb
