// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One kernel for all types and reductions: the branch is the same for every thread and taken once. Narrow floats are
// computed in float and rounded at every call, as on the host, with the conversions of the hardware.
#include "common/backend_kit/cuda/store_code.hpp"
#include "common/backend_kit/device_reduction.hpp"
#include "common/backend_kit/element_codec.hpp"
#include "common/memory/cuda/cuda_check.hpp"

#include <algorithm>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

namespace dlmb {
namespace {

constexpr unsigned threads_per_block = 512;
constexpr Bytes most_blocks = 2048;
constexpr Bytes vector_bytes = 16;

template <class T>
struct Plain {
    using Storage = T;
    static __device__ T load(T stored) { return stored; }
    static __device__ T store(T value) { return value; }
    static __device__ void put(unsigned char* to, T value) { memcpy(to, &value, sizeof value); }
};
struct Bf16 {
    using Storage = __nv_bfloat16;
    static __device__ float load(Storage stored) { return __bfloat162float(stored); }
    static __device__ Storage store(float value) { return __float2bfloat16_rn(value); }
    static __device__ void put(unsigned char* to, Storage value) { store_code(to, __bfloat16_as_ushort(value)); }
};
struct Fp16 {
    using Storage = __half;
    static __device__ float load(Storage stored) { return __half2float(stored); }
    static __device__ Storage store(float value) { return __float2half_rn(value); }
    static __device__ void put(unsigned char* to, Storage value) { store_code(to, __half_as_ushort(value)); }
};
struct Fp8 {
    using Storage = __nv_fp8_storage_t;
    static __device__ float load(Storage stored) {
        return __half2float(__half(__nv_cvt_fp8_to_halfraw(stored, __NV_E4M3)));
    }
    static __device__ Storage store(float value) { return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3); }
    static __device__ void put(unsigned char* to, Storage value) { *to = value; }
};

template <class Codec, class Combine>
__device__ typename Codec::Storage combined(typename Codec::Storage a, typename Codec::Storage b, Combine combine) {
    return Codec::store(combine(Codec::load(a), Codec::load(b)));
}

template <class Storage>
struct alignas(vector_bytes) Vector {
    Storage element[vector_bytes / sizeof(Storage)];
};

/// `to` may be an operand, so none of the three is declared restrict; every thread loads all it needs before it stores.
template <class Codec, class Combine>
__device__ void fold_vectors(void* to, void const* left, void const* right, Bytes vectors, Combine combine) {
    using Storage = typename Codec::Storage;
    auto* const result = static_cast<Vector<Storage>*>(to);
    auto const* const a = static_cast<Vector<Storage> const*>(left);
    auto const* const b = static_cast<Vector<Storage> const*>(right);
    for (Bytes i = Bytes{blockIdx.x} * blockDim.x + threadIdx.x; i < vectors; i += Bytes{gridDim.x} * blockDim.x) {
        Vector<Storage> const from_left = a[i];
        Vector<Storage> const from_right = b[i];
        Vector<Storage> folded;
        for (Bytes k = 0; k < vector_bytes / sizeof(Storage); ++k) {
            folded.element[k] = combined<Codec>(from_left.element[k], from_right.element[k], combine);
        }
        result[i] = folded;
    }
}

/// Elements that no vector reaches, byte by byte: they may lie anywhere.
template <class Codec, class Combine>
__device__ void fold_elements(unsigned char* to, unsigned char const* left, unsigned char const* right, Bytes count,
                              Combine combine) {
    using Storage = typename Codec::Storage;
    for (Bytes i = Bytes{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += Bytes{gridDim.x} * blockDim.x) {
        Storage a;
        Storage b;
        memcpy(&a, left + i * sizeof a, sizeof a);
        memcpy(&b, right + i * sizeof b, sizeof b);
        Codec::put(to + i * sizeof a, combined<Codec>(a, b, combine));
    }
}

template <class Codec, class Combine>
__device__ void fold(unsigned char* to, unsigned char const* left, unsigned char const* right, Bytes bytes,
                     Combine combine) {
    auto const addresses = reinterpret_cast<Bytes>(to) | reinterpret_cast<Bytes>(left) | reinterpret_cast<Bytes>(right);
    Bytes const vectors = addresses % vector_bytes == 0 ? bytes / vector_bytes : 0;
    fold_vectors<Codec>(to, left, right, vectors, combine);
    Bytes const done = vectors * vector_bytes;
    fold_elements<Codec>(to + done, left + done, right + done, (bytes - done) / sizeof(typename Codec::Storage),
                         combine);
}

template <class Codec>
__device__ void fold(unsigned char* to, unsigned char const* left, unsigned char const* right, Bytes bytes,
                     Reduction reduction) {
    switch (reduction) {
    case Reduction::sum:
        return fold<Codec>(to, left, right, bytes, combine::Sum{});
    case Reduction::prod:
        return fold<Codec>(to, left, right, bytes, combine::Product{});
    case Reduction::min:
        return fold<Codec>(to, left, right, bytes, combine::Least{});
    case Reduction::max:
        return fold<Codec>(to, left, right, bytes, combine::Greatest{});
    }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(threads_per_block)
    dlmb_reduce(unsigned char* to, unsigned char const* left, unsigned char const* right, Bytes bytes, Element element,
                Reduction reduction) {
    switch (element) {
    case Element::byte:
        return fold<Plain<std::uint8_t>>(to, left, right, bytes, reduction);
    case Element::int8:
        return fold<Plain<std::int8_t>>(to, left, right, bytes, reduction);
    case Element::int32:
        return fold<Plain<std::int32_t>>(to, left, right, bytes, reduction);
    case Element::int64:
        return fold<Plain<std::int64_t>>(to, left, right, bytes, reduction);
    case Element::fp8:
        return fold<Fp8>(to, left, right, bytes, reduction);
    case Element::fp16:
        return fold<Fp16>(to, left, right, bytes, reduction);
    case Element::bf16:
        return fold<Bf16>(to, left, right, bytes, reduction);
    case Element::fp32:
        return fold<Plain<float>>(to, left, right, bytes, reduction);
    case Element::fp64:
        return fold<Plain<double>>(to, left, right, bytes, reduction);
    }
}

void device_reduce(DeviceQueue const& queue, std::byte* to, std::byte const* left, std::byte const* right, Bytes bytes,
                   Element element, Reduction reduction) {
    if (bytes == 0) {
        return;
    }
    Bytes const blocks = (bytes / vector_bytes + threads_per_block) / threads_per_block;
    dlmb_reduce<<<static_cast<unsigned>(std::min(most_blocks, blocks)), threads_per_block, 0,
                  stream_of(queue.native())>>>(
        reinterpret_cast<unsigned char*>(to), reinterpret_cast<unsigned char const*>(left),
        reinterpret_cast<unsigned char const*>(right), bytes, element, reduction);
    check(cudaGetLastError(), "dlmb_reduce");
}

}  // namespace dlmb
