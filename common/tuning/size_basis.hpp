// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Sizes of a table's basis (bytes, basis_of) in the unit that a consumer compares, and back. n: ranks of the
// communicator. Intervals stay closed; an interval of a consumer holds exactly the sizes that the native one holds.
// Sources: NCCL tuner nBytes (src/enqueue.cc), Open MPI coll/tuned decision functions, MPICH csel.c, NCCLX's tuner
// README, UCC ucc_coll_args_msgsize.
#pragma once

#include "common/tuning/interval.hpp"
#include "common/tuning/vocabulary.hpp"

#include <cstdint>
#include <optional>

namespace dlmb::tuning {

/// What reads an exported table. MPICH has two keys: avg_msg_size and total_msg_size.
enum class SizeConsumer : std::uint8_t { nccl, ncclx, open_mpi, mpich_average, mpich_total, ucc };

/// native: B; per_rank: B / n; all_ranks: B * n; ignored: the consumer sees 0 whatever the size is; never: it does not
/// tune this operation by this key.
enum class SizeUnit : std::uint8_t { native, per_rank, all_ranks, ignored, never };

/// `uniform`: all blocks of an exchange are equal; of no meaning to other operations.
[[nodiscard]] SizeUnit unit_of(SizeConsumer consumer, TunedOperation operation, bool uniform);

/// [ceil(min / n), floor(max / n)]: sizes per rank whose n-fold lies in `native`; nullopt: there is none. Throws
/// UsageError for n = 0, as all functions here.
[[nodiscard]] std::optional<ByteInterval> per_rank(ByteInterval native, std::uint64_t n);
/// [min * n, max * n]: the same sizes natively; one above 64 bits becomes no_limit, nullopt: all are.
[[nodiscard]] std::optional<ByteInterval> from_per_rank(ByteInterval per_rank, std::uint64_t n);

/// Into the unit of a consumer. nullopt: no size of that unit corresponds, or the unit carries no size.
[[nodiscard]] std::optional<ByteInterval> to_unit(SizeUnit unit, ByteInterval native, std::uint64_t n);
[[nodiscard]] std::optional<ByteInterval> from_unit(SizeUnit unit, ByteInterval consumer, std::uint64_t n);

/// max + 1, for consumers whose end is exclusive; nullopt: above 64 bits, that is no end.
[[nodiscard]] std::optional<Bytes> end_of(ByteInterval interval);

}  // namespace dlmb::tuning
