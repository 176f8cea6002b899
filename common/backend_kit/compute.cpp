// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/compute.hpp"

#include "common/backend_kit/block_codec.hpp"
#include "common/base/error.hpp"
#include "common/formats/plan/arrivals.hpp"

#include <fmt/core.h>

#include <cstring>
#include <utility>

namespace dlmb {

namespace {

std::vector<RowBlock> rows_in_order_of_numbers(Conversion const& conversion) {
    std::vector<RowBlock> rows;
    rows.reserve(conversion.rows());
    for (RowBlock const& block : conversion.blocks) {
        RowBlock row{1, block.row_numbers, block.numbers, block.packed};
        for (std::uint64_t i = 0; i < block.rows; ++i) {
            rows.push_back(row);
            row.numbers += conversion.number_bytes(row);
            row.packed += conversion.packed_bytes(row);
        }
    }
    std::sort(rows.begin(), rows.end(), [](RowBlock const& left, RowBlock const& right) {
        return std::pair(left.numbers, left.packed) < std::pair(right.numbers, right.packed);
    });
    return rows;
}

}  // namespace

HostConversion::HostConversion(Conversion const& conversion, Buffers const& buffers)
    : conversion_(conversion), by_row_(conversion.direction == PackDirection::pack && !conversion.origins.empty()),
      numbers_(buffers.base.at(conversion.numbers)), packed_(buffers.base.at(conversion.packed)) {
    if (by_row_) {
        conversion_.blocks = rows_in_order_of_numbers(conversion);
    }
}

bool HostConversion::advance() {
    std::uint64_t left = piece_numbers;
    while (next_.block < conversion_.blocks.size() && left > 0) {
        RowBlock const& block = conversion_.blocks[next_.block];
        if (next_.row == block.rows || block.row_numbers == 0) {
            next_ = {next_.block + 1, 0, 0};
            continue;
        }
        if (by_row_ && next_.number == 0 && next_.block > 0) {
            RowBlock const& last = conversion_.blocks[next_.block - 1];
            if (last.numbers == block.numbers) {
                std::memcpy(packed_ + block.packed, packed_ + last.packed, conversion_.packed_bytes(block));
                left -= std::min(left, block.row_numbers);
                next_.row = 1;
                continue;
            }
        }
        std::uint64_t count = block.row_numbers - next_.number;
        if (count > left) {
            count = left / conversion_.format.block * conversion_.format.block;  // rows are cut between blocks only
        }
        if (count == 0) {
            break;
        }
        convert(block, count);
        left -= count;
        next_.number += count;
        if (next_.number == block.row_numbers) {
            next_ = {next_.block, next_.row + 1, 0};
        }
    }
    return next_.block == conversion_.blocks.size();
}

void HostConversion::convert(RowBlock const& block, std::uint64_t count) const {
    BlockFormat const& format = conversion_.format;
    Bytes const size = size_of(conversion_.element);
    std::byte* const numbers = numbers_ + block.numbers + (next_.row * block.row_numbers + next_.number) * size;
    PackedRow const row = PackedRow::at(packed_ + block.packed + next_.row * format.row_bytes(block.row_numbers),
                                        format, block.row_numbers)
                              .from(next_.number, format);
    if (conversion_.direction == PackDirection::pack) {
        host_pack(row, numbers, count, conversion_.element, format);
    } else {
        host_unpack(numbers, row, count, conversion_.element, format);
    }
}

HostRearrangement::HostRearrangement(Rearrangement const& rows, Buffers const& buffers)
    : runs_(rows.runs), row_bytes_(rows.row_bytes), from_(buffers.base.at(rows.from)), to_(buffers.base.at(rows.to)) {}

bool HostRearrangement::advance() {
    Bytes left = piece_bytes;
    while (next_.run < runs_.size() && left > 0) {
        RowRun const& run = runs_[next_.run];
        std::uint64_t const rows = std::min(run.rows - next_.row, std::max<Bytes>(1, left / row_bytes_));
        std::byte const* from = from_ + run.from + next_.row * run.from_stride;
        std::byte* to = to_ + run.to + next_.row * run.to_stride;
        if (run.from_stride == row_bytes_ && run.to_stride == row_bytes_) {
            std::memcpy(to, from, rows * row_bytes_);
        } else {
            for (std::uint64_t row = 0; row < rows; ++row, from += run.from_stride, to += run.to_stride) {
                std::memcpy(to, from, row_bytes_);
            }
        }
        left -= std::min(left, rows * row_bytes_);
        next_.row += rows;
        if (next_.row == run.rows) {
            next_ = {next_.run + 1, 0};
        }
    }
    return next_.run == runs_.size();
}

HostCompute::HostCompute(Compute const& step, Buffers const& buffers)
    : busy_ns_(step.busy_ns), uninterrupted_(step.uninterrupted), end_ns_(std::make_shared<Nanoseconds>(0)),
      tiles_(step.product ? 3 * tile_edge * tile_edge : 0, 0.5F) {
    if (step.conversion) {
        conversion_.emplace(*step.conversion, buffers);
    }
    if (step.rearrangement) {
        rearrangement_.emplace(*step.rearrangement, buffers);
    }
}

void HostCompute::start() {
    *end_ns_ = (begin_ns_ == nullptr ? now_ns() : *begin_ns_) + busy_ns_;
    if (conversion_) {
        conversion_->start();
    }
    if (rearrangement_) {
        rearrangement_->start();
    }
}

bool HostCompute::test() {
    if (conversion_) {
        return conversion_->advance();
    }
    if (rearrangement_) {
        return rearrangement_->advance();
    }
    bool over = false;
    do {
        if (!tiles_.empty()) {
            multiply();
        }
        over = now_ns() >= *end_ns_;
    } while (uninterrupted_ && !over);
    return over;
}

void HostCompute::multiply() {
    constexpr std::size_t tile = tile_edge * tile_edge;
    float const* const a = tiles_.data();
    float const* const b = a + tile;
    float* const c = tiles_.data() + 2 * tile;
    for (std::size_t row = 0; row < tile_edge; ++row) {
        for (std::size_t k = 0; k < tile_edge; ++k) {
            for (std::size_t column = 0; column < tile_edge; ++column) {
                c[row * tile_edge + column] += a[row * tile_edge + k] * b[k * tile_edge + column];
            }
        }
    }
}

HostCompute HostComputes::make(StepId step) {
    HostCompute made(std::get<Compute>(plan_.steps.at(step).operation), buffers_);
    if (auto const before = timer_before(plan_, step)) {
        made.begin_ns_ = end_of(*before);
    }
    made.end_ns_ = end_of(step);
    return made;
}

std::string why_no_rearrangement(Plan const& plan, Backend const& backend, MemoryKind kind) {
    auto const computes = backend.computes_in(kind);
    if (!computes) {
        return "";
    }
    for (Step const& step : plan.steps) {
        auto const* const compute = std::get_if<Compute>(&step.operation);
        auto const by = compute == nullptr ? std::nullopt : moved_by(*compute);
        if (!by || by == computes) {
            continue;
        }
        return *computes == Processor::host
                   ? fmt::format("\"{}\" is done by the GPU (--pack cuda), and steps in {} memory are the "
                                 "host's; use --memory cuda or --pack host",
                                 step.label, name_of(kind))
                   : fmt::format("\"{}\" is done by the host (--pack host), and steps of {} in {} memory are the "
                                 "GPU's; use --pack cuda",
                                 step.label, backend.name(), name_of(kind));
    }
    return "";
}

namespace {

bool has_exchange(Plan const& plan, bool (*is_such)(Exchange const&)) {
    return std::any_of(plan.steps.begin(), plan.steps.end(), [is_such](Step const& step) {
        auto const* const exchange = std::get_if<Exchange>(&step.operation);
        return exchange != nullptr && is_such(*exchange);
    });
}

}  // namespace

std::string why_no_scattered_rows(Plan const& plan) {
    return has_exchange(plan, [](Exchange const& exchange) { return exchange.scattered.has_value(); })
               ? "--pack fused: only over mpi (method alltoallw) and in_process, in host memory"
               : "";
}

std::string why_no_exchange_in_place(Plan const& plan) {
    return has_exchange(plan, [](Exchange const& exchange) { return exchange.in_place(); })
               ? "an exchange in place is a call of MPI alone: mpi, methods alltoall, alltoallv, nonblocking"
               : "";
}

std::string why_no_exchange(Plan const& plan) {
    std::string reason = why_no_scattered_rows(plan);
    return reason.empty() ? why_no_exchange_in_place(plan) : reason;
}

std::string why_no_products(Plan const& plan) {
    for (Step const& step : plan.steps) {
        auto const* const compute = std::get_if<Compute>(&step.operation);
        if (compute == nullptr || !compute->product) {
            continue;
        }
        try {
            DeviceCompute const probe(*compute, {});
        } catch (Error const& error) {
            return error.what();
        }
    }
    return "";
}

}  // namespace dlmb
