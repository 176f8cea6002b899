// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/segment.hpp"

#include "tests/fakes/gpu/wrong_use.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/mman.h>
#include <unistd.h>

namespace dlmb::fake_gpu {
namespace {

constexpr std::string_view prefix = "dlmb_fake_gpu.";

/// False also for a process that ended and that nobody waited for yet.
bool is_running(int process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string line;
    if (!std::getline(file, line)) {
        return false;
    }
    auto const name_end = line.rfind(')');  // "pid (name) state ..."; a name may hold anything
    return name_end != std::string::npos && name_end + 2 < line.size() && line[name_end + 2] != 'Z';
}

std::byte* map(std::string const& name, std::size_t bytes) {
    int const file = shm_open(name.c_str(), O_RDWR | O_CREAT, 0600);
    bool const sized = file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0;
    void* const data = sized ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    if (data == MAP_FAILED) {
        wrong_use(fmt::format("shared memory {} of {} B: {}", name, bytes, std::strerror(errno)));
    }
    close(file);
    return static_cast<std::byte*>(data);
}

/// The process that asked for the id is part of the name.
void remove_left_behind() {
    std::error_code ignored;
    for (auto const& entry : std::filesystem::directory_iterator("/dev/shm", ignored)) {
        std::string const name = entry.path().filename();
        if (name.compare(0, prefix.size(), prefix) == 0 && !is_running(std::atoi(name.c_str() + prefix.size()))) {
            shm_unlink(("/" + name).c_str());
        }
    }
}

}  // namespace

Segment::Segment(std::string name, int ranks, int rank)
    : name_(std::move(name)), ranks_(ranks),
      bytes_(sizeof(Member) * most_ranks +
             2 * sizeof(Ring) * static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks)),
      data_(map(name_, bytes_)) {
    int nobody = 0;
    if (!member(rank).process.compare_exchange_strong(nobody, getpid())) {
        wrong_use(fmt::format("rank {} of {} is in the communicator twice", rank, ranks));
    }
}

Segment::~Segment() {
    munmap(data_, bytes_);
}

Member& Segment::member(int rank) const {
    return reinterpret_cast<Member*>(data_)[rank];
}

Ring& Segment::ring(int from, int to) const {
    return reinterpret_cast<Ring*>(
        data_ + sizeof(Member) * most_ranks)[static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks_) +
                                             static_cast<std::size_t>(to)];
}

Ring& Segment::put_ring(int from, int to) const {
    return ring(from + ranks_, to);  // behind all others
}

bool Segment::all_came_to(std::uint64_t calls) const {
    for (int rank = 0; rank < ranks_; ++rank) {
        if (member(rank).calls.load() < calls) {
            return false;
        }
    }
    return true;
}

bool Segment::is_gone(int rank) const {
    return member(rank).gone.load() || !is_running(member(rank).process.load());
}

void Segment::remove_name() const {
    shm_unlink(name_.c_str());
}

std::string new_segment_name() {
    remove_left_behind();
    static std::atomic<int> count{0};
    return fmt::format("/{}{}.{}", prefix, getpid(), ++count);
}

}  // namespace dlmb::fake_gpu
