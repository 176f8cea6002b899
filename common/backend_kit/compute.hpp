// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A Compute step: on the host in pieces, so that whoever runs it can serve the transport in between, and on the device.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/base/clock.hpp"
#include "common/formats/plan/plan.hpp"
#include "common/memory/device_queue.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dlmb {

/// Packs or unpacks the numbers of a step a piece at a time. A row that goes to several ranks is packed once and
/// copied.
class HostConversion {
public:
    HostConversion(Conversion const& conversion, Buffers const& buffers);

    void start() { next_ = {}; }
    /// Converts some numbers; true: these were the last.
    [[nodiscard]] bool advance();

private:
    static constexpr std::uint64_t piece_numbers = std::uint64_t{16} << 10;  // some microseconds

    struct Place {
        std::size_t block = 0;
        std::uint64_t row = 0;
        std::uint64_t number = 0;
    };
    void convert(RowBlock const& block, std::uint64_t count) const;

    Conversion conversion_;
    bool by_row_;  // blocks are single rows, and those with the same numbers are neighbours
    std::byte* numbers_;
    std::byte* packed_;
    Place next_;
};

/// Copies the rows of a step a piece at a time.
class HostRearrangement {
public:
    HostRearrangement(Rearrangement const& rows, Buffers const& buffers);

    void start() { next_ = {}; }
    /// Copies some rows; true: these were the last.
    [[nodiscard]] bool advance();

private:
    static constexpr Bytes piece_bytes = Bytes{64} << 10;  // some microseconds; one row at least

    struct Place {
        std::size_t run = 0;
        std::uint64_t row = 0;
    };

    std::vector<RowRun> runs_;
    Bytes row_bytes_;
    std::byte const* from_;
    std::byte* to_;
    Place next_;
};

class HostCompute {
public:
    HostCompute(Compute const& step, Buffers const& buffers);

    void start();
    /// Does a piece of work (a part of what is packed or unpacked, a matrix product of `tile_edge`^3 multiplications,
    /// whatever the step's shape, or nothing), or all of a step that is uninterrupted; true: what is packed is done, or
    /// the time is over.
    [[nodiscard]] bool test();
    /// Whether the step is done when its work is, not when its time is over: then the core is not given away in
    /// between.
    [[nodiscard]] bool ends_with_its_work() const { return conversion_ || rearrangement_; }

    static constexpr std::size_t tile_edge = 48;  // a few microseconds

private:
    friend class HostComputes;

    void multiply();

    Nanoseconds busy_ns_;
    bool uninterrupted_;
    std::shared_ptr<Nanoseconds const> begin_ns_;  // the planned end of a step before; nullptr: it begins when started
    std::shared_ptr<Nanoseconds> end_ns_;
    std::optional<HostConversion> conversion_;
    std::optional<HostRearrangement> rearrangement_;
    std::vector<float> tiles_;  // two factors and the sum of products; empty: only the clock is watched
};

/// The Compute steps of a plan. One that only watches the clock, behind nothing but another such, begins when that
/// one's time is over, however late the host looks: as a device would that runs them in turn.
class HostComputes {
public:
    HostComputes(Plan const& plan, Buffers const& buffers) : plan_(plan), buffers_(buffers) {}
    [[nodiscard]] HostCompute make(StepId step);

private:
    [[nodiscard]] std::shared_ptr<Nanoseconds> end_of(StepId step) {
        std::shared_ptr<Nanoseconds>& end = ends_[step];
        end = end == nullptr ? std::make_shared<Nanoseconds>(0) : end;
        return end;
    }

    Plan const& plan_;
    Buffers const& buffers_;
    std::map<StepId, std::shared_ptr<Nanoseconds>> ends_;
};

class DeviceCompute {
public:
    /// Without a product one thread watches the clock, so that the step takes time and nothing else. With one: bf16
    /// matrix products on the whole device, as many as take that time when nothing else runs, so that communication is
    /// slowed by what slows it in a model. The first of each shape measures the device for some milliseconds. Throws
    /// Error, for products also where there is no cuBLAS or no memory for the matrices. A conversion and a
    /// rearrangement are one kernel each, over all rows.
    DeviceCompute(Compute const& step, Buffers const& buffers);
    void start(DeviceQueue const& queue) const { queue_work_(queue); }

private:
    std::function<void(DeviceQueue const&)> queue_work_;
};

/// How many products of `product_ns` come nearest to `wanted_ns`; at least one.
[[nodiscard]] inline std::uint64_t products_in(Nanoseconds wanted_ns, double product_ns) {
    return static_cast<std::uint64_t>(std::max(1LL, std::llround(static_cast<double>(wanted_ns) / product_ns)));
}

/// Why a backend cannot move the rows of a plan in memory of this kind; empty: the processor that the steps name does
/// its Compute steps there, or compile() decides.
[[nodiscard]] std::string why_no_rearrangement(Plan const& plan, Backend const& backend, MemoryKind kind);

/// Why a backend or method that sends blocks only cannot do a plan; empty: no exchange has rows that lie apart.
[[nodiscard]] std::string why_no_scattered_rows(Plan const& plan);
/// Likewise where what arrives would overwrite what is still to be sent; empty: no exchange is in place.
[[nodiscard]] std::string why_no_exchange_in_place(Plan const& plan);
/// Both.
[[nodiscard]] std::string why_no_exchange(Plan const& plan);

/// Why the device cannot do the products of a plan's Compute steps; empty: it can. For compile(), where that is a
/// reason to decline and not yet a fault.
[[nodiscard]] std::string why_no_products(Plan const& plan);

}  // namespace dlmb
