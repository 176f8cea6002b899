// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Method staged: a step on device memory by another method on host memory. It is cut into parts: while one is
// communicated, the next is copied to the host and the one before is copied back to the device.
#include "common/backends/mpi/chunks.hpp"
#include "common/backends/mpi/messages.hpp"
#include "common/base/error.hpp"
#include "common/formats/plan/ready_queue.hpp"
#include "common/memory/host_space.hpp"

#include <fmt/core.h>

namespace dlmb::mpi {
namespace {

/// Sizes of draws differ a little: an eighth to spare lets most of them share one image.
Bytes with_room(Bytes bytes) {
    constexpr Bytes page = 4096;
    return (bytes + bytes / 8 + page - 1) / page * page;
}

struct StagedPart {
    std::vector<MemoryCopy> to_host;
    PreparedCall call;
    std::vector<MemoryCopy> to_device;
    DeviceEvent on_host;  // never recorded where nothing is copied, and then always reached
};

class Staged {
public:
    /// At least one part. `self`: what stays on the device.
    Staged(std::vector<StagedPart> parts, SelfCopy self, CompileContext const& context)
        : parts_(std::move(parts)), self_(std::move(self)), queues_(context.queues), turn_(context.turn),
          idle_(context.idle) {}

    // All copies to the host at once: the queue does them in order, and each part has memory of its own there.
    void start() {
        ticket_ = turn_->taken++;
        current_ = 0;
        called_ = false;
        self_.start();
        for (StagedPart& part : parts_) {
            for (MemoryCopy const& copy : part.to_host) {
                queues_->to_host.copy(copy.to, copy.from, copy.bytes);
            }
            if (!part.to_host.empty()) {
                part.on_host.record(queues_->to_host);
            }
        }
    }
    void idle() const { idle_(); }
    [[nodiscard]] bool test() {
        while (current_ < parts_.size()) {
            if (!call_made() || !parts_[current_].call.test()) {
                return false;
            }
            copy_back();
            ++current_;
            called_ = false;
        }
        return delivered_.reached() && self_.test();
    }

private:
    /// Makes the call of the current part as soon as that may be.
    [[nodiscard]] bool call_made() {
        StagedPart& part = parts_[current_];
        if (!called_ && turn_->passed == ticket_ && part.on_host.reached()) {
            part.call.start();
            called_ = true;
            turn_->passed += current_ + 1 == parts_.size() ? 1U : 0U;
        }
        return called_;
    }
    void copy_back() {
        StagedPart const& part = parts_[current_];
        for (MemoryCopy const& copy : part.to_device) {
            queues_->to_device.copy(copy.to, copy.from, copy.bytes);
        }
        if (!part.to_device.empty()) {
            delivered_.record(queues_->to_device);
        }
    }

    std::vector<StagedPart> parts_;
    SelfCopy self_;
    DeviceQueues const* queues_;
    std::shared_ptr<StagingTurn> turn_;
    Idle idle_;
    DeviceEvent delivered_;
    std::uint64_t ticket_ = 0;
    std::size_t current_ = 0;  // part
    bool called_ = false;      // its native call is made
};

/// How many calls an exchange is cut into: all members of its group make as many. Collective over the group.
std::uint64_t agree_on_rounds(Exchange const& exchange, CompileContext const& context) {
    std::uint64_t rounds = rounds_of(exchange, context.method.chunk_bytes, context.me(exchange.group));
    check(MPI_Allreduce(MPI_IN_PLACE, &rounds, 1, MPI_UINT64_T, MPI_MAX, context.comm(exchange.group)),
          "MPI_Allreduce");
    return rounds;
}

std::vector<Chunk> cut_step(Operation const& operation, bool in_one_call, CompileContext const& context) {
    if (in_one_call) {
        return {whole(std::get<Exchange>(operation))};
    }
    auto const* exchange = std::get_if<Exchange>(&operation);
    std::uint64_t const rounds = exchange == nullptr ? 1 : agree_on_rounds(*exchange, context);
    GroupId const group = group_of(operation).value();
    return chunks_of(operation, {context.method.chunk_bytes, rounds, context.me(group), context.ranks(group)});
}

std::vector<MemoryCopy> copies(std::vector<BufferRange> const& ranges, Buffers const& to, Buffers const& from) {
    std::vector<MemoryCopy> result;
    result.reserve(ranges.size());
    for (BufferRange const& range : ranges) {
        result.push_back({to.base[range.buffer] + range.offset, from.base[range.buffer] + range.offset, range.bytes});
    }
    return result;
}

PreparedCall compile_staged(Operation const& operation, CompileContext const& context) {
    auto const* exchange = std::get_if<Exchange>(&operation);
    bool const in_one_call = exchange != nullptr && context.method.calls->whole_exchanges;
    CompileContext on_host = context;
    on_host.buffers = context.host_images;
    on_host.queues = nullptr;
    std::vector<StagedPart> parts;
    for (Chunk const& chunk : cut_step(operation, in_one_call, context)) {
        parts.push_back({copies(chunk.reads, *context.host_images, *context.buffers),
                         compile_by(*context.method.calls, chunk.call, on_host),
                         copies(chunk.writes, *context.buffers, *context.host_images),
                         {}});
    }
    SelfCopy self = exchange == nullptr || in_one_call
                        ? SelfCopy()
                        : SelfCopy(*exchange, *context.buffers, context.me(exchange->group), context.self_copy_queue());
    return PreparedCall(Staged(std::move(parts), std::move(self), context));
}

/// Its own knobs, and those of the method of its calls.
bool read_staged_knob(ChosenMethod& method, std::string_view knob, std::string_view value) {
    constexpr Bytes smallest_chunk = 4096;
    if (knob == "by") {
        method.calls = &find_direct_method(value);
    } else if (knob == "chunk") {
        method.chunk_bytes = parse_bytes(value, "--method staged:chunk");
        if (method.chunk_bytes < smallest_chunk) {
            throw UsageError(
                fmt::format("--method staged:chunk={}: expected at least {} bytes", value, smallest_chunk));
        }
    } else {
        return method.calls->read_knob != nullptr && method.calls->read_knob(method, knob, value);
    }
    return true;
}

}  // namespace

std::shared_ptr<Allocation> StagingBuffers::find(std::byte const* device, Bytes bytes) const {
    auto const image = images_.find(device);
    std::shared_ptr<Allocation> memory = image == images_.end() ? nullptr : image->second.lock();
    return memory != nullptr && memory->bytes() >= bytes ? memory : nullptr;
}

HostImages StagingBuffers::of(Plan const& plan, Buffers const& device, int local_ranks, std::string& why_not) {
    std::erase_if(images_, [](auto const& image) { return image.second.expired(); });
    Bytes missing = 0;
    for (BufferId id = 0; id < plan.buffers.size(); ++id) {
        missing += find(device.base[id], plan.buffers[id].bytes) ? 0 : with_room(plan.buffers[id].bytes);
    }
    Bytes const available = available_host_memory();
    if (available > 0 && missing * static_cast<Bytes>(local_ranks) > available) {
        why_not =
            fmt::format("needs {} of pinned host memory per rank, more than this node has free", human_bytes(missing));
        return {};
    }
    if (pinned_ == nullptr && (pinned_ = make_memory_space(MemoryKind::pinned, why_not)) == nullptr) {
        return {};
    }
    HostImages images;
    try {
        for (BufferId id = 0; id < plan.buffers.size(); ++id) {
            Bytes const bytes = plan.buffers[id].bytes;
            std::shared_ptr<Allocation> memory = find(device.base[id], bytes);
            if (memory == nullptr) {
                memory = std::make_shared<Allocation>(pinned_->allocate(with_room(bytes)));
                images_[device.base[id]] = memory;
            }
            images.host.base.push_back(memory->data());
            images.memory.push_back(std::move(memory));
        }
    } catch (Error const& error) {  // a limit on locked memory; every rank has to hear of it
        why_not = error.what();
        return {};
    }
    return images;
}

Bytes StagingBuffers::bytes() const {
    Bytes sum = 0;
    for (auto const& [device, image] : images_) {
        std::shared_ptr<Allocation> const memory = image.lock();
        sum += memory == nullptr ? 0 : memory->bytes();
    }
    return sum;
}

std::vector<std::shared_ptr<StagingTurn>> turns_of(Plan const& plan) {
    Precedence const precedence = precedence_of(plan);
    std::vector<std::shared_ptr<StagingTurn>> turns;
    for (std::vector<StepId> const& before : precedence.started) {
        turns.push_back(before.empty() ? std::make_shared<StagingTurn>() : turns[before.front()]);
    }
    return turns;
}

Method staged() {
    return {.info = {"staged", "memory of a device copied through pinned host memory, in chunks, for any of the others",
                     every_operation, "by=METHOD (of the native calls), chunk=BYTES (default 2M)"},
            .compile = compile_staged,
            .read_knob = read_staged_knob,
            .kind = MethodKind::staged};
}

}  // namespace dlmb::mpi
