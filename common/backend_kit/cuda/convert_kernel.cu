// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Packing and unpacking by the device, bit for bit as the host does it (block_codec.hpp): the same arithmetic in fp32,
// rounded to nearest, without contraction. Threads that share a block of numbers, and so its scale, find the largest
// magnitude together, then each codes its numbers.
#include "common/backend_kit/cuda/block_codes.hpp"
#include "common/backend_kit/cuda/compute_work.hpp"
#include "common/memory/cuda/cuda_check.hpp"
#include "common/memory/memory_space.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace dlmb {
namespace {

using namespace block_codes;

constexpr unsigned warp = 32;
constexpr unsigned threads_per_block = 256;
constexpr std::uint64_t most_blocks = 4096;
constexpr unsigned everybody = 0xFFFFFFFFU;
constexpr unsigned numbers_per_thread = 8;  // of rows that are converted by vectors
constexpr Bytes vector_bytes = 16;

/// The numbers of one scale, and where they lie.
struct BlockPlace {
    unsigned char* numbers;
    unsigned char* codes;
    unsigned char* scale;
    unsigned count;
};

struct Job {
    DeviceRows const* rows;
    unsigned tables;
    std::uint64_t blocks;
    BlockFormat format;
    PackDirection direction;
};

/// The rows that hold a block.
__device__ DeviceRows const& table_of(std::uint64_t block, Job const& job) {
    unsigned low = 0;
    for (unsigned high = job.tables; high - low > 1;) {
        unsigned const middle = (low + high) / 2;
        (job.rows[middle].first_block <= block ? low : high) = middle;
    }
    return job.rows[low];
}

template <class Number>
__device__ BlockPlace place_of(std::uint64_t index, Job const& job) {
    BlockFormat const& format = job.format;
    DeviceRows const& table = table_of(index, job);
    std::uint64_t const per_row = format.blocks(table.row_numbers);
    std::uint64_t const row = (index - table.first_block) / per_row;
    std::uint64_t const block = (index - table.first_block) % per_row;
    std::uint64_t const first = block * format.block;
    unsigned char* const packed = table.packed + row * format.row_bytes(table.row_numbers);
    std::uint64_t const left = table.row_numbers - first;
    return {table.numbers + (row * table.row_numbers + first) * sizeof(typename Number::Storage),
            packed + format.code_bytes(first),
            packed + format.code_bytes(table.row_numbers) + block * format.scale_bytes(),
            static_cast<unsigned>(left < format.block ? left : format.block)};
}

template <class Code, class Number>
__device__ void pack_block(BlockPlace const& place, ScaleType type, unsigned lane) {
    constexpr unsigned bytes = sizeof(typename Number::Storage);
    float largest = 0;
    for (unsigned i = lane; i < place.count; i += warp) {
        largest = fmaxf(largest, fabsf(number_at<Number>(place.numbers + i * bytes)));
    }
    for (unsigned distance = warp / 2; distance > 0; distance /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(everybody, largest, distance));
    }
    Scale const scale = scale_for<Code>(largest, type);
    if (lane == 0) {
        put_scale(place.scale, scale.bits, type);
    }
    // All threads take part in each round: they hand codes to each other.
    for (unsigned first = 0; first < place.count; first += warp) {
        unsigned const i = first + lane;
        unsigned const code =
            i < place.count ? Code::encode(__fmul_rn(number_at<Number>(place.numbers + i * bytes), scale.inverse)) : 0;
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
    float const scale = scale_at(place.scale, type);
    for (unsigned i = lane; i < place.count; i += warp) {
        unsigned code = 0;
        if constexpr (Code::width == 4) {
            code = (static_cast<unsigned>(place.codes[i / 2]) >> (i % 2 * 4U)) & 0xFU;
        } else {
            code = place.codes[i];
        }
        Number::put(place.numbers + i * sizeof(typename Number::Storage), __fmul_rn(Code::decode(code), scale));
    }
}

/// Rows of any length at any address: a warp has a block.
struct ByBlocks {
    template <class Code, class Number>
    static __device__ void convert(Job const& job) {
        unsigned const lane = threadIdx.x % warp;
        std::uint64_t const warps = std::uint64_t{gridDim.x} * (blockDim.x / warp);
        std::uint64_t index = std::uint64_t{blockIdx.x} * (blockDim.x / warp) + threadIdx.x / warp;
        for (; index < job.blocks; index += warps) {
            BlockPlace const place = place_of<Number>(index, job);
            if (job.direction == PackDirection::pack) {
                pack_block<Code, Number>(place, job.format.scale, lane);
            } else {
                unpack_block<Code, Number>(place, job.format.scale, lane);
            }
        }
    }
};

/// A thread's numbers, and their codes.
template <class Number>
struct alignas(vector_bytes) Numbers {
    typename Number::Storage number[numbers_per_thread];
};
template <class Code>
struct alignas(Code::width) Codes {
    unsigned char byte[Code::width * numbers_per_thread / 8];
};

template <class Code, class Number>
struct ThreadPlace {
    Numbers<Number>* numbers;
    Codes<Code>* codes;
    unsigned char* scale;
    bool writes_scale;  // the first of a block's threads
};

/// `index`: of a thread's numbers among all. Rows hold fewer than 2^32 such.
template <class Code, class Number>
__device__ ThreadPlace<Code, Number> thread_place(std::uint64_t index, Job const& job, unsigned threads) {
    BlockFormat const& format = job.format;
    DeviceRows const& table = table_of(index / threads, job);
    auto const per_row = static_cast<unsigned>(table.row_numbers / numbers_per_thread);
    std::uint64_t const in_table = index - table.first_block * threads;
    bool const is_small = in_table <= 0xFFFFFFFFU;  // a division of 32 bits takes a quarter of the instructions
    std::uint64_t const row = is_small ? static_cast<unsigned>(in_table) / per_row : in_table / per_row;
    auto const place = static_cast<unsigned>(in_table - row * per_row);
    unsigned char* const packed = table.packed + row * format.row_bytes(table.row_numbers);
    return {reinterpret_cast<Numbers<Number>*>(table.numbers) + row * per_row + place,
            reinterpret_cast<Codes<Code>*>(packed) + place,
            packed + format.code_bytes(table.row_numbers) + place / threads * format.scale_bytes(),
            place % threads == 0};
}

/// Rows of whole blocks at aligned addresses: a thread has eight numbers, so that a warp has enough bytes on their way
/// to fill the memory's bandwidth.
struct ByVectors {
    template <class Code, class Number>
    static __device__ void convert(Job const& job) {
        unsigned const threads = job.format.block / numbers_per_thread;  // of a block; a power of two below 33
        std::uint64_t const all = job.blocks * threads;
        std::uint64_t const stride = std::uint64_t{gridDim.x} * blockDim.x;
        // The threads of a warp take as many turns: they hand each other magnitudes.
        for (std::uint64_t index = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
             index - threadIdx.x % warp < all; index += stride) {
            if (job.direction == PackDirection::pack) {
                pack<Code, Number>(index, all, job, threads);
            } else if (index < all) {
                unpack<Code>(thread_place<Code, Number>(index, job, threads), job.format.scale);
            }
        }
    }

private:
    template <class Code, class Number>
    static __device__ void pack(std::uint64_t index, std::uint64_t all, Job const& job, unsigned threads) {
        bool const has_numbers = index < all;
        auto const place = thread_place<Code, Number>(has_numbers ? index : all - 1, job, threads);
        Numbers<Number> const from = *place.numbers;
        float largest = 0;
        for (unsigned i = 0; i < numbers_per_thread; ++i) {
            largest = fmaxf(largest, fabsf(Number::decode(from.number[i])));
        }
        for (unsigned distance = threads / 2; distance > 0; distance /= 2) {
            largest = fmaxf(largest, __shfl_xor_sync(everybody, largest, distance));
        }
        if (!has_numbers) {
            return;
        }
        Scale const scale = scale_for<Code>(largest, job.format.scale);
        if (place.writes_scale) {
            put_scale(place.scale, scale.bits, job.format.scale);
        }
        Codes<Code> codes;
        constexpr unsigned per_byte = 8 / Code::width;
        for (unsigned i = 0; i < numbers_per_thread; i += per_byte) {
            unsigned byte = 0;
            for (unsigned k = 0; k < per_byte; ++k) {
                byte |= Code::encode(__fmul_rn(Number::decode(from.number[i + k]), scale.inverse)) << (k * Code::width);
            }
            codes.byte[i / per_byte] = static_cast<unsigned char>(byte);
        }
        *place.codes = codes;
    }

    template <class Code, class Number>
    static __device__ void unpack(ThreadPlace<Code, Number> const& place, ScaleType type) {
        Codes<Code> const codes = *place.codes;
        float const scale = scale_at(place.scale, type);
        Numbers<Number> to;
        constexpr unsigned per_byte = 8 / Code::width;
        for (unsigned i = 0; i < numbers_per_thread; ++i) {
            unsigned const code = (static_cast<unsigned>(codes.byte[i / per_byte]) >> (i % per_byte * Code::width)) &
                                  ((1U << Code::width) - 1U);
            to.number[i] = Number::encode(__fmul_rn(Code::decode(code), scale));
        }
        *place.numbers = to;
    }
};

template <class Way, class Code>
__device__ void convert(Job const& job, Element element) {
    switch (element) {
    case Element::bf16:
        return Way::template convert<Code, Bf16>(job);
    case Element::fp16:
        return Way::template convert<Code, Fp16>(job);
    default:
        return Way::template convert<Code, Fp32>(job);
    }
}

template <class Way>
__device__ void convert(Job const& job, Element element) {
    switch (job.format.code) {
    case Code::int4:
        return convert<Way, IntegerCode<4>>(job, element);
    case Code::int8:
        return convert<Way, IntegerCode<8>>(job, element);
    case Code::fp4:
        return convert<Way, FloatCode<1, 1, 4, 6>>(job, element);
    case Code::fp8:
        return convert<Way, FloatCode<3, 7, 8, 448>>(job, element);
    case Code::fp8_e5m2:
        return convert<Way, FloatCode<2, 15, 8, 57344>>(job, element);
    }
}

bool is_aligned(void const* address, std::uint64_t bytes) {
    return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

/// Whether ByVectors takes these rows.
bool takes_vectors(DeviceRows const& rows, BlockFormat const& format) {
    Bytes const codes = format.code_bytes(numbers_per_thread);
    return format.block <= numbers_per_thread * warp && rows.row_numbers % format.block == 0 &&
           rows.row_numbers / numbers_per_thread <= 0xFFFFFFFFU && is_aligned(rows.numbers, vector_bytes) &&
           is_aligned(rows.packed, codes) && format.row_bytes(rows.row_numbers) % codes == 0;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(threads_per_block)
    dlmb_convert_blocks(DeviceRows const* rows, unsigned tables, std::uint64_t blocks, BlockFormat format,
                        Element element, PackDirection direction) {
    convert<ByBlocks>({rows, tables, blocks, format, direction}, element);
}
extern "C" __global__ void __launch_bounds__(threads_per_block)
    dlmb_convert_vectors(DeviceRows const* rows, unsigned tables, std::uint64_t blocks, BlockFormat format,
                         Element element, PackDirection direction) {
    convert<ByVectors>({rows, tables, blocks, format, direction}, element);
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
            by_vectors_ = by_vectors_ && takes_vectors(rows.back(), format_);
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
    std::uint64_t const threads = blocks_ * (by_vectors_ ? format_.block / numbers_per_thread : warp);
    std::uint64_t const wanted = (threads + threads_per_block - 1) / threads_per_block;
    auto* const kernel = by_vectors_ ? dlmb_convert_vectors : dlmb_convert_blocks;
    kernel<<<static_cast<unsigned>(std::min(most_blocks, wanted)), threads_per_block, 0, stream>>>(
        reinterpret_cast<DeviceRows const*>(table_.data()), tables_, blocks_, format_, element_, direction_);
    check(cudaGetLastError(), by_vectors_ ? "dlmb_convert_vectors" : "dlmb_convert_blocks");
}

}  // namespace dlmb
