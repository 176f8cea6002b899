// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/moe_alltoall/moving_skew.hpp"

#include "common/base/error.hpp"
#include "common/base/exact_math.hpp"
#include "common/base/units.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace dlmb::moe_alltoall {
namespace {

constexpr std::uint32_t max_period = 1'000'000;
constexpr std::uint32_t max_burst_length = 10'000;  // a draw looks back so far
constexpr std::uint32_t max_zero_rank = 65535;
constexpr double max_half_life = 1e6;
constexpr std::string_view moving_choices = ", +rotating:PERIOD, +burst:RATE:LENGTH, +zero_expert:R, +drift:HALF_LIFE";

/// One moving part of the option, as text.
class PartReader {
public:
    PartReader(std::string_view option_value, std::string_view part)
        : option_value_(option_value), values_(split(part, ":")) {
        values_.erase(values_.begin());  // the name
    }

    [[noreturn]] void refuse(std::string_view expected) const {
        throw UsageError(fmt::format("--skew '{}': expected {}", option_value_, expected));
    }
    template <class Number>
    [[nodiscard]] Number number(std::size_t place, Number min, Number max) {
        if (place >= values_.size()) {
            valid_ = false;
            return min;
        }
        auto const value = parse_whole<Number>(values_[place]);
        valid_ = valid_ && value && *value >= min && *value <= max;
        return value.value_or(min);
    }
    /// After all numbers.
    void require(std::size_t values, std::string const& expected) const {
        if (!valid_ || values_.size() != values) {
            refuse(expected);
        }
    }

private:
    std::string_view option_value_;
    std::vector<std::string_view> values_;
    bool valid_ = true;
};

bool is_moving(std::string_view name) {
    return name == "rotating" || name == "burst" || name == "zero_expert" || name == "drift";
}

void read_part(std::string_view text, std::string_view part, std::string_view name, MovingSkew& moving) {
    PartReader reader(text, part);
    MovingSkew const before = moving;
    if (name == "rotating") {
        moving.period = reader.number<std::uint32_t>(0, 1, max_period);
        reader.require(1, fmt::format("rotating:PERIOD with the draws until the next shift, from 1 to {}", max_period));
    } else if (name == "burst") {
        moving.burst_rate = reader.number<double>(0, 0, 1);
        moving.burst_length = reader.number<std::uint32_t>(1, 1, max_burst_length);
        reader.require(2, fmt::format("burst:RATE:LENGTH with the probability that a burst begins with a draw, from 0 "
                                      "to 1, and the draws that it lasts, from 1 to {}",
                                      max_burst_length));
    } else if (name == "zero_expert") {
        moving.zero_rank = reader.number<std::uint32_t>(0, 0, max_zero_rank);
        reader.require(1, fmt::format("zero_expert:R with a rank of the group, from 0 to {}", max_zero_rank));
    } else {
        moving.half_life = reader.number<double>(0, 1, max_half_life);
        reader.require(1, fmt::format("drift:HALF_LIFE with the draws after which half of the correlation is left, "
                                      "from 1 to {}",
                                      max_half_life));
    }
    bool const twice = (name == "rotating" && before.period > 0) || (name == "burst" && before.burst_length > 0) ||
                       (name == "zero_expert" && before.zero_rank) || (name == "drift" && before.half_life > 0);
    if (twice) {
        reader.refuse(fmt::format("{} once", name));
    }
}

/// Splits at each '+' that a letter follows: "hot_rank:1e+3" is one part.
std::vector<std::string_view> parts_of(std::string_view text) {
    std::vector<std::string_view> parts;
    std::size_t begin = 0;
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
        if (text[i] == '+' && text[i + 1] >= 'a' && text[i + 1] <= 'z') {
            parts.push_back(text.substr(begin, i - begin));
            begin = i + 1;
        }
    }
    parts.push_back(text.substr(begin));
    return parts;
}

/// A standard normal value for each expert; `time` keys them.
class Normals {
public:
    Normals(std::uint64_t seed, std::uint32_t layer) : seed_(seed), stream_(stream_id(Purpose::skew_drift, layer)) {}

    void fill(std::uint64_t time, std::vector<double>& values) const {
        PhiloxBlock four{};
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (i % 4 == 0) {
                four = philox({static_cast<std::uint32_t>(time), static_cast<std::uint32_t>(i / 4), 0, stream_}, seed_);
            }
            values[i] = exact::normal_quantile(to_unit(four[i % 4]));
        }
    }

private:
    std::uint64_t seed_;
    std::uint32_t stream_;
};

/// Scores of an AR(1) process in its steady state whose correlation halves each half_life, at time `index`; `scores`
/// are those at time 0. Time is cut into blocks of at least 64 half-lives, between whose ends the correlation is below
/// rounding: each end is drawn afresh. Inside a block the process is halved again and again: its middle is drawn given
/// both ends, which is exact for a Gaussian Markov process. So a draw costs a logarithm of steps, not `index` of them.
void move_on(std::vector<double>& scores, std::uint32_t index, double half_life, Normals const& normals) {
    std::uint64_t block = 1;
    while (static_cast<double>(block) < 64 * half_life) {
        block *= 2;
    }
    std::uint64_t left = index / block * block;
    std::vector<double> at_right(scores.size());
    std::vector<double> noise(scores.size());
    if (left > 0) {
        normals.fill(left, scores);
    }
    if (left != index) {
        normals.fill(left + block, at_right);
    }
    for (std::uint64_t half = block / 2; left != index; half /= 2) {
        double const kept = exact::pow(2, -static_cast<double>(half) / half_life);  // correlation over `half`
        double const of_ends = kept / (1 + kept * kept);
        double const of_noise = std::sqrt((1 - kept * kept) / (1 + kept * kept));
        normals.fill(left + half, noise);
        bool const to_the_right = index >= left + half;
        for (std::size_t i = 0; i < scores.size(); ++i) {
            double const middle = of_ends * (scores[i] + at_right[i]) + of_noise * noise[i];
            (to_the_right ? scores[i] : at_right[i]) = middle;
        }
        left += to_the_right ? half : 0;
    }
}

}  // namespace

RoutingSkew parse_routing_skew(std::string_view text) {
    std::string still;
    RoutingSkew skew;
    for (std::string_view const part : parts_of(text)) {
        std::string_view const name = part.substr(0, part.find(':'));
        if (is_moving(name)) {
            read_part(text, part, name, skew.moving);
        } else {
            if (!still.empty() && name != "intra_host" && !text.starts_with("file:")) {
                (void)parse_skew(part, moving_choices);
                throw UsageError(fmt::format("--skew '{}': expected one family, not also '{}'", text, part));
            }
            still += still.empty() ? std::string(part) : fmt::format("+{}", part);
        }
    }
    if (!still.empty() || !skew.moving.any()) {
        skew.still = parse_skew(still, moving_choices);
    }
    bool const reorders = skew.moving.period > 0 || skew.moving.half_life > 0;
    if (skew.moving.any() && skew.still.family == Skew::Family::balanced) {
        throw UsageError(fmt::format("--skew '{}': nothing can move after balanced, whose counts are equal by "
                                     "definition; use lognormal:0",
                                     text));
    }
    if (reorders && skew.still.family == Skew::Family::uniform) {
        throw UsageError(fmt::format("--skew '{}': rotating and drift need a family before them whose experts differ, "
                                     "as in zipf:1.2+rotating:16",
                                     text));
    }
    return skew;
}

SkewMotion::SkewMotion(MovingSkew const& moving, std::vector<std::size_t> owner_of)
    : moving_(moving), experts_(owner_of.size()) {
    if (moving_.zero_rank) {
        auto const [begin, end] = std::equal_range(owner_of.begin(), owner_of.end(), *moving_.zero_rank);
        zero_begin_ = static_cast<std::size_t>(begin - owner_of.begin());
        zero_end_ = static_cast<std::size_t>(end - owner_of.begin());
    }
}

std::size_t SkewMotion::shift(std::uint32_t index) const {
    return moving_.period == 0 ? 0 : index / moving_.period % experts_;
}

std::optional<std::size_t> SkewMotion::burst_expert(Draw draw, std::uint32_t layer) const {
    // Bursts may have begun before draw 0 (indices wrap around): each draw is as likely to be in one.
    for (std::uint32_t age = 0; age < moving_.burst_length; ++age) {
        std::uint32_t const begin = draw.index - age;
        // All layers see a burst at once, but each has its own hot expert.
        RandomSequence starts(draw.seed, begin, 0, stream_id(Purpose::skew_burst, 0));
        if (to_unit(starts.next()) < moving_.burst_rate) {
            RandomSequence experts(draw.seed, begin, 1, stream_id(Purpose::skew_burst, layer));
            std::size_t const zeros = zero_end_ - zero_begin_;
            std::size_t const expert = below(experts.next(), static_cast<std::uint32_t>(experts_ - zeros));
            return expert < zero_begin_ ? expert : expert + zeros;
        }
    }
    return std::nullopt;
}

void SkewMotion::drift(std::vector<double>& weights, Draw draw, std::uint32_t layer) const {
    auto const count = static_cast<double>(weights.size());
    std::vector<double> scores;
    for (double const weight : weights) {
        scores.push_back(exact::log(weight));
    }
    double const mean = std::accumulate(scores.begin(), scores.end(), 0.0) / count;
    double squares = 0;
    for (double& score : scores) {
        score -= mean;
        squares += score * score;
    }
    double const deviation = std::sqrt(squares / count);
    if (deviation == 0) {
        return;
    }
    for (double& score : scores) {
        score /= deviation;
    }
    move_on(scores, draw.index, moving_.half_life, Normals(draw.seed, layer));
    double const highest = *std::max_element(scores.begin(), scores.end());
    for (std::size_t expert = 0; expert < weights.size(); ++expert) {
        weights[expert] = std::max(exact::exp(deviation * (scores[expert] - highest)), 0x1p-40);
    }
}

void SkewMotion::apply(std::vector<double>& weights, Draw draw, std::uint32_t layer) const {
    if (moving_.half_life > 0 && draw.index > 0) {
        drift(weights, draw, layer);
    }
    // To the right: what the first expert had, the expert at `shift` gets.
    std::rotate(weights.begin(), weights.end() - static_cast<std::ptrdiff_t>(shift(draw.index)), weights.end());
    std::fill(weights.begin() + static_cast<std::ptrdiff_t>(zero_begin_),
              weights.begin() + static_cast<std::ptrdiff_t>(zero_end_), zero_weight);
    if (auto const hot = burst_expert(draw, layer)) {
        weights[*hot] = 0;
        double const others = std::accumulate(weights.begin(), weights.end(), 0.0);
        weights[*hot] = std::max(others, 0x1p-40);
    }
}

}  // namespace dlmb::moe_alltoall
