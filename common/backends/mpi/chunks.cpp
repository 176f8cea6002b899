// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/chunks.hpp"

#include <algorithm>
#include <tuple>

namespace dlmb::mpi {
namespace {

void append(BufferRange const& range, std::vector<BufferRange>& ranges) {
    if (range.bytes > 0) {
        ranges.push_back(range);
    }
}

std::vector<BufferRange> joined(std::vector<BufferRange> ranges) {
    std::sort(ranges.begin(), ranges.end(), [](BufferRange const& a, BufferRange const& b) {
        return std::tie(a.buffer, a.offset) < std::tie(b.buffer, b.offset);
    });
    std::vector<BufferRange> result;
    for (BufferRange const& range : ranges) {
        bool const touches = !result.empty() && result.back().buffer == range.buffer &&
                             result.back().offset + result.back().bytes == range.offset;
        if (touches) {
            result.back().bytes += range.bytes;
        } else {
            result.push_back(range);
        }
    }
    return result;
}

std::vector<BufferRange> ranges_of(std::vector<Block> const& blocks, BufferId buffer) {
    std::vector<BufferRange> ranges;
    for (Block const& block : blocks) {
        append({buffer, block.offset, block.bytes}, ranges);
    }
    return joined(std::move(ranges));
}

/// The rest of a block of `bytes` from `first` on, at most `chunk`.
Bytes piece(Bytes bytes, Bytes first, Bytes chunk) {
    return first < bytes ? std::min(chunk, bytes - first) : 0;
}

std::vector<Block> cut_blocks(std::vector<Block> const& blocks, Bytes first, Cutting const& cut) {
    std::vector<Block> result;
    for (Block const& block : blocks) {
        Bytes const bytes = piece(block.bytes, first, cut.chunk_bytes);
        if (bytes > 0 && block.peer != cut.me) {
            result.push_back({block.peer, block.offset + first, bytes});
        }
    }
    return result;
}

/// `make(first, size)` for the pieces of `bytes`; one piece when there is none.
template <class Make>
std::vector<Chunk> pieces(Bytes bytes, Bytes chunk, Make make) {
    std::vector<Chunk> chunks;
    Bytes first = 0;
    do {
        chunks.push_back(make(first, piece(bytes, first, chunk)));
        first += chunk;
    } while (first < bytes);
    return chunks;
}

/// The same for every message of a window, one after the other.
template <class Make>
std::vector<Chunk> pieces_of_window(MessageWindow const& window, Bytes bytes, Bytes chunk, Make make) {
    std::vector<Chunk> chunks;
    for (Bytes message = 0; message < window.messages; ++message) {
        Bytes const begin = message * window.stride;
        for (Chunk& each : pieces(bytes, chunk, [&](Bytes first, Bytes size) { return make(begin + first, size); })) {
            chunks.push_back(std::move(each));
        }
    }
    return chunks;
}

Bytes whole_elements(Bytes chunk, Element element) {
    return std::max<Bytes>(1, chunk / size_of(element)) * size_of(element);
}

struct ChunksOfStep {
    Cutting const& cut;

    std::vector<Chunk> operator()(Exchange const& step) const {
        std::vector<Chunk> chunks;
        for (std::uint64_t round = 0; round < cut.rounds; ++round) {
            Bytes const first = round * cut.chunk_bytes;
            chunks.push_back(whole({step.group, step.send_buffer, step.recv_buffer, cut_blocks(step.send, first, cut),
                                    cut_blocks(step.recv, first, cut)}));
        }
        return chunks;
    }
    std::vector<Chunk> operator()(Send const& step) const {
        return pieces_of_window(step.window, step.to.bytes, cut.chunk_bytes, [&](Bytes first, Bytes bytes) -> Chunk {
            Send part = step;
            part.to = {step.to.peer, step.to.offset + first, bytes};
            part.window = {};
            return {part, ranges_of({part.to}, step.buffer), {}};
        });
    }
    std::vector<Chunk> operator()(Recv const& step) const {
        return pieces_of_window(step.window, step.from.bytes, cut.chunk_bytes, [&](Bytes first, Bytes bytes) -> Chunk {
            Recv part = step;
            part.from = {step.from.peer, step.from.offset + first, bytes};
            part.window = {};
            return {part, {}, ranges_of({part.from}, step.buffer)};
        });
    }
    std::vector<Chunk> operator()(Collective const& step) const {
        if (has_parts(step.kind)) {
            return {moved(step)};
        }
        return pieces(step.bytes, whole_elements(cut.chunk_bytes, step.element), [&](Bytes first, Bytes bytes) {
            Collective part = step;
            part.send.offset += first;
            part.recv.offset += first;
            part.bytes = bytes;
            return moved(std::move(part));
        });
    }
    /// A barrier; the others are never staged.
    std::vector<Chunk> operator()(auto const& step) const { return {{step, {}, {}}}; }

private:
    [[nodiscard]] Chunk moved(Collective step) const {
        CollectiveSides const sides = sides_of(step, cut.me, static_cast<Bytes>(cut.ranks));
        Chunk chunk;
        append({step.send.buffer, step.send.offset, sides.sent}, chunk.reads);
        append({step.recv.buffer, step.recv.offset, sides.received}, chunk.writes);
        chunk.call = std::move(step);
        return chunk;
    }
};

}  // namespace

std::uint64_t rounds_of(Exchange const& exchange, Bytes chunk_bytes, int me) {
    Bytes largest = 1;
    for (auto const* side : {&exchange.send, &exchange.recv}) {
        for (Block const& block : *side) {
            largest = std::max(largest, block.peer == me ? 1 : block.bytes);
        }
    }
    return (largest - 1) / chunk_bytes + 1;
}

std::vector<Chunk> chunks_of(Operation const& operation, Cutting const& cut) {
    return std::visit(ChunksOfStep{cut}, operation);
}

Chunk whole(Exchange const& exchange) {
    return {exchange, ranges_of(exchange.send, exchange.send_buffer), ranges_of(exchange.recv, exchange.recv_buffer)};
}

}  // namespace dlmb::mpi
