// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dlrm_exchange/published.hpp"

namespace dlmb::dlrm_exchange {
namespace {

constexpr NamedNumbers rows[] = {
    {"mlperf-v1", "45833188+36746+17245+7413+20243+3+7114+1441+62+29275261+1572176+345138+10+2209+11267+128+4+974+14+"
                  "48937457+11316796+40094537+452104+12606+104+35"},
    {"dcnv2", "40000000+39060+17295+7424+20265+3+7122+1543+63+40000000+3067956+405282+10+2209+11938+155+4+976+14+"
              "40000000+40000000+40000000+590152+12973+108+36"},
};

constexpr NamedNumbers pooling[] = {
    {"dcnv2", "3+2+1+2+6+1+1+1+1+7+3+8+1+6+9+5+1+1+1+12+100+27+10+3+1+1"},
};

}  // namespace

std::span<NamedNumbers const> published_rows() {
    return rows;
}

std::span<NamedNumbers const> published_pooling() {
    return pooling;
}

}  // namespace dlmb::dlrm_exchange
