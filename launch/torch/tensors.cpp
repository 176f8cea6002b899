// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/torch/tensors.hpp"

#include <ATen/ATen.h>
#include <algorithm>
#include <iterator>

namespace dlmb::torch {

void require_host(at::Tensor const& tensor, char const* operation) {
    TORCH_CHECK(tensor.layout() == at::kStrided && !tensor.is_quantized(), "dlmb: ", operation,
                ": the tensor is sparse or quantized; give a dense one");
    TORCH_CHECK(tensor.device().is_cpu(), "dlmb: ", operation, ": the tensor is on ", tensor.device(),
                "; this process group takes tensors in host memory");
}

at::Tensor& only(Tensors& tensors, char const* operation) {
    TORCH_CHECK(tensors.size() == 1, "dlmb: ", operation, ": ", tensors.size(), " tensors; a process has one");
    require_host(tensors.front(), operation);
    return tensors.front();
}

Tensors& only(std::vector<Tensors>& lists, std::size_t size, at::Tensor const& like, char const* operation) {
    TORCH_CHECK(lists.size() == 1 && lists.front().size() == size, "dlmb: ", operation, ": expected one list of ", size,
                " tensors, one per rank");
    for (at::Tensor const& each : lists.front()) {
        require_host(each, operation);
        TORCH_CHECK(each.scalar_type() == like.scalar_type() && each.numel() == like.numel(), "dlmb: ", operation,
                    ": a tensor of ", each.numel(), " ", each.scalar_type(), " beside one of ", like.numel(), " ",
                    like.scalar_type(), "; all have to be equal");
    }
    return lists.front();
}

void require_parts(at::Tensor const& whole, at::Tensor const& part, int ranks, char const* operation) {
    require_host(whole, operation);
    require_host(part, operation);
    TORCH_CHECK(whole.scalar_type() == part.scalar_type() && whole.numel() == part.numel() * ranks, "dlmb: ", operation,
                ": ", whole.numel(), " ", whole.scalar_type(), " are not ", ranks, " times ", part.numel(), " ",
                part.scalar_type());
}

at::Tensor packed(at::Tensor const& tensor) {
    return tensor.is_contiguous() ? tensor : tensor.contiguous();
}

void deliver(at::Tensor const& packed, at::Tensor const& tensor) {
    if (!packed.is_same(tensor)) {
        tensor.copy_(packed);
    }
}

at::Tensor joined(Tensors const& tensors) {
    Tensors flat;
    std::transform(tensors.begin(), tensors.end(), std::back_inserter(flat),
                   [](at::Tensor const& each) { return each.reshape({-1}); });
    return at::cat(flat);
}

void deliver_parts(at::Tensor const& flat, Tensors const& tensors) {
    int64_t first = 0;
    for (at::Tensor const& each : tensors) {
        each.copy_(flat.narrow(0, first, each.numel()).view(each.sizes()));
        first += each.numel();
    }
}

Bytes bytes_of(at::Tensor const& tensor) {
    return static_cast<Bytes>(tensor.numel()) * static_cast<Bytes>(tensor.element_size());
}

std::optional<Element> element_of(at::ScalarType type) {
    switch (type) {
    case at::kByte:
        return Element::byte;
    case at::kChar:
        return Element::int8;
    case at::kInt:
        return Element::int32;
    case at::kLong:
        return Element::int64;
    case at::kHalf:
        return Element::fp16;
    case at::kBFloat16:
        return Element::bf16;
    case at::kFloat:
        return Element::fp32;
    case at::kDouble:
        return Element::fp64;
    default:
        return std::nullopt;
    }
}

Element moved_as(at::ScalarType type) {
    return element_of(type).value_or(Element::byte);
}

std::optional<Reduction> reduction_of(c10d::ReduceOp const& reduction) {
    switch (static_cast<c10d::ReduceOp::RedOpType>(reduction)) {
    case c10d::ReduceOp::SUM:
    case c10d::ReduceOp::AVG:
        return Reduction::sum;
    case c10d::ReduceOp::PRODUCT:
        return Reduction::prod;
    case c10d::ReduceOp::MIN:
        return Reduction::min;
    case c10d::ReduceOp::MAX:
        return Reduction::max;
    default:
        return std::nullopt;
    }
}

namespace {

bool is_average(c10d::ReduceOp const& reduction) {
    return static_cast<c10d::ReduceOp::RedOpType>(reduction) == c10d::ReduceOp::AVG;
}

}  // namespace

void require_reducible(at::Tensor const& tensor, c10d::ReduceOp const& reduction, char const* operation) {
    TORCH_CHECK(element_of(tensor.scalar_type()), "dlmb: ", operation, ": ", tensor.scalar_type(),
                " cannot be reduced; uint8, int8, int32, int64, float16, bfloat16, float32 and float64 can");
    TORCH_CHECK(reduction_of(reduction), "dlmb: ", operation,
                ": this reduction is not offered; SUM, AVG, PRODUCT, MIN and MAX are");
    TORCH_CHECK(!is_average(reduction) || tensor.is_floating_point(), "dlmb: ", operation,
                ": AVG takes floating-point tensors, this one is ", tensor.scalar_type());
}

void average(at::Tensor const& sum, c10d::ReduceOp const& reduction, int ranks) {
    if (is_average(reduction)) {
        sum.div_(ranks);
    }
}

}  // namespace dlmb::torch
