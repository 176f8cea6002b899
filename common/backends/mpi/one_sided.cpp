// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Methods put, get and accumulate: MPI's one-sided calls. The memory that peers write to or read from is a window, made
// in compile(), one per step. `sync` says how both sides know when an access may begin and when it is done: by epochs
// of the library (fence, pscw), or by two messages of 0 bytes around accesses of a passive target (flush, lock,
// lock_all).
#include "common/backends/mpi/chunks.hpp"
#include "common/backends/mpi/collectives.hpp"
#include "common/backends/mpi/library_faults.hpp"
#include "common/backends/mpi/messages.hpp"
#include "common/backends/mpi/one_sided_calls.hpp"
#include "common/backends/mpi/signal_board.hpp"
#include "common/base/error.hpp"
#include "common/formats/plan/group_index.hpp"
#include "common/formats/plan/ready_queue.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace dlmb::mpi {
namespace {

std::size_t ranks_of(MPI_Comm comm) {
    int ranks = 0;
    check(MPI_Comm_size(comm, &ranks), "MPI_Comm_size");
    return static_cast<std::size_t>(ranks);
}

/// A group of one rank: some libraries refuse a window of one.
struct SelfCopies {
    void start() const { make(copies); }

    std::vector<MemoryCopy> copies;
};

/// MPICH has 2048 communicators per process, and each window takes one.
constexpr std::size_t most_windows = 1000;

Bytes beyond_alignment(std::byte const* place) {
    return reinterpret_cast<std::uintptr_t>(place) % window_alignment;
}

/// Blocks of a step, seen from this rank. Peers are ranks of the communicator.
struct AccessedSides {
    std::byte* exposed = nullptr;  // the memory that peers access
    Bytes exposed_bytes = 0;
    std::vector<Block> origins = {};  // the part of it of each peer
    std::byte* local = nullptr;       // this rank's memory for its accesses
    std::vector<Block> targets = {};  // and the part of it for each peer
    std::vector<MemoryCopy> self = {};
    MessageWindow messages = {};  // of each part
    Bytes own_place = 0;          // accumulate: where this rank's share begins in what is exposed

    [[nodiscard]] Bytes share() const { return exposed_bytes - own_place; }
};

/// Exposes what `blocks` cover.
void expose(std::byte* base, std::vector<Block> blocks, AccessedSides& sides) {
    auto const by_offset = [](Block const& a, Block const& b) { return a.offset < b.offset; };
    auto const [first, last] = std::minmax_element(blocks.begin(), blocks.end(), by_offset);
    if (first == blocks.end()) {
        return;
    }
    Bytes const begin = first->offset - std::min(first->offset, beyond_alignment(base + first->offset));
    sides.exposed = base + begin;
    sides.exposed_bytes = last->offset + sides.messages.span(last->bytes) - begin;
    for (Block& block : blocks) {
        block.offset -= begin;
    }
    sides.origins = std::move(blocks);
}

struct SidesOf {
    Verb verb;
    CompileContext const& context;

    AccessedSides operator()(Exchange const& step) const {
        int const me = context.me(step.group);
        AccessedSides sides = of(context.send_base(step), rotated_peers(step.send, me), context.recv_base(step),
                                 rotated_peers(step.recv, me));
        MemoryCopy const copy = self_copy(step, me, context.send_base(step), context.recv_base(step));
        if (copy.bytes > 0) {
            sides.self = {copy};
        }
        return sides;
    }
    AccessedSides operator()(Send const& step) const {
        return of(context.buffers->base[step.buffer], {in_pair(step.group, step.to)}, nullptr, {}, step.window);
    }
    AccessedSides operator()(Recv const& step) const {
        return of(nullptr, {}, context.buffers->base[step.buffer], {in_pair(step.group, step.from)}, step.window);
    }
    /// A reduce_scatter.
    AccessedSides operator()(Collective const& step) const {
        int const ranks = context.ranks(step.group);
        int const me = context.me(step.group);
        Bytes const share = step.bytes / static_cast<Bytes>(ranks);
        Bytes const lead = std::min(step.recv.offset, beyond_alignment(context.address(step.recv)));
        AccessedSides sides;
        sides.exposed = context.address(step.recv) - lead;
        sides.exposed_bytes = share + lead;
        sides.own_place = lead;
        sides.local = context.address(step.send);
        for (int i = 1; i < ranks && share > 0; ++i) {
            int const peer = (me + i) % ranks;
            sides.origins.push_back({peer, lead, share});
            sides.targets.push_back({peer, static_cast<Bytes>(peer) * share, share});
        }
        return sides;
    }
    template <class Other>
    AccessedSides operator()(Other const& /*step*/) const {
        throw Error("mpi: a one-sided call for a step that it cannot do");
    }

private:
    [[nodiscard]] AccessedSides of(std::byte* send, std::vector<Block> sent, std::byte* recv,
                                   std::vector<Block> received, MessageWindow const& messages = {}) const {
        AccessedSides sides;
        sides.messages = messages;
        bool const reads = verb == Verb::get;
        sides.local = reads ? recv : send;
        sides.targets = reads ? received : sent;
        expose(reads ? send : recv, reads ? std::move(sent) : std::move(received), sides);
        return sides;
    }
    /// The members of a pair are sorted.
    [[nodiscard]] Block in_pair(GroupId group, Block block) const {
        block.peer = world_rank(context.plan, group, block.peer) > context.plan.me ? 1 : 0;
        return block;
    }
};

int rank_of(MPI_Comm comm) {
    int rank = 0;
    check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    return rank;
}

MPI_Comm comm_of(Operation const& operation, CompileContext const& context) {
    std::optional<GroupId> const group = collective_group(operation);
    return group ? context.comm(*group)
                 : context.communicators.of_pair(context.plan.me, stream_of(context.plan, operation)->peer);
}

/// Memory of the library takes the place of what is exposed, and is copied from or to it.
void add_copies(AccessedSides const& sides, std::byte* window, OneSidedStep& step) {
    bool const allocated = window != sides.exposed && sides.exposed != nullptr;
    auto const copy = [](std::vector<MemoryCopy>& copies, std::byte* to, std::byte const* from, Bytes bytes) {
        if (bytes > 0) {
            copies.push_back({to, from, bytes});
        }
    };
    if (step.verb == Verb::accumulate) {
        std::size_t const own = static_cast<std::size_t>(rank_of(step.comm)) * sides.share();
        copy(step.before, window + sides.own_place, sides.local + own, sides.share());
        if (allocated) {
            copy(step.after, sides.exposed + sides.own_place, window + sides.own_place, sides.share());
        }
        return;
    }
    step.before = sides.self;
    for (Block const& block : sides.origins) {
        Bytes const places = sides.messages.stride == 0 ? 1 : sides.messages.messages;
        for (Bytes place = 0; place < places && allocated; ++place) {
            Bytes const offset = block.offset + place * sides.messages.stride;
            if (step.verb == Verb::get) {
                copy(step.before, window + offset, sides.exposed + offset, block.bytes);
            } else {
                copy(step.after, sides.exposed + offset, window + offset, block.bytes);
            }
        }
    }
}

PostedAndStarted posted_and_started(OneSidedStep step) {
    std::vector<int> peers;
    for (Target const& target : step.targets) {
        peers.push_back(target.peer);
    }
    GroupHandle exposed_to = rank_group(step.comm, step.origins);
    GroupHandle accessed = rank_group(step.comm, peers);
    return {std::move(step), std::move(exposed_to), std::move(accessed)};
}

PreparedCall compile_one_sided(Verb verb, Operation const& operation, CompileContext const& context) {
    if (has_signals(operation)) {
        return compile_signals(operation, context);
    }
    if (auto const stream = stream_of(context.plan, operation); stream && stream->peer == context.plan.me) {
        return isend_irecv().compile(operation, context);
    }
    OneSidedStep step{verb, context.method.sync};
    AccessedSides const sides = std::visit(SidesOf{verb, context}, operation);
    Bytes element = 1;
    if (auto const* reduce = std::get_if<Collective>(&operation)) {
        CollectiveArguments const arguments = collective_arguments(operation, context).front();
        step.type = arguments.type;
        step.operation = arguments.operation;
        element = size_of(reduce->element);
    }
    step.comm = comm_of(operation, context);
    std::size_t const ranks = ranks_of(step.comm);
    if (ranks == 1) {
        return PreparedCall(
            SelfCopies{verb == Verb::accumulate
                           ? std::vector<MemoryCopy>{{sides.exposed + sides.own_place, sides.local, sides.share()}}
                           : sides.self});
    }
    step.tag = context.next_tag(step.comm);

    alignas(window_alignment) static std::byte nothing_exposed[1];
    bool const allocate = context.method.allocate_windows;
    std::byte* const exposed = sides.exposed == nullptr ? nothing_exposed : sides.exposed;
    Bytes const whole = (sides.exposed_bytes + window_alignment - 1) / window_alignment * window_alignment;
    Window& window = context.windows->emplace_back(allocate ? nullptr : exposed, allocate ? whole : sides.exposed_bytes,
                                                   step.comm, *context.failed);
    step.window = window.get();
    if (step.sync == OneSidedSync::flush) {
        window.lock_all();
    }

    std::vector<std::int64_t> own_places(ranks);
    std::vector<std::int64_t> places(own_places.size());
    for (Block const& block : sides.origins) {
        step.origins.push_back(block.peer);
        own_places[static_cast<std::size_t>(block.peer)] = static_cast<std::int64_t>(block.offset);
    }
    check(MPI_Alltoall(own_places.data(), 1, MPI_INT64_T, places.data(), 1, MPI_INT64_T, step.comm), "MPI_Alltoall");
    if (!window.exists()) {
        return PreparedCall(SelfCopies{});  // never started: the plan is about to be refused
    }
    for (Block const& block : sides.targets) {
        Target& target = step.targets.emplace_back(Target{block.peer, {}});
        for (Bytes message = 0; message < sides.messages.messages; ++message) {
            Bytes const offset = message * sides.messages.stride;
            add_accesses(sides.local + block.offset + offset,
                         places[static_cast<std::size_t>(block.peer)] + static_cast<MPI_Aint>(offset), block.bytes,
                         element, context.limits, target.accesses);
        }
    }
    add_copies(sides, window.base(), step);
    switch (step.sync) {
    case OneSidedSync::fence:
        return PreparedCall(Fenced{std::move(step)});
    case OneSidedSync::pscw:
        return PreparedCall(posted_and_started(std::move(step)));
    default:
        break;
    }
    if (!window.is_unified()) {
        throw Error(
            "mpi: a window of this library has separate copies for its owner and the others, so messages do not "
            "tell the owner what it has got; --method put:sync=fence or sync=pscw");
    }
    return PreparedCall(PassiveTarget(std::move(step)));
}

std::uint64_t windows_of(Operation const& operation, Plan const& plan, ChosenMethod const& method) {
    if (method.row->kind != MethodKind::staged) {
        return 1;
    }
    auto const* exchange = std::get_if<Exchange>(&operation);
    return exchange == nullptr
               ? chunks_of(operation, {method.chunk_bytes}).size()
               : rounds_of(*exchange, method.chunk_bytes, rank_in(plan.groups.at(exchange->group), plan.me).value());
}

std::string one_sided_refusal(Operation const& operation, Plan const& plan, ChosenMethod const& method,
                              CallLimits const& /*limits*/) {
    if (has_signals(operation)) {
        return method.sync == OneSidedSync::flush && !method.allocate_windows
                   ? ""
                   : "its signals follow a flush of the plan's own memory: sync=flush, window=create";
    }
    bool const blocks = method.sync == OneSidedSync::fence || method.sync == OneSidedSync::pscw;
    if (blocks && !is_chain(plan)) {
        return "sync=fence and sync=pscw wait for the peers, and in this plan steps overlap; sync=flush, lock and "
               "lock_all do not";
    }
    std::optional<GroupId> const group = collective_group(operation);
    std::size_t const members = group ? plan.groups.at(*group).members.size() : 2;
    if (members > 1 && members < ranks_of(MPI_COMM_WORLD) && mixes_up_windows()) {
        return fmt::format(
            "a window of {} of all ranks, and Open MPI before 5.0 may mix it up with that of other ranks "
            "(open-mpi/ompi issue 9492); groups of all ranks have no such windows",
            members);
    }
    auto const* reduce = std::get_if<Collective>(&operation);
    if (reduce != nullptr && !reduce->shares.empty()) {
        return "MPI_Accumulate into equal parts only";
    }
    if (reduce != nullptr && is_narrow(reduce->element)) {
        return fmt::format("MPI has no {}, and MPI_Accumulate takes its own operations only", name_of(reduce->element));
    }
    std::uint64_t windows = 0;
    for (Step const& each : plan.steps) {
        windows +=
            method.calls->info.operations.has(kind_of(each.operation)) ? windows_of(each.operation, plan, method) : 0;
    }
    return windows <= most_windows
               ? ""
               : fmt::format("each step, or staged chunk of one, has a window, and {} are more than the {} that are "
                             "made for a plan",
                             windows, most_windows);
}

bool read_one_sided_knob(ChosenMethod& method, std::string_view knob, std::string_view value) {
    constexpr std::array syncs{"flush", "lock", "lock_all", "fence", "pscw"};  // in the order of OneSidedSync
    if (knob == "sync") {
        auto const found = std::find(syncs.begin(), syncs.end(), value);
        if (found == syncs.end()) {
            throw UsageError(fmt::format("--method {}:sync={}: expected flush, lock, lock_all, fence or pscw{}",
                                         method.calls->info.name, value,
                                         value == "flush_local" ? " (flush_local tells nothing of the target)" : ""));
        }
        method.sync = static_cast<OneSidedSync>(found - syncs.begin());
        return true;
    }
    if (knob == "window") {
        if (value != "create" && value != "allocate") {
            throw UsageError(
                fmt::format("--method {}:window={}: expected create or allocate", method.calls->info.name, value));
        }
        method.allocate_windows = value == "allocate";
        return true;
    }
    return false;
}

Method one_sided(std::string_view name, std::string_view description, OperationSet operations,
                 PreparedCall (*compile)(Operation const&, CompileContext const&)) {
    return {.info = {name, description, operations,
                     "sync=flush|lock|lock_all|fence|pscw (default flush), window=create|allocate (default create)"},
            .compile = compile,
            .refusal = one_sided_refusal,
            .read_knob = read_one_sided_knob,
            .one_sided = true};
}

template <Verb verb>
PreparedCall compile_verb(Operation const& operation, CompileContext const& context) {
    return compile_one_sided(verb, operation, context);
}

constexpr OperationSet moving{OperationKind::exchange, OperationKind::send, OperationKind::recv};

}  // namespace

Method put() {
    return one_sided("put",
                     "MPI_Put into a window of each receiver, one per step; of puts with signals MPI_Win_flush and "
                     "MPI_Accumulate of a flag",
                     moving.with(write_operations), compile_verb<Verb::put>);
}

Method get() {
    return one_sided(
        "get",
        "MPI_Get from a window of each sender, one per step; of gets behind signals MPI_Rget, and MPI_Accumulate of "
        "flags",
        moving.with(read_operations), compile_verb<Verb::get>);
}

Method accumulate() {
    return one_sided("accumulate", "MPI_Accumulate into a window of each rank's share, one per step",
                     {OperationKind::reduce_scatter}, compile_verb<Verb::accumulate>);
}

}  // namespace dlmb::mpi
