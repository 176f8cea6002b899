// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The kernels have C names: what runs is found by name in profiles, and by the test double of the CUDA runtime.
#include "common/memory/cuda/cuda_check.hpp"
#include "common/memory/cuda/kernels.hpp"

#include <algorithm>

namespace dlmb {
namespace {

using Word = std::uint64_t;
constexpr unsigned threads_per_block = 256;
constexpr Bytes most_blocks = 4096;
constexpr Bytes vector_bytes = sizeof(ulonglong2);

/// The eight bytes of the stream that begin at byte `offset`.
__device__ Word stream_word(PayloadKey key, Bytes start, Bytes offset) {
    Word const first = payload_word(key, start + offset / sizeof(Word));
    auto const shift = static_cast<unsigned>(offset % sizeof(Word)) * 8U;
    return shift == 0 ? first
                      : (first >> shift) | (payload_word(key, start + offset / sizeof(Word) + 1) << (64U - shift));
}

/// Bytes in front of the first address that vectors may be stored to.
__device__ Bytes head_of(void const* data, Bytes bytes) {
    Bytes const head = (vector_bytes - reinterpret_cast<Word>(data) % vector_bytes) % vector_bytes;
    return head < bytes ? head : bytes;
}

__device__ Bytes thread_number() {
    return Bytes{blockIdx.x} * blockDim.x + threadIdx.x;
}

__device__ Bytes thread_count() {
    return Bytes{gridDim.x} * blockDim.x;
}

__device__ unsigned char byte_of(PayloadKey key, Bytes start, Bytes offset) {
    return static_cast<unsigned char>(stream_word(key, start, offset));
}

__device__ void note_difference(Word difference, Bytes offset, unsigned long long* first_wrong) {
    if (difference != 0) {
        atomicMin(first_wrong, offset + static_cast<unsigned>(__ffsll(static_cast<long long>(difference)) - 1) / 8U);
    }
}

unsigned blocks_for(Bytes bytes) {
    Bytes const vectors = bytes / vector_bytes + 1;
    return static_cast<unsigned>(std::min(most_blocks, (vectors + threads_per_block - 1) / threads_per_block));
}

}  // namespace

extern "C" __global__ void dlmb_payload_fill(unsigned char* data, Bytes bytes, PayloadKey key, Bytes start) {
    Bytes const head = head_of(data, bytes);
    Bytes const vectors = (bytes - head) / vector_bytes;
    auto* const body = reinterpret_cast<ulonglong2*>(data + head);
    for (Bytes i = thread_number(); i < vectors; i += thread_count()) {
        Bytes const offset = head + i * vector_bytes;
        body[i] = {stream_word(key, start, offset), stream_word(key, start, offset + sizeof(Word))};
    }
    Bytes const edge = thread_number();
    if (edge < head) {
        data[edge] = byte_of(key, start, edge);
    }
    Bytes const tail = head + vectors * vector_bytes + edge;
    if (tail < bytes) {
        data[tail] = byte_of(key, start, tail);
    }
}

extern "C" __global__ void dlmb_payload_check(unsigned char const* data, Bytes bytes, PayloadKey key, Bytes start,
                                              unsigned long long* first_wrong) {
    Bytes const head = head_of(data, bytes);
    Bytes const vectors = (bytes - head) / vector_bytes;
    auto const* const body = reinterpret_cast<ulonglong2 const*>(data + head);
    for (Bytes i = thread_number(); i < vectors; i += thread_count()) {
        ulonglong2 const found = body[i];
        Bytes const offset = head + i * vector_bytes;
        note_difference(found.x ^ stream_word(key, start, offset), offset, first_wrong);
        note_difference(found.y ^ stream_word(key, start, offset + sizeof(Word)), offset + sizeof(Word), first_wrong);
    }
    Bytes const edge = thread_number();
    if (edge < head && data[edge] != byte_of(key, start, edge)) {
        atomicMin(first_wrong, edge);
    }
    Bytes const tail = head + vectors * vector_bytes + edge;
    if (tail < bytes && data[tail] != byte_of(key, start, tail)) {
        atomicMin(first_wrong, tail);
    }
}

void queue_fill(std::byte* data, Bytes bytes, PayloadKey key, Bytes start, cudaStream_t stream) {
    if (bytes > 0) {
        dlmb_payload_fill<<<blocks_for(bytes), threads_per_block, 0, stream>>>(reinterpret_cast<unsigned char*>(data),
                                                                               bytes, key, start);
        check(cudaGetLastError(), "dlmb_payload_fill");
    }
}

void queue_check(std::byte const* data, Bytes bytes, PayloadKey key, Bytes start, unsigned long long* first_wrong,
                 cudaStream_t stream) {
    if (bytes > 0) {
        dlmb_payload_check<<<blocks_for(bytes), threads_per_block, 0, stream>>>(
            reinterpret_cast<unsigned char const*>(data), bytes, key, start, first_wrong);
        check(cudaGetLastError(), "dlmb_payload_check");
    }
}

}  // namespace dlmb
