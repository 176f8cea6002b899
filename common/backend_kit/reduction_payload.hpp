// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Inputs of a reduction whose result is known exactly, whatever the order of the operands and the number of ranks:
// small integers (of int8 also negative ones), of which at every element only up to four ranks contribute one that
// matters and the others the neutral one. Which four changes with the element, so every rank's contribution is missed
// when it is missing.
#pragma once

#include "common/formats/plan/plan.hpp"
#include "common/memory/payload.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace dlmb {

class ReductionPayload {
public:
    constexpr ReductionPayload(Element element, Reduction reduction, int members)
        : element_(element), reduction_(reduction), members_(members) {}

    /// Writes the contribution of `member` (rank in the group) from element `first` on. `out` holds whole elements.
    void input(PayloadKey key, int member, std::uint64_t first, std::span<std::byte> out) const;
    /// The reduction over all members.
    void result(PayloadKey key, std::uint64_t first, std::span<std::byte> out) const;
    /// The same with one member left out: what a lost contribution looks like.
    void result_without(PayloadKey key, int member, std::uint64_t first, std::span<std::byte> out) const;

    /// The same with operands whose sum is 0 and whose product is 1, which stays so when all members reduce it again.
    /// Contributors come in pairs then, of which the second undoes the first. No other of minima and maxima.
    [[nodiscard]] constexpr ReductionPayload settled() const {
        ReductionPayload payload = *this;
        payload.settled_ = reduction_ == Reduction::sum || reduction_ == Reduction::prod;
        return payload;
    }

    [[nodiscard]] constexpr Element element() const { return element_; }
    [[nodiscard]] constexpr Reduction reduction() const { return reduction_; }

    /// One element of these, for host and device.
    [[nodiscard]] constexpr std::int32_t input_at(PayloadKey key, int member, std::uint64_t element) const {
        std::uint64_t const word = payload_word(key, element);
        int const my_place = place(word, member);
        return my_place < contributors ? digit(word, my_place) : neutral();
    }
    [[nodiscard]] constexpr std::int32_t result_at(PayloadKey key, std::uint64_t element) const {
        return folded(payload_word(key, element), nobody);
    }

private:
    static constexpr int contributors = 4;
    static constexpr int nobody = -1;

    /// Not std::min: it takes the constant by reference, and on a device there is nothing to refer to. nvcc 13 then
    /// says nothing and makes a trap of it.
    [[nodiscard]] constexpr int contributing() const { return members_ < contributors ? members_ : contributors; }
    /// The member's distance from the first contributor of this element; below `contributors` it contributes.
    [[nodiscard]] constexpr int place(std::uint64_t word, int member) const {
        auto const count = static_cast<std::uint32_t>(members_);
        auto const first = static_cast<std::uint32_t>((word & 0xFFFFFFFFU) % count);
        return static_cast<int>((static_cast<std::uint32_t>(member) + count - first) % count);
    }
    [[nodiscard]] constexpr std::int32_t digit(std::uint64_t word, int place) const {
        if (settled_) {
            return settled_digit(word, place);
        }
        auto const bits = static_cast<std::int32_t>((word >> (32 + 8 * place)) & 0xFFU);
        std::int32_t const size = 1 + (bits & (largest() - 1));
        return has_sign() && bits >= 0x80 ? -size : size;
    }
    [[nodiscard]] constexpr std::int32_t settled_digit(std::uint64_t word, int place) const {
        int const first = place / 2 * 2;
        if (first + 1 >= contributing()) {
            return neutral();
        }
        auto const bits = static_cast<std::int32_t>((word >> (32 + 8 * first)) & 0xFFU);
        std::int32_t const size = 1 + (bits & (largest() - 1));
        return reduction_ == Reduction::prod ? -1 : place == first ? size : -size;
    }
    [[nodiscard]] constexpr std::int32_t folded(std::uint64_t word, int without_place) const {
        std::int32_t result = neutral();
        for (int place = 0; place < contributing(); ++place) {
            std::int32_t const value = place == without_place ? neutral() : digit(word, place);
            switch (reduction_) {
            case Reduction::sum:
                result += value;
                break;
            case Reduction::prod:
                result *= value;
                break;
            case Reduction::min:
                result = std::min(result, value);
                break;
            case Reduction::max:
                result = std::max(result, value);
                break;
            }
        }
        return result;
    }
    [[nodiscard]] constexpr bool has_sign() const { return element_ == Element::int8; }
    /// Four contributions must stay exact in the narrowest type: fp8 holds all integers up to 16, an int8 those up to
    /// 127, a byte those up to 255. A power of two.
    [[nodiscard]] constexpr std::int32_t largest() const {
        bool const one_byte = element_ == Element::fp8 || element_ == Element::byte || element_ == Element::int8;
        if (reduction_ == Reduction::prod) {
            return one_byte ? 2 : 4;
        }
        return element_ == Element::fp8 ? 4 : element_ == Element::int8 ? 16 : 32;
    }
    [[nodiscard]] constexpr std::int32_t neutral() const {
        switch (reduction_) {
        case Reduction::prod:
            return 1;
        case Reduction::min:
            return largest();
        case Reduction::max:
            return has_sign() ? -largest() : 0;
        case Reduction::sum:
            break;
        }
        return 0;
    }

    Element element_;
    Reduction reduction_;
    int members_;
    bool settled_ = false;
};

}  // namespace dlmb
