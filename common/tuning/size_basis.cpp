// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/size_basis.hpp"

#include "common/base/error.hpp"

namespace dlmb::tuning {
namespace {

void require_ranks(std::uint64_t n) {
    if (n == 0) {
        throw UsageError("a size cannot be converted for 0 ranks");
    }
}

SizeUnit unit_of_exchange(SizeConsumer consumer, bool uniform) {
    switch (consumer) {
    case SizeConsumer::open_mpi:
    case SizeConsumer::ucc:
        return uniform ? SizeUnit::native : SizeUnit::ignored;
    case SizeConsumer::mpich_average:
        return uniform ? SizeUnit::per_rank : SizeUnit::never;  // ragged: counts of one rank, ranks would disagree
    case SizeConsumer::mpich_total:
        return uniform ? SizeUnit::native : SizeUnit::never;
    case SizeConsumer::nccl:
    case SizeConsumer::ncclx:
        break;
    }
    return SizeUnit::never;
}

SizeUnit unit_in_mpich(SizeConsumer key, TunedOperation operation) {
    bool const average = key == SizeConsumer::mpich_average;
    switch (operation) {
    case TunedOperation::allreduce:
        return average ? SizeUnit::native : SizeUnit::all_ranks;
    case TunedOperation::broadcast:
        return average ? SizeUnit::native : SizeUnit::never;
    case TunedOperation::allgather:
    case TunedOperation::reduce_scatter:
        return average ? SizeUnit::never : SizeUnit::native;  // 4.0.2 aborts on avg_msg_size here
    case TunedOperation::exchange:
    case TunedOperation::sendrecv:
        break;
    }
    return SizeUnit::never;
}

}  // namespace

SizeUnit unit_of(SizeConsumer consumer, TunedOperation operation, bool uniform) {
    if (operation == TunedOperation::sendrecv) {
        return SizeUnit::never;
    }
    if (operation == TunedOperation::exchange) {
        return unit_of_exchange(consumer, uniform);
    }
    switch (consumer) {
    case SizeConsumer::ncclx:
        return SizeUnit::per_rank;
    case SizeConsumer::mpich_average:
    case SizeConsumer::mpich_total:
        return unit_in_mpich(consumer, operation);
    case SizeConsumer::ucc:
        return operation == TunedOperation::reduce_scatter ? SizeUnit::per_rank : SizeUnit::native;
    case SizeConsumer::nccl:
    case SizeConsumer::open_mpi:
        break;
    }
    return SizeUnit::native;
}

std::optional<ByteInterval> per_rank(ByteInterval native, std::uint64_t n) {
    require_ranks(n);
    Bytes const least = native.min / n + (native.min % n == 0 ? 0 : 1);
    Bytes const most = native.max / n;
    return least <= most ? std::optional{ByteInterval{least, most}} : std::nullopt;
}

std::optional<ByteInterval> from_per_rank(ByteInterval per_rank, std::uint64_t n) {
    require_ranks(n);
    if (per_rank.min > no_limit / n) {
        return std::nullopt;
    }
    return ByteInterval{per_rank.min * n, per_rank.max > no_limit / n ? no_limit : per_rank.max * n};
}

std::optional<ByteInterval> to_unit(SizeUnit unit, ByteInterval native, std::uint64_t n) {
    switch (unit) {
    case SizeUnit::native:
        require_ranks(n);
        return native;
    case SizeUnit::per_rank:
        return per_rank(native, n);
    case SizeUnit::all_ranks:
        return from_per_rank(native, n);
    case SizeUnit::ignored:
    case SizeUnit::never:
        break;
    }
    return std::nullopt;
}

std::optional<ByteInterval> from_unit(SizeUnit unit, ByteInterval consumer, std::uint64_t n) {
    switch (unit) {
    case SizeUnit::native:
        require_ranks(n);
        return consumer;
    case SizeUnit::per_rank:
        return from_per_rank(consumer, n);
    case SizeUnit::all_ranks:
        return per_rank(consumer, n);
    case SizeUnit::ignored:
    case SizeUnit::never:
        break;
    }
    return std::nullopt;
}

std::optional<Bytes> end_of(ByteInterval interval) {
    return interval.max == no_limit ? std::nullopt : std::optional{interval.max + 1};
}

}  // namespace dlmb::tuning
