// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Proves that one iteration of a plan moved the right bytes to the right places and touched nothing else. Used before
// and after timing; knows plans and memory, no backend.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backend_kit/device_reduction.hpp"
#include "common/backend_kit/host_mirrors.hpp"
#include "common/backend_kit/payload_layout.hpp"
#include "common/backend_kit/reduction_payload.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dlmb {

/// Writes the operands of reductions into memory of any kind, and checks results there.
class ReductionBuffers {
public:
    /// `memory` is kept.
    explicit ReductionBuffers(MemorySpace& memory) : memory_(memory) {}

    /// Writes payload.input() of `member`, from element `first` on, to `elements` elements at `data` in `memory`. They
    /// are there when it returns.
    void fill(std::byte* data, Bytes elements, ReductionPayload const& payload, PayloadKey key, int member,
              std::uint64_t first);

    /// The first of `elements` elements at `data`, in `memory`, that is not what payload.result() says from element
    /// `first` on.
    [[nodiscard]] std::optional<Bytes> first_wrong(std::byte const* data, Bytes elements,
                                                   ReductionPayload const& payload, PayloadKey key,
                                                   std::uint64_t first);

    /// The first of `elements` elements at `data` that is no longer what fill() with the same arguments wrote. Of a
    /// device's memory a mebibyte is copied and compared.
    [[nodiscard]] std::optional<Bytes> first_changed(std::byte const* data, Bytes elements,
                                                     ReductionPayload const& payload, PayloadKey key, int member,
                                                     std::uint64_t first);

private:
    /// The first element in which `elements` at `data` differ from what `expected(element, bytes to fill)` says.
    [[nodiscard]] std::optional<Bytes>
    first_difference(std::byte const* data, Bytes elements, Bytes element_size,
                     std::function<void(std::uint64_t, std::span<std::byte>)> const& expected);

    MemorySpace& memory_;
    // Made when first needed, for memory that only the device can address.
    std::unique_ptr<DeviceQueue> queue_;
    std::unique_ptr<DeviceReductionCheck> check_;
};

/// The number of a checked iteration, which its payload is a function of; none: zeros, where blocks look alike.
using Contents = std::optional<std::uint32_t>;

/// Changes that iterations since prepare() may have made to the buffers, and that verify() cannot expect.
struct PayloadAge {
    bool repeated = false;     // the plan ran more than once: what is in place was summed up, or exchanged, again
    bool other_plans = false;  // plans with other places for their blocks ran, too: what lies between blocks is theirs
};

class PlanPayload {
public:
    /// References are kept. Throws Error for a plan that no payload can check (see payload_layout.hpp).
    PlanPayload(MemorySpace& memory, Buffers const& buffers, Plan const& plan);
    // Movable only, before anyone watches: the layout's gaps point into its vectors, which moving keeps in place.
    PlanPayload(PlanPayload&&) noexcept;
    PlanPayload& operator=(PlanPayload&&) = delete;
    PlanPayload(PlanPayload const&) = delete;
    PlanPayload& operator=(PlanPayload const&) = delete;
    ~PlanPayload();

    /// Fills what is sent with `contents` and everything else of the receive buffers with guard payload.
    /// `repeated`: the plan, and no other one, runs several times before verify(). Then sums and products in place of
    /// all-reduces get operands whose result stays what it is (ReductionPayload::settled()).
    void prepare(Contents contents, bool repeated = false);

    /// Describes wrong bytes after an iteration in at most `problem_limit` texts; empty: every byte that was delivered,
    /// that lies around it, and that was sent is right. For example
    ///   step 1 "dispatch": block from rank 3: byte 4096 of 14336 is 0x1f, expected 0xa2; it is the payload of
    ///   iteration 4 step 1 "dispatch": 8 bytes behind the block from rank 3 were overwritten
    /// Where a device's memory holds zeros, a mebibyte of each block is compared.
    [[nodiscard]] std::vector<std::string> verify(Contents contents, PayloadAge age = {});
    static constexpr std::size_t problem_limit = 4;

    /// A watch of one iteration with `contents` behind prepare(): blocks that are not right when their signal is seen
    /// are among what verify() describes. Of memory that the host cannot read it sees nothing. Lives as long as this.
    [[nodiscard]] SignalWatch& watch_signals(std::uint32_t contents);

    /// Delivered blocks that verify() compared so far.
    [[nodiscard]] std::uint64_t blocks_checked() const { return blocks_checked_; }
    /// Delivered blocks that it could not compare for their age.
    [[nodiscard]] std::uint64_t blocks_skipped() const { return blocks_skipped_; }

private:
    class ArrivalCheck;

    void fill_numbers(Piece const& piece, std::uint32_t iteration);
    [[nodiscard]] std::string problem_of_numbers(Piece const& piece, std::uint32_t iteration, std::string const& what);
    [[nodiscard]] PayloadKey key_of(Piece const& piece, std::uint32_t iteration) const;
    void fill_reduction_input(Piece const& piece, std::uint32_t iteration);
    [[nodiscard]] int own_member(Piece const& piece) const;
    [[nodiscard]] bool in_place(Piece const& piece) const;
    /// What the next iteration adds up or sends, so that something else is there then.
    [[nodiscard]] bool changes_again(Piece const& delivered) const;
    [[nodiscard]] bool settled(StepId step) const;
    [[nodiscard]] ReductionPayload operands_of(StepId step) const;
    [[nodiscard]] std::string problem_of_zeros(Piece const& piece, std::string const& what);
    [[nodiscard]] std::string problem_of_sent(Piece const& piece, std::uint32_t iteration);
    [[nodiscard]] std::string problem_of(Piece const& piece, std::uint32_t iteration);
    [[nodiscard]] std::string problem_of_reduction(Piece const& piece, std::uint32_t iteration);
    [[nodiscard]] std::string problem_of(Gap const& gap);
    [[nodiscard]] std::optional<Bytes> first_overwritten(Gap const& gap);
    [[nodiscard]] std::vector<std::byte> read(BufferId buffer, Bytes offset, Bytes bytes);
    [[nodiscard]] std::byte* at(BufferId buffer, Bytes offset) const { return mirrors_.base(buffer) + offset; }
    void fill(Contents contents);
    [[nodiscard]] std::vector<std::string> what_is_wrong(Contents contents, PayloadAge age);

    MemorySpace& memory_;
    Plan const& plan_;
    PayloadLayout layout_;
    HostMirrors mirrors_;
    ReductionBuffers reductions_;
    bool repeated_ = false;  // as prepare() was told
    std::uint64_t blocks_checked_ = 0;
    std::uint64_t blocks_skipped_ = 0;
    std::unique_ptr<ArrivalCheck> arrivals_;
};

}  // namespace dlmb
