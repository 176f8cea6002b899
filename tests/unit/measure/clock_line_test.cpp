// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Offset and drift from ping-pongs of simulated clocks: no time passes here.
#include "common/base/philox.hpp"
#include "common/measure/clock/common_clock.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace dlmb::measure {
namespace {

TEST(OffsetSearch, IntersectsTheBracketsOfItsPingPongs) {
    OffsetSearch search;
    search.add({100, 1130, 150});  // 1130 - 150, 1130 - 100
    EXPECT_EQ(search.bracket().low, 980);
    EXPECT_EQ(search.bracket().high, 1030);
    search.add({200, 1210, 240});  // [970, 1010]
    EXPECT_EQ(search.bracket().low, 980);
    EXPECT_EQ(search.bracket().high, 1010);
    EXPECT_EQ(search.bracket().error_of(995), 15);
    EXPECT_EQ(search.bracket().error_of(1000), 20);
}

TEST(OffsetSearch, KeepsTheNarrowerOfBracketsThatDoNotMeet) {
    OffsetSearch search;
    search.add({0, 500, 100});  // [400, 500]
    search.add({0, 610, 10});   // [600, 610]
    EXPECT_EQ(search.bracket().low, 600);
    search.add({0, 900, 50});  // [850, 900]: wider
    EXPECT_EQ(search.bracket().high, 610);
}

TEST(OffsetSearch, StopsAfterTenOnceOneIsNearlyTheShortestAndAfterAHundredAnyhow) {
    OffsetSearch steady;
    OffsetSearch slowing;
    for (int count = 1; count <= OffsetSearch::most; ++count) {
        EXPECT_FALSE(slowing.done());
        steady.add({0, 50, 100});
        EXPECT_EQ(steady.done(), count >= OffsetSearch::least);
        slowing.add({0, 50, count == 1 ? 100 : 110});  // 1.1 times the shortest is not below it
    }
    EXPECT_TRUE(slowing.done());
}

TEST(OffsetSearch, StopsAfterFiftyMillisecondsOfPingPongsOnASlowLink) {
    OffsetSearch search;
    for (int count = 1; count <= 12; ++count) {
        EXPECT_FALSE(search.done());
        search.add({0, 1, count == 1 ? 2'000'000 : 4'500'000});  // 47 ms after eleven
    }
    EXPECT_TRUE(search.done());
}

/// A client whose clock is off and drifts, at the end of a link whose two ways take unequally long. Time is that of
/// the reference.
class Simulation {
public:
    explicit Simulation(std::uint64_t seed)
        : random_(seed, 0, 0, 0), start_offset_ns_(1e12 * (uniform() - 0.5)), drift_(2e-4 * (uniform() - 0.5)),
          out_ns_(2e3 + 5e6 * uniform()), back_ns_(2e3 + 5e6 * uniform()), jitter_ns_(2e3 * uniform()) {}

    [[nodiscard]] double drift() const { return drift_; }
    [[nodiscard]] double jitter_ns() const { return jitter_ns_; }
    [[nodiscard]] Nanoseconds client() const { return std::llround(now_ns_ - start_offset_ns_ - drift_ * now_ns_); }
    /// The reference's time when the client shows `client_ns`.
    [[nodiscard]] Nanoseconds reference_at(Nanoseconds client_ns) const {
        return std::llround((static_cast<double>(client_ns) + start_offset_ns_) / (1 - drift_));
    }
    void pass(double ns) { now_ns_ += ns; }

    [[nodiscard]] MeasuredOffset measure(ClockLine const& line) {
        Nanoseconds const begin = client();
        OffsetSearch search;
        while (!search.done()) {
            PingPong ping_pong;
            ping_pong.sent = line.at(client());
            pass(out_ns_ + jitter_ns_ * uniform());
            ping_pong.answered = std::llround(now_ns_);
            pass(back_ns_ + jitter_ns_ * uniform());
            ping_pong.received = line.at(client());
            search.add(ping_pong);
        }
        Nanoseconds const middle = std::midpoint(begin, client());
        Nanoseconds const known = line.at(middle) - middle;
        return {middle, {known + search.bracket().low, known + search.bracket().high}};
    }

private:
    double uniform() { return to_unit(random_.next()); }

    RandomSequence random_;
    double start_offset_ns_;
    double drift_;  // by which the reference is faster
    double out_ns_, back_ns_, jitter_ns_;
    double now_ns_ = 0;
};

TEST(ClockLine, RecoversOffsetAndDriftWithinItsBoundUnderUnequalDelays) {
    constexpr int points = 40;
    constexpr double pause_ns = 5e7;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Simulation world(seed);
        ClockLine line;
        for (int point = 0; point < points; ++point) {
            MeasuredOffset const measured = world.measure(line);
            auto const wrong = [&] {
                return std::abs(line.at(measured.local_ns) - world.reference_at(measured.local_ns));
            };
            Nanoseconds const wrong_before = wrong();
            Nanoseconds const bound_before = line.correct(measured);
            ASSERT_LE(wrong_before, bound_before) << "seed " << seed << ", point " << point;
            ASSERT_LE(wrong(), line.error_ns()) << "seed " << seed << ", point " << point;
            world.pass(pause_ns);
        }
        // Unequal delays shift all offsets alike and leave the slope as it is. Jitter moves an offset by half of it at
        // most; n such errors at equal distances move a fitted slope by 3 / spread of that at most.
        double const bound_ppm = 1.5 * world.jitter_ns() / ((points - 1) * pause_ns) * 1e6;
        EXPECT_NEAR(line.drift_ppm(), world.drift() * 1e6, bound_ppm + 0.01) << "seed " << seed;
    }
}

TEST(ClockLine, AStepOfTheClockIsFollowedAtOnce) {
    ClockLine line({2, 1000});
    (void)line.correct({0, {90, 110}});
    (void)line.correct({1000, {90, 110}});
    EXPECT_EQ(line.at(1000), 1100);
    EXPECT_EQ(line.correct({2000, {5090, 5110}}), 5010);
    EXPECT_GE(line.at(2000), 7090);
    EXPECT_LE(line.at(2000), 7110);
}

TEST(ClockLine, HasNoSlopeBeforeTheRuleIsMet) {
    ClockLine line({3, 1000});
    (void)line.correct({0, {0, 0}});
    (void)line.correct({5000, {100, 100}});
    EXPECT_EQ(line.drift_ppm(), 0);  // two points
    EXPECT_EQ(line.at(6000), 6100);
    (void)line.correct({10'000, {200, 200}});
    EXPECT_DOUBLE_EQ(line.drift_ppm(), 0.02 * 1e6);
    EXPECT_EQ(line.at(11'000), 11'220);
}

TEST(ClockLine, IsTheSameOnARankThatAdoptsIt) {
    ClockLine line({2, 1000});
    (void)line.correct({1'000'000'000'000, {40, 60}});
    (void)line.correct({1'000'000'100'000, {45, 65}});
    ClockLine copy;
    copy.adopt(line.line());
    EXPECT_EQ(copy.at(1'000'900'000'000), line.at(1'000'900'000'000));
    EXPECT_EQ(copy.error_ns(), line.error_ns());
}

}  // namespace
}  // namespace dlmb::measure
