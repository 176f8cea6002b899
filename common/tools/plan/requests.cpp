// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/plan/requests.hpp"

#include "common/base/error.hpp"
#include "common/base/row_named.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace dlmb::trace {
namespace {

/// The cache of one prompt on its way from prefill to decode.
struct CacheTransfer {
    double arrival_s = 0;
    Bytes bytes = 0;
};

constexpr Bytes page_tokens = 16;  // of vLLM and NIXL's kvbench

// From the config.json that each model is published with.
constexpr std::array models{
    CacheModel{"llama3.1-8b", "32 layers, 8 KV heads of 128", 32, Bytes{2} * 8 * 128},
    CacheModel{"mixtral-8x7b", "32 layers, 8 KV heads of 128", 32, Bytes{2} * 8 * 128},
    CacheModel{"llama3.1-70b", "80 layers, 8 KV heads of 128", 80, Bytes{2} * 8 * 128},
    CacheModel{"llama3.1-405b", "126 layers, 8 KV heads of 128", 126, Bytes{2} * 8 * 128},
    CacheModel{"qwen3-235b", "94 layers, 4 KV heads of 128", 94, Bytes{2} * 4 * 128},
    CacheModel{"gpt-oss-120b", "36 layers, 8 KV heads of 64", 36, Bytes{2} * 8 * 64},
    CacheModel{"deepseek-v3", "61 layers, a latent of 512 and 64 rotary values", 61, 512 + 64, true},
};

struct Distribution {
    double median = 0, mean = 0, p90 = 0, p99 = 0, most = 0;
};

/// Quantiles are values that occur (nearest rank).
Distribution distribution_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    auto const quantile = [&](double share) {
        auto const place = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
        return values.at(std::max<std::size_t>(place, 1) - 1);
    };
    double const sum = std::accumulate(values.begin(), values.end(), 0.0);
    constexpr double half = 0.5;
    constexpr double nine_of_ten = 0.9;
    constexpr double almost_all = 0.99;
    return {quantile(half), sum / static_cast<double>(values.size()), quantile(nine_of_ten), quantile(almost_all),
            values.back()};
}

/// The largest sum of weights that arrive within one second of the clock.
double busiest_second(std::vector<CacheTransfer> const& arrivals) {
    double busiest = 0;
    double sum = 0;
    double second = -1;
    for (CacheTransfer const& each : arrivals) {
        if (std::floor(each.arrival_s) != second) {
            second = std::floor(each.arrival_s);
            sum = 0;
        }
        sum += static_cast<double>(each.bytes);
        busiest = std::max(busiest, sum);
    }
    return busiest;
}

struct CacheStatistics {
    Distribution bytes;
    double total = 0;
    double busiest_second = 0;
};

struct Statistics {
    double duration_s = 0;     // from the first arrival to the last
    double gap_variation = 0;  // standard deviation of gaps over their mean; 1 of a Poisson process
    double busiest_second = 0;
    Distribution input, output;
    double input_tokens = 0;
    std::uint64_t blocks = 0, reused_blocks = 0;
    double reused_tokens = 0;
    std::optional<CacheStatistics> cache;

    [[nodiscard]] double per_second(double sum) const { return duration_s > 0 ? sum / duration_s : 0; }
};

double variation_of_gaps(std::vector<Request> const& requests) {
    auto const gaps = static_cast<double>(requests.size() - 1);
    double const mean = (requests.back().arrival_s - requests.front().arrival_s) / gaps;
    double squares = 0;
    for (std::size_t next = 1; next < requests.size(); ++next) {
        squares += std::pow(requests[next].arrival_s - requests[next - 1].arrival_s - mean, 2);
    }
    return mean > 0 ? std::sqrt(squares / gaps) / mean : 0;
}

Statistics statistics_of(RequestTrace const& trace, std::optional<CacheLayout> const& layout) {
    Statistics found;
    std::vector<double> input;
    std::vector<double> output;
    std::vector<CacheTransfer> arrivals;
    for (Request const& request : trace.requests) {
        input.push_back(static_cast<double>(request.input_tokens));
        output.push_back(static_cast<double>(request.output_tokens));
        arrivals.push_back({request.arrival_s, 1});
        found.input_tokens += input.back();
        found.blocks += request.blocks;
        found.reused_blocks += request.reused_blocks;
        found.reused_tokens += std::min(input.back(), static_cast<double>(request.reused_blocks) *
                                                          static_cast<double>(trace.block_tokens.value_or(0)));
    }
    found.duration_s = trace.requests.back().arrival_s - trace.requests.front().arrival_s;
    found.gap_variation = trace.requests.size() > 1 ? variation_of_gaps(trace.requests) : 0;
    found.busiest_second = busiest_second(arrivals);
    found.input = distribution_of(std::move(input));
    found.output = distribution_of(std::move(output));
    if (layout) {
        std::vector<CacheTransfer> transfers;
        std::vector<double> bytes;
        for (Request const& request : trace.requests) {
            transfers.push_back({request.arrival_s, request.input_tokens * layout->bytes_per_token()});
            bytes.push_back(static_cast<double>(transfers.back().bytes));
        }
        double const total = std::accumulate(bytes.begin(), bytes.end(), 0.0);
        found.cache = CacheStatistics{distribution_of(std::move(bytes)), total, busiest_second(transfers)};
    }
    return found;
}

std::string row(std::string_view name, Distribution const& each) {
    return fmt::format("{:<16}{:>14.0f}{:>14.1f}{:>14.0f}{:>14.0f}{:>14.0f}\n", name, each.median, each.mean, each.p90,
                       each.p99, each.most);
}

nlohmann::ordered_json json_of(Distribution const& each) {
    return {{"median", each.median}, {"mean", each.mean}, {"p90", each.p90}, {"p99", each.p99}, {"max", each.most}};
}

constexpr double bytes_per_gb = 1e9;
constexpr double percent = 100;

}  // namespace

std::span<CacheModel const> cache_models() {
    return models;
}

Bytes CacheLayout::layer_write(Bytes page) const {
    return model.values_per_layer * value_bytes * page / (model.is_latent ? 1 : tensor_parallel);
}

Bytes CacheLayout::stage_write(Bytes page) const {
    return layer_write(page) * ((model.layers + pipeline_parallel - 1) / pipeline_parallel);
}

CacheLayout cache_layout(std::string const& model, Bytes value_bytes, Bytes tensor_parallel, Bytes pipeline_parallel) {
    CacheModel const& found = row_named(models, model, "model", "--model: ");
    bool const splits = tensor_parallel > 0 && found.values_per_layer % tensor_parallel == 0;
    if (!splits || pipeline_parallel == 0 || pipeline_parallel > found.layers) {
        throw UsageError(fmt::format("{} ({}) is not split over --tp {} and --pp {}", found.name, found.source,
                                     tensor_parallel, pipeline_parallel));
    }
    return {found, value_bytes, tensor_parallel, pipeline_parallel};
}

std::string requests_text(RequestTrace const& trace, std::optional<CacheLayout> const& layout) {
    Statistics const found = statistics_of(trace, layout);
    auto const number = static_cast<double>(trace.requests.size());
    std::string text =
        fmt::format("format requests, {} requests in {:.3f} s\n", trace.requests.size(), found.duration_s);
    text +=
        fmt::format("arrivals: {:.3f} per second, {:.0f} in the busiest one; variation of gaps {:.2f} (Poisson: 1)\n",
                    found.per_second(number), found.busiest_second, found.gap_variation);
    if (found.blocks > 0) {
        text += fmt::format("blocks: {} in prompts, {} distinct{}\n", found.blocks, trace.distinct_blocks,
                            trace.block_tokens ? fmt::format(", of {} tokens", *trace.block_tokens)
                                               : ", of a size that the lengths do not tell");
        text += fmt::format("prefixes that an earlier prompt had: {:.1f} % of the blocks",
                            percent * static_cast<double>(found.reused_blocks) / static_cast<double>(found.blocks));
        text += trace.block_tokens && found.input_tokens > 0
                    ? fmt::format(", {:.1f} % of the tokens\n", percent * found.reused_tokens / found.input_tokens)
                    : "\n";
    }
    text += fmt::format("\n{:<16}{:>14}{:>14}{:>14}{:>14}{:>14}\n", "of a request", "median", "mean", "90 %", "99 %",
                        "largest");
    text += row("input tokens", found.input) + row("output tokens", found.output);
    if (found.cache) {
        text += row("cache bytes", found.cache->bytes);
        text += fmt::format("\nKV cache of {} ({}): {} B per token of the prompt, {} B per value\n", layout->model.name,
                            layout->model.source, layout->bytes_per_token(), layout->value_bytes);
        text += fmt::format("prefill to decode: {:.3f} GB/s, {:.3f} GB in the busiest second\n",
                            found.per_second(found.cache->total) / bytes_per_gb,
                            found.cache->busiest_second / bytes_per_gb);
        text += fmt::format("writes of a rank for a page of {} tokens (tp {}, pp {}): {} B by layer, {} B by stage\n",
                            page_tokens, layout->tensor_parallel, layout->pipeline_parallel,
                            layout->layer_write(page_tokens), layout->stage_write(page_tokens));
    }
    return text;
}

std::string requests_json(RequestTrace const& trace, std::optional<CacheLayout> const& layout) {
    Statistics const found = statistics_of(trace, layout);
    nlohmann::ordered_json document{{"format", "requests"},
                                    {"requests", trace.requests.size()},
                                    {"duration_s", found.duration_s},
                                    {"per_second", found.per_second(static_cast<double>(trace.requests.size()))},
                                    {"busiest_second", found.busiest_second},
                                    {"gap_variation", found.gap_variation},
                                    {"input_tokens", json_of(found.input)},
                                    {"output_tokens", json_of(found.output)}};
    if (found.blocks > 0) {
        document["blocks"] = {{"block_tokens", trace.block_tokens ? nlohmann::ordered_json(*trace.block_tokens)
                                                                  : nlohmann::ordered_json()},
                              {"blocks", found.blocks},
                              {"distinct", trace.distinct_blocks},
                              {"reused", found.reused_blocks}};
    }
    if (found.cache) {
        document["kv_cache"] = {{"model", layout->model.name},
                                {"bytes_per_token", layout->bytes_per_token()},
                                {"bytes", json_of(found.cache->bytes)},
                                {"total_bytes", found.cache->total},
                                {"bytes_per_second", found.per_second(found.cache->total)},
                                {"busiest_second_bytes", found.cache->busiest_second},
                                {"page_tokens", page_tokens},
                                {"layer_write_bytes", layout->layer_write(page_tokens)},
                                {"stage_write_bytes", layout->stage_write(page_tokens)}};
    }
    return document.dump() + "\n";
}

}  // namespace dlmb::trace
