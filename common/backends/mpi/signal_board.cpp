// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/signal_board.hpp"

#include "common/backend_kit/blobs.hpp"
#include "common/backends/mpi/one_sided_calls.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/over_ranks.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace dlmb::mpi {
namespace {

/// Writes to one buffer of a peer.
struct WindowWrites {
    MPI_Win window;
    std::vector<WindowAccess> accesses = {};
};

/// Blocks and flags that a put writes to one peer.
struct PeerWrites {
    Rank peer = 0;
    FlagId permission = no_flag;
    std::vector<WindowWrites> writes = {};
    std::vector<FlagId> flags = {};
};

/// A put or an offer. Blocks that stay on this rank are copied, and their flags raised, first.
class PutCall {
public:
    PutCall(SignalBoard& board, std::vector<PeerWrites> peers, std::vector<MemoryCopy> copies, std::vector<FlagId> own,
            FlagRange read, Rank me, Idle idle)
        : board_(board), peers_(std::move(peers)), copies_(std::move(copies)), own_flags_(std::move(own)), read_(read),
          me_(me), idle_(idle) {}
    void start() {
        make(copies_);
        if (read_.count > 0) {
            board_.sync_data();
        }
        for (FlagId const flag : own_flags_) {
            board_.raise(me_, flag);
        }
        if (!own_flags_.empty()) {
            board_.flush(me_);
        }
        next_ = 0;
    }
    void idle() const { idle_(); }
    [[nodiscard]] bool test() {
        for (; next_ < peers_.size() && may_write(peers_[next_]); ++next_) {
            write(peers_[next_]);
        }
        return next_ == peers_.size() && board_.raised(read_) == read_.count;
    }

private:
    [[nodiscard]] bool may_write(PeerWrites const& put) {
        return put.permission == no_flag || board_.is_raised(put.permission);
    }
    void write(PeerWrites const& put) {
        for (auto const& [window, accesses] : put.writes) {
            for (WindowAccess const& each : accesses) {
                check(MPI_Put(each.here, each.count, MPI_BYTE, put.peer, each.there, each.count, MPI_BYTE, window),
                      "MPI_Put");
            }
        }
        for (auto const& [window, accesses] : put.writes) {
            // MPICH 4.0.2 over UCX 1.13.1 flushes what has left only: without the local flush, data came behind flags.
            check(MPI_Win_flush_local(put.peer, window), "MPI_Win_flush_local");
            check(MPI_Win_flush(put.peer, window), "MPI_Win_flush");
        }
        for (FlagId const flag : put.flags) {
            board_.raise(put.peer, flag);
        }
        board_.flush(put.peer);
    }

    SignalBoard& board_;
    std::vector<PeerWrites> peers_;
    std::vector<MemoryCopy> copies_;
    std::vector<FlagId> own_flags_;
    FlagRange read_;  // what an offer waits for
    Rank me_;
    Idle idle_;
    std::size_t next_ = 0;
};

/// The blocks that a get reads behind one signal.
struct PeerRead {
    Rank peer = 0;
    FlagId read = no_flag;  // of the peer
    MPI_Win window = MPI_WIN_NULL;
    std::vector<WindowAccess> accesses = {};
    std::vector<MemoryCopy> copies = {};  // instead, from this rank
    std::vector<MPI_Request> requests = {};
};

/// A wait_signal, or a get: then there is one of `reads` per signal.
class WaitCall {
public:
    WaitCall(SignalBoard& board, AwaitedSignals const& signals, std::vector<PeerRead> reads, Idle idle)
        : board_(board), step_(signals.step), flags_(signals.flags), reads_(std::move(reads)), idle_(idle) {}
    void start() { begun_ = seen_ = 0; }
    void idle() const { idle_(); }
    [[nodiscard]] bool test() {
        std::size_t const more = board_.raised({flags_.first + begun_, flags_.count - begun_});
        if (more > 0 && reads_.empty()) {
            board_.sync_data();
        }
        for (std::size_t const end = begun_ + more; begun_ < end; ++begun_) {
            if (!reads_.empty()) {
                begin(reads_[begun_]);
            }
        }
        // Never waits: the peer may have to be served meanwhile.
        for (; seen_ < begun_ && (reads_.empty() || test_all(reads_[seen_].requests)); ++seen_) {
            board_.note(step_, seen_);
            if (!reads_.empty()) {
                board_.raise(reads_[seen_].peer, reads_[seen_].read);
                board_.flush(reads_[seen_].peer);
            }
        }
        return seen_ == flags_.count;
    }

private:
    static void begin(PeerRead& read) {
        make(read.copies);
        for (std::size_t i = 0; i < read.accesses.size(); ++i) {
            WindowAccess const& each = read.accesses[i];
            check(MPI_Rget(each.here, each.count, MPI_BYTE, read.peer, each.there, each.count, MPI_BYTE, read.window,
                           &read.requests[i]),
                  "MPI_Rget");
        }
    }

    SignalBoard& board_;
    StepId step_;
    FlagRange flags_;
    std::vector<PeerRead> reads_;
    Idle idle_;
    std::size_t begun_ = 0;  // signals that are there
    std::size_t seen_ = 0;   // and their blocks are read
};

std::vector<WindowAccess>& accesses_in(std::vector<WindowWrites>& writes, MPI_Win window) {
    auto found =
        std::find_if(writes.begin(), writes.end(), [&](WindowWrites const& each) { return each.window == window; });
    return (found == writes.end() ? writes.emplace_back(WindowWrites{window}) : *found).accesses;
}

PreparedCall put_call(Put const& put, CompileContext const& context) {
    std::vector<PutSignals> const& puts = context.board->table().puts;
    PutSignals const& signals = *std::find_if(puts.begin(), puts.end(), [&](PutSignals const& each) {
        return &std::get<Put>(context.plan.steps[each.step].operation) == &put;
    });
    std::byte* const base = context.buffers->base.at(put.buffer);
    std::vector<PeerWrites> peers;
    for (std::size_t i = 0; i < signals.peers.size(); ++i) {
        peers.push_back({.peer = signals.peers[i], .permission = signals.permissions[i]});
    }
    std::vector<MemoryCopy> copies;
    std::vector<FlagId> own;
    for (SentSignal const& signal : signals.signals) {
        bool const stays = signal.peer == context.plan.me;
        std::size_t const written = is_read(put.kind) ? 0 : signal.blocks;
        auto const to =
            std::find_if(peers.begin(), peers.end(), [&](PeerWrites const& each) { return each.peer == signal.peer; });
        for (std::size_t i = signal.first; i < signal.first + written; ++i) {
            Block const& block = put.send[i];
            if (stays) {
                copies.push_back(
                    {context.buffers->base.at(signal.buffer) + put.targets[i], base + block.offset, block.bytes});
                continue;
            }
            add_accesses(base + block.offset, static_cast<MPI_Aint>(put.targets[i]), block.bytes, 1, context.limits,
                         accesses_in(to->writes, context.board->window_of(signal.peer, signal.buffer)));
        }
        (stays ? own : to->flags).push_back(signal.flag);
    }
    return PreparedCall(PutCall(*context.board, std::move(peers), std::move(copies), std::move(own), signals.read,
                                context.plan.me, context.idle));
}

PreparedCall wait_call(WaitSignal const& wait, CompileContext const& context) {
    std::vector<AwaitedSignals> const& waits = context.board->table().waits;
    AwaitedSignals const& signals = *std::find_if(waits.begin(), waits.end(), [&](AwaitedSignals const& each) {
        return &std::get<WaitSignal>(context.plan.steps[each.step].operation) == &wait;
    });
    std::vector<PeerRead> reads;
    for (OfferedBlocks const& offered : signals.offered) {
        PeerRead& read = reads.emplace_back(PeerRead{.peer = offered.peer, .read = offered.read});
        bool const stays = offered.peer == context.plan.me;
        if (!stays && !offered.offsets.empty()) {
            read.window = context.board->window_of(offered.peer, offered.buffer);
        }
        for (std::size_t i = 0; i < offered.offsets.size(); ++i) {
            Block const& block = wait.recv[offered.first + i];
            std::byte* const here = context.buffers->base.at(wait.buffer) + block.offset;
            if (stays) {
                read.copies.push_back(
                    {here, context.buffers->base.at(offered.buffer) + offered.offsets[i], block.bytes});
            } else {
                add_accesses(here, static_cast<MPI_Aint>(offered.offsets[i]), block.bytes, 1, context.limits,
                             read.accesses);
            }
        }
        read.requests.assign(read.accesses.size(), MPI_REQUEST_NULL);
    }
    return PreparedCall(WaitCall(*context.board, signals, std::move(reads), context.idle));
}

}  // namespace

SignalBoard::SignalBoard(Plan const& plan, Buffers const& buffers, Bootstrap& bootstrap, MPI_Comm world,
                         std::vector<Window>& windows, std::string& failed)
    : me_(plan.me), table_(match_signals(plan, bootstrap)), seen_(table_.flags) {
    if (bootstrap.size() == 1) {
        return;
    }
    std::vector<BufferId> const accessed = accessed_buffers(plan);  // the k-th of each rank is behind the k-th window
    auto const most =
        static_cast<std::size_t>(reduce_over_ranks(bootstrap, static_cast<std::int64_t>(accessed.size()), Fold::max));
    alignas(window_alignment) static std::byte nothing_exposed[1];
    for (std::size_t k = 0; k < most; ++k) {
        // A buffer of 0 bytes may have no address, which would ask for another kind of window on this rank alone.
        bool const used = k < accessed.size() && plan.buffers.at(accessed[k]).bytes > 0;
        windows.emplace_back(used ? buffers.base.at(accessed[k]) : nothing_exposed,
                             used ? plan.buffers.at(accessed[k]).bytes : 0, world, failed);
        windows.back().lock_all();
        data_.push_back(windows.back().get());
    }
    auto const all = gather<BufferId>(bootstrap, accessed);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        for (std::size_t k = 0; k < all[rank].size(); ++k) {
            remote_windows_[{static_cast<Rank>(rank), all[rank][k]}] = data_[k];
        }
    }
    Bytes const flags_end = (table_.flags * flag_bytes / window_alignment + 1) * window_alignment;
    Window& flags = windows.emplace_back(nullptr, flags_end, world, failed);
    if (flags.exists()) {
        std::memset(flags.base(), 0, table_.flags * flag_bytes);
        flags.lock_all();
        check(MPI_Win_sync(flags.get()), "MPI_Win_sync");
        flags_ = flags.get();
    }
    bool const tells = !flags.exists() || flags.is_unified();
    std::string const problem = tells ? ""
                                      : "mpi: a window of this library has separate copies for its owner and the "
                                        "others, so that no flag tells of data";
    if (std::string const reason = first_refusal(bootstrap, problem); !reason.empty()) {
        throw Error(reason);
    }
}

void SignalBoard::begin() {
    ++iteration_;
    for (Permission const& each : table_.granted) {
        raise(each.peer, each.flag);
        flush(each.peer);
    }
}

std::size_t SignalBoard::raised(FlagRange flags) {
    if (flags.count == 0) {
        return 0;
    }
    read(flags.first, flags.count);
    std::size_t number = 0;
    while (number < flags.count && seen_[flags.first + number] == iteration_) {
        ++number;
    }
    return number;
}

void SignalBoard::read(FlagId first, std::size_t count) {
    if (flags_ == MPI_WIN_NULL) {
        return;
    }
    check(MPI_Get_accumulate(nullptr, 0, MPI_UINT64_T, seen_.data() + first, static_cast<int>(count), MPI_UINT64_T, me_,
                             static_cast<MPI_Aint>(first * flag_bytes), static_cast<int>(count), MPI_UINT64_T,
                             MPI_NO_OP, flags_),
          "MPI_Get_accumulate");
    check(MPI_Win_flush(me_, flags_), "MPI_Win_flush");
    std::span<std::uint64_t const> const flags = std::span(seen_).subspan(first, count);
    if (std::any_of(flags.begin(), flags.end(), [&](std::uint64_t flag) { return flag != iteration_; })) {
        make_progress();  // flags may be in shared memory, and the data of peers wait for this rank
    }
}

PreparedCall compile_signals(Operation const& operation, CompileContext const& context) {
    auto const* put = std::get_if<Put>(&operation);
    return put != nullptr ? put_call(*put, context) : wait_call(std::get<WaitSignal>(operation), context);
}

}  // namespace dlmb::mpi
