// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Packing and unpacking by the device, bit for bit as the host does it (block_codec.hpp): the same arithmetic in fp32,
// rounded to nearest, without contraction. A warp has a block of numbers that share a scale: it finds the largest
// magnitude, then each thread codes every 32nd number. Of two codes in a byte the neighbour hands over the second.
#include "common/backend_kit/cuda/compute_work.hpp"
#include "common/backend_kit/cuda/store_code.hpp"
#include "common/memory/cuda/cuda_check.hpp"
#include "common/memory/memory_space.hpp"

#include <algorithm>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector>

namespace dlmb {
namespace {

constexpr unsigned warp = 32;
constexpr unsigned threads_per_block = 256;
constexpr std::uint64_t most_blocks = 4096;
constexpr unsigned everybody = 0xFFFFFFFFU;

template <unsigned bits>
struct IntegerCode {
    static constexpr unsigned width = bits;
    static constexpr float largest = static_cast<float>((1U << (bits - 1U)) - 1U);
    static __device__ unsigned encode(float scaled) {
        return static_cast<unsigned>(__float2int_rn(scaled)) & ((1U << bits) - 1U);
    }
    static __device__ float decode(unsigned code) {
        return static_cast<float>(static_cast<int>(code << (32U - bits)) >> (32U - bits));
    }
};

/// As FloatCode of the host's loops.
template <unsigned mantissa, unsigned bias, unsigned bits, unsigned largest_number>
struct FloatCode {
    static constexpr unsigned width = bits;
    static constexpr float largest = static_cast<float>(largest_number);
    static constexpr unsigned sign_bit = 1U << (bits - 1U);
    static constexpr unsigned smallest_normal = (128U - bias) << 23U;

    static __device__ unsigned encode(float scaled) {
        unsigned const all = __float_as_uint(scaled);
        unsigned const exponent = max(all & 0x7F800000U, smallest_normal);
        unsigned const unit = exponent + ((23U - mantissa) << 23U);
        unsigned const steps =
            __float_as_uint(__fadd_rn(__uint_as_float(all & 0x7FFFFFFFU), __uint_as_float(unit))) - unit;
        unsigned const code = steps + ((exponent - smallest_normal) >> (23U - mantissa));
        return code | ((all >> (32U - bits)) & sign_bit);
    }
    static __device__ float decode(unsigned code) {
        unsigned const magnitude = code & (sign_bit - 1U);
        unsigned const below = magnitude << (23U - mantissa);
        float const subnormal = __fsub_rn(__uint_as_float(below + smallest_normal), __uint_as_float(smallest_normal));
        float const normal = __uint_as_float(below + smallest_normal - (1U << 23U));
        float const value = magnitude < (1U << mantissa) ? subnormal : normal;
        return (code & sign_bit) != 0 ? -value : value;
    }
};

struct Bf16 {
    static constexpr unsigned bytes = 2;
    static __device__ float load(unsigned char const* from) {
        __nv_bfloat16 stored;
        memcpy(&stored, from, sizeof stored);
        return __bfloat162float(stored);
    }
    static __device__ void store(unsigned char* to, float value) {
        store_code(to, __bfloat16_as_ushort(__float2bfloat16_rn(value)));
    }
};
struct Fp16 {
    static constexpr unsigned bytes = 2;
    static __device__ float load(unsigned char const* from) {
        __half stored;
        memcpy(&stored, from, sizeof stored);
        return __half2float(stored);
    }
    static __device__ void store(unsigned char* to, float value) {
        constexpr float largest = 65504;
        store_code(to, __half_as_ushort(__float2half_rn(fminf(fmaxf(value, -largest), largest))));
    }
};
struct Fp32 {
    static constexpr unsigned bytes = 4;
    static __device__ float load(unsigned char const* from) {
        float stored;
        memcpy(&stored, from, sizeof stored);
        return stored;
    }
    static __device__ void store(unsigned char* to, float value) { memcpy(to, &value, sizeof value); }
};

/// The numbers of one scale, and where they lie.
struct BlockPlace {
    unsigned char* numbers;
    unsigned char* codes;
    unsigned char* scale;
    unsigned count;
};

template <class Number>
__device__ BlockPlace place_of(std::uint64_t index, DeviceRows const* rows, unsigned tables,
                               BlockFormat const& format) {
    unsigned low = 0;
    for (unsigned high = tables; high - low > 1;) {
        unsigned const middle = (low + high) / 2;
        (rows[middle].first_block <= index ? low : high) = middle;
    }
    DeviceRows const& table = rows[low];
    std::uint64_t const per_row = format.blocks(table.row_numbers);
    std::uint64_t const row = (index - table.first_block) / per_row;
    std::uint64_t const block = (index - table.first_block) % per_row;
    std::uint64_t const first = block * format.block;
    unsigned char* const packed = table.packed + row * format.row_bytes(table.row_numbers);
    std::uint64_t const left = table.row_numbers - first;
    return {table.numbers + (row * table.row_numbers + first) * Number::bytes, packed + format.code_bytes(first),
            packed + format.code_bytes(table.row_numbers) + block * format.scale_bytes(),
            static_cast<unsigned>(left < format.block ? left : format.block)};
}

template <class Code, class Number>
__device__ void pack_block(BlockPlace const& place, ScaleType type, unsigned lane) {
    float largest = 0;
    for (unsigned i = lane; i < place.count; i += warp) {
        largest = fmaxf(largest, fabsf(Number::load(place.numbers + i * Number::bytes)));
    }
    for (unsigned distance = warp / 2; distance > 0; distance /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(everybody, largest, distance));
    }
    unsigned bits = __float_as_uint(__fdiv_rn(largest, Code::largest));
    bool const zero = bits < (1U << 23U);
    bits = zero ? 0 : type == ScaleType::e8m0 ? (bits + 0x7FFFFFU) & 0x7F800000U : bits;
    float const inverse = zero ? 0 : __fdiv_rn(1.0F, __uint_as_float(bits));
    if (lane == 0) {
        if (type == ScaleType::e8m0) {
            *place.scale = static_cast<unsigned char>(bits >> 23U);
        } else {
            memcpy(place.scale, &bits, sizeof bits);
        }
    }
    // All threads take part in each round: they hand codes to each other.
    for (unsigned first = 0; first < place.count; first += warp) {
        unsigned const i = first + lane;
        unsigned const code =
            i < place.count ? Code::encode(__fmul_rn(Number::load(place.numbers + i * Number::bytes), inverse)) : 0;
        if constexpr (Code::width == 4) {
            unsigned const next = __shfl_down_sync(everybody, code, 1);
            if (i < place.count && i % 2 == 0) {
                place.codes[i / 2] = static_cast<unsigned char>(code | (next << 4U));
            }
        } else if (i < place.count) {
            place.codes[i] = static_cast<unsigned char>(code);
        }
    }
}

template <class Code, class Number>
__device__ void unpack_block(BlockPlace const& place, ScaleType type, unsigned lane) {
    float scale = 0;
    if (type == ScaleType::e8m0) {
        scale = __uint_as_float(static_cast<unsigned>(*place.scale) << 23U);
    } else {
        memcpy(&scale, place.scale, sizeof scale);
    }
    for (unsigned i = lane; i < place.count; i += warp) {
        unsigned code = 0;
        if constexpr (Code::width == 4) {
            code = (static_cast<unsigned>(place.codes[i / 2]) >> (i % 2 * 4U)) & 0xFU;
        } else {
            code = place.codes[i];
        }
        Number::store(place.numbers + i * Number::bytes, __fmul_rn(Code::decode(code), scale));
    }
}

struct Job {
    DeviceRows const* rows;
    unsigned tables;
    std::uint64_t blocks;
    BlockFormat format;
    PackDirection direction;
};

template <class Code, class Number>
__device__ void convert(Job const& job) {
    unsigned const lane = threadIdx.x % warp;
    std::uint64_t const warps = std::uint64_t{gridDim.x} * (blockDim.x / warp);
    std::uint64_t index = std::uint64_t{blockIdx.x} * (blockDim.x / warp) + threadIdx.x / warp;
    for (; index < job.blocks; index += warps) {
        BlockPlace const place = place_of<Number>(index, job.rows, job.tables, job.format);
        if (job.direction == PackDirection::pack) {
            pack_block<Code, Number>(place, job.format.scale, lane);
        } else {
            unpack_block<Code, Number>(place, job.format.scale, lane);
        }
    }
}

template <class Code>
__device__ void convert(Job const& job, Element element) {
    switch (element) {
    case Element::bf16:
        return convert<Code, Bf16>(job);
    case Element::fp16:
        return convert<Code, Fp16>(job);
    default:
        return convert<Code, Fp32>(job);
    }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(threads_per_block)
    dlmb_convert(DeviceRows const* rows, unsigned tables, std::uint64_t blocks, BlockFormat format, Element element,
                 PackDirection direction) {
    Job const job{rows, tables, blocks, format, direction};
    switch (format.code) {
    case Code::int4:
        return convert<IntegerCode<4>>(job, element);
    case Code::int8:
        return convert<IntegerCode<8>>(job, element);
    case Code::fp4:
        return convert<FloatCode<1, 1, 4, 6>>(job, element);
    case Code::fp8:
        return convert<FloatCode<3, 7, 8, 448>>(job, element);
    case Code::fp8_e5m2:
        return convert<FloatCode<2, 15, 8, 57344>>(job, element);
    }
}

DeviceConversion::DeviceConversion(Conversion const& conversion, Buffers const& buffers)
    : direction_(conversion.direction), format_(conversion.format), element_(conversion.element) {
    std::vector<DeviceRows> rows;
    for (RowBlock const& block : conversion.blocks) {
        if (block.rows > 0 && block.row_numbers > 0) {
            rows.push_back({reinterpret_cast<unsigned char*>(buffers.base.at(conversion.numbers) + block.numbers),
                            reinterpret_cast<unsigned char*>(buffers.base.at(conversion.packed) + block.packed),
                            block.row_numbers, blocks_});
            blocks_ += block.rows * format_.blocks(block.row_numbers);
        }
    }
    tables_ = static_cast<std::uint32_t>(rows.size());
    if (tables_ > 0) {
        table_ = allocate_on_device(rows.size() * sizeof(DeviceRows));
        check(cudaMemcpy(table_.data(), rows.data(), rows.size() * sizeof(DeviceRows), cudaMemcpyHostToDevice),
              "cudaMemcpy");
    }
}

void DeviceConversion::queue(cudaStream_t stream) const {
    if (blocks_ == 0) {
        return;
    }
    std::uint64_t const wanted = (blocks_ * warp + threads_per_block - 1) / threads_per_block;
    dlmb_convert<<<static_cast<unsigned>(std::min(most_blocks, wanted)), threads_per_block, 0, stream>>>(
        reinterpret_cast<DeviceRows const*>(table_.data()), tables_, blocks_, format_, element_, direction_);
    check(cudaGetLastError(), "dlmb_convert");
}

}  // namespace dlmb
