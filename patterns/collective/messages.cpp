// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/collective/messages.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace dlmb::collective {
namespace {

constexpr int channel = 0;

/// Both at once, as ncclSend and ncclRecv in one group; alone, a rank sends to itself.
void add_ring(PlanBuilder& builder, GroupId all, Bytes bytes, int ranks, Rank me) {
    builder.send(all, (me + 1) % ranks, bytes, channel, 0, "sendrecv");
    builder.recv(all, (me + ranks - 1) % ranks, bytes, channel, 0, "sendrecv");
}

void add_ping_pongs(PlanBuilder& builder, GroupId all, Params const& params, int ranks, Rank me) {
    int const half = ranks / 2;
    Bytes const bytes = params.message_bytes;
    for (int own = 0; own < params.channels; ++own) {
        if (me < half) {
            StepId const ping = builder.send(all, me + half, bytes, own, -1, "sendrecv.ping");
            builder.recv(all, me + half, bytes, own, -1, "sendrecv.pong", {ping});
        } else {
            StepId const ping = builder.recv(all, me - half, bytes, own, -1, "sendrecv.ping");
            builder.send(all, me - half, bytes, own, -1, "sendrecv.pong", {ping});
        }
    }
}

/// Twice as many messages in each round, which waits for the one before.
void add_hypercube(PlanBuilder& builder, GroupId all, Bytes bytes, int ranks, Rank me) {
    std::vector<StepId> before;
    for (int distance = 1, round = 0; distance < ranks; distance *= 2, ++round) {
        Bytes const size = bytes * static_cast<Bytes>(distance);
        std::string const label = fmt::format("sendrecv.{}", round);
        StepId const sent = builder.send(all, me ^ distance, size, channel, round, label, before);
        before = {sent, builder.recv(all, me ^ distance, size, channel, round, label, before)};
    }
}

/// A rank's side of the windows.
struct WindowSide {
    bool sends = false;
    std::vector<Rank> peers;  // none: it rests
};

WindowSide window_side_of(Params const& params, int ranks, Rank me) {
    Windows const& windows = params.windows;
    if (windows.hubs == 0) {
        int const half = ranks / 2;
        bool const sends = me < windows.pairs;
        bool const receives = me >= half && me < half + windows.pairs;
        return {sends, sends ? std::vector{me + half} : receives ? std::vector{me - half} : std::vector<Rank>{}};
    }
    if (me >= windows.hubs) {
        return {params.route == Route::fan_in, {me % windows.hubs}};
    }
    WindowSide hub{params.route == Route::fan_out, {}};
    for (Rank peer = me + windows.hubs; peer < ranks; peer += windows.hubs) {
        hub.peers.push_back(peer);
    }
    return hub;
}

/// osu_bw and osu_mbw_mr: a window of messages, then an answer of a byte, which the next window waits for. osu_bibw:
/// windows both ways at once, receives first, and no answer. osu_bw_fan_in and osu_bw_fan_out: windows with all peers
/// at once, then the answers.
void add_windows(PlanBuilder& builder, GroupId all, Params const& params, int ranks, Rank me) {
    constexpr Bytes answer_bytes = 1;
    constexpr Bytes page_bytes = 4096;
    WindowSide const side = window_side_of(params, ranks, me);
    if (side.peers.empty()) {
        return;
    }
    Bytes const bytes = params.message_bytes;
    MessageWindow const window{static_cast<Bytes>(params.windows.messages),
                               params.windows.one_buffer ? 0 : (bytes + page_bytes - 1) / page_bytes * page_bytes};
    std::string const label(info_of(params.kind).name);
    if (params.kind == Kind::bibandwidth) {
        builder.recv(all, side.peers.front(), bytes, channel, 0, label, {}, window);
        builder.send(all, side.peers.front(), bytes, channel, 0, label, {}, window);
        return;
    }
    bool const several = side.peers.size() > 1;
    std::vector<StepId> done;
    for (Rank const peer : side.peers) {
        int const batch = several ? 0 : -1;
        done.push_back(side.sends ? builder.send(all, peer, bytes, channel, batch, label, {}, window)
                                  : builder.recv(all, peer, bytes, channel, batch, label, {}, window));
    }
    for (Rank const peer : side.peers) {
        int const batch = several ? 1 : -1;
        if (side.sends) {
            builder.recv(all, peer, answer_bytes, channel, batch, label + ".answer", done);
        } else {
            builder.send(all, peer, answer_bytes, channel, batch, label + ".answer", done);
        }
    }
}

}  // namespace

void add_messages(PlanBuilder& builder, GroupId all, Params const& params, int ranks, Rank me) {
    if (info_of(params.kind).windows) {
        add_windows(builder, all, params, ranks, me);
    } else if (params.route == Route::ping_pong) {
        add_ping_pongs(builder, all, params, ranks, me);
    } else if (params.route == Route::hypercube) {
        add_hypercube(builder, all, params.message_bytes, ranks, me);
    } else {
        add_ring(builder, all, params.message_bytes, ranks, me);
    }
}

}  // namespace dlmb::collective
