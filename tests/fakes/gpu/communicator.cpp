// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/communicator.hpp"

#include "tests/fakes/gpu/settings.hpp"

#include <algorithm>
#include <sched.h>
#include <utility>

namespace dlmb::fake_gpu {

namespace {

/// Nothing dereferences it.
ncclWindow_t as_handle(std::size_t number) {
    return reinterpret_cast<ncclWindow_t>(number);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

Communicator::Communicator(std::string const& name, int ranks, int rank_, bool blocking)
    : rank(rank_), segment(name, ranks, rank_), connected(static_cast<std::size_t>(ranks)), blocking_(blocking) {}

ncclWindow_t Windows::add(WindowMemory memory) {
    std::lock_guard const lock(mutex_);
    all_.push_back(memory);
    return as_handle(all_.size());
}

bool Windows::remove(ncclWindow_t window) {
    auto const number = number_of(window);
    std::lock_guard const lock(mutex_);
    return number && std::exchange(all_[*number], {}).data != nullptr;
}

std::optional<std::uint64_t> Windows::number_of(ncclWindow_t window) const {
    std::lock_guard const lock(mutex_);
    auto const place = reinterpret_cast<std::uintptr_t>(window);
    return place == 0 || place > all_.size() ? std::nullopt : std::optional<std::uint64_t>(place - 1);
}

WindowMemory Windows::at(std::uint64_t number) const {
    std::lock_guard const lock(mutex_);
    return number < all_.size() ? all_[number] : WindowMemory{};
}

bool Windows::none_ever() const {
    std::lock_guard const lock(mutex_);
    return all_.empty();
}

bool Windows::hold(std::byte const* data, std::size_t bytes) const {
    std::lock_guard const lock(mutex_);
    return std::any_of(all_.begin(), all_.end(), [&](WindowMemory const& window) {
        return window.data != nullptr && data >= window.data && data + bytes <= window.data + window.bytes;
    });
}

ncclResult_t Communicator::ready() {
    std::lock_guard const lock(mutex_);
    if (error_ != ncclSuccess) {
        return error_;
    }
    // "Attempt to use communicator before the previous operation returned ncclSuccess", says NCCL.
    return attempts_.empty() ? ncclSuccess : ncclInvalidArgument;
}

void Communicator::begin(Attempt attempt) {
    std::lock_guard const lock(mutex_);
    attempts_.push_back(std::move(attempt));
    questions_left_ = blocking_ ? 0 : questions_until_done();
}

ncclResult_t Communicator::ask() {
    std::lock_guard const lock(mutex_);
    if (error_ != ncclSuccess) {
        return error_;
    }
    if (attempts_.empty()) {
        return ncclSuccess;
    }
    if (questions_left_ > 0) {
        --questions_left_;
        return ncclInProgress;
    }
    auto const result = attempts_.front()();
    if (!result) {
        sched_yield();
        return ncclInProgress;
    }
    attempts_.pop_front();
    if (*result != ncclSuccess) {
        error_ = *result;
        return *result;
    }
    return attempts_.empty() ? ncclSuccess : ncclInProgress;
}

ncclResult_t Communicator::complete() {
    ncclResult_t state = ask();
    while (state == ncclInProgress) {
        state = ask();
    }
    return state;
}

void Communicator::abort() {
    std::lock_guard const lock(mutex_);
    attempts_.clear();
    aborted_ = true;
    segment.member(rank).gone = true;
}

SetUpExchange::SetUpExchange(Communicator& communicator, Given mine) : communicator_(communicator) {
    Member& member = communicator.segment.member(communicator.rank);
    member.given[0] = mine[0];
    member.given[1] = mine[1];
    came_ = ++member.calls;
}

std::optional<std::vector<Given>> SetUpExchange::try_to_end() {
    Segment const& segment = communicator_.segment;
    if (given_.empty()) {
        if (!segment.all_came_to(came_)) {
            return std::nullopt;
        }
        for (int rank = 0; rank < segment.ranks(); ++rank) {
            given_.push_back({segment.member(rank).given[0], segment.member(rank).given[1]});
        }
        ++segment.member(communicator_.rank).calls;
    }
    // Nobody gives anew before all have read.
    return segment.all_came_to(came_ + 1) ? std::optional(given_) : std::nullopt;
}

}  // namespace dlmb::fake_gpu
