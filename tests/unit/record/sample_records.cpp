// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/record/sample_records.hpp"

#include "common/base/statistics/order_statistics.hpp"
#include "common/base/statistics/series.hpp"
#include "common/measure/environment/placement.hpp"
#include "common/measure/sampling/summaries.hpp"

#include <array>

namespace dlmb::record {
namespace {

constexpr char const* launch_id = "9d2f6a0c41b7e853";
constexpr Bytes row_bytes = Bytes{2048} * 2;  // hidden 2048, bf16
constexpr int ranks = 4;

// Rows from rank i to rank j: 16 tokens x top-2 leave every rank.
constexpr std::array<std::array<Bytes, ranks>, ranks> rows{{{8, 9, 7, 8}, {12, 6, 6, 8}, {10, 8, 8, 6}, {9, 5, 9, 9}}};

/// What each rank moves when rows[i][j] (backwards: rows[j][i]) go from rank i to rank j.
void add_rows(std::vector<RankTraffic>& each, bool backwards) {
    for (std::size_t from = 0; from < ranks; ++from) {
        for (std::size_t to = 0; to < ranks; ++to) {
            Bytes const bytes = row_bytes * (backwards ? rows[to][from] : rows[from][to]);
            each[from].payload += bytes;
            each[from].send_total += bytes;
            each[to].recv_total += bytes;
            each[from].self += from == to ? bytes : 0;
            each[from].out += from == to ? 0 : bytes;
            each[to].in += from == to ? 0 : bytes;
        }
    }
}

/// `passes`: whether each pass over the rows goes backwards.
TrafficSummary traffic(std::vector<bool> const& passes) {
    std::vector<RankTraffic> each(ranks);
    for (bool const backwards : passes) {
        add_rows(each, backwards);
    }
    return summarize(each);
}

CellIdentity identity(std::string const& backend, std::string const& method, std::string const& memory) {
    return {.pattern = "moe_alltoall",
            .preset = "mixtral-8x7b",
            .parameters = {{"element", "bf16"},
                           {"experts", "8"},
                           {"hidden", "2048"},
                           {"skew", "lognormal:0.3"},
                           {"tokens", "16"},
                           {"top-k", "2"}},
            .backend = backend,
            .method = method,
            .memory = memory,
            .mode = "isolated",
            .world = {ranks, 2},
            .seed = 1,
            .draws = 1,
            .cache = record::CacheMode::rotate,
            .fill = record::Fill::random};
}

Record planned_cell(std::string const& backend, std::string const& method, std::string const& memory) {
    Record cell;
    cell.identity = identity(backend, method, memory);
    cell.cell_id = cell_id(cell.identity, {{"element", "bf16"}, {"experts", "8"}, {"hidden", "4096"}, {"top-k", "2"}});
    cell.traffic = traffic({false, true});
    cell.phases = {{"dispatch", traffic({false}), record::PlainCopy{Processor::host, 4096, 812.5}},
                   {"combine", traffic({true})}};
    cell.statistics = {{"gini_rank", 0.06640625}, {"max_mean_rank", 1.21875}};
    return cell;
}

}  // namespace

Launch sample_launch() {
    Launch launch;
    launch.launch_id = launch_id;
    launch.campaign_id = launch_id;
    launch.time = "2026-01-31T12:00:00Z";
    launch.program = "dlmb_moe_alltoall";
    launch.command = {"dlmb_moe_alltoall", "--preset", "mixtral-8x7b", "--hidden", "2048", "--tokens", "16"};
    launch.world = {ranks, 2};
    launch.order_seed = 2'718'281'828;
    launch.environment.identity = {{"cpu_model", "Example CPU 2 cores"},
                                   {"mpi_library", "Open MPI v4.1.4"},
                                   {"ranks", "4"},
                                   {"nodes", "2"},
                                   {"build_type", "Release"}};
    launch.environment.informational = {{"kernel", "6.1.0"}, {"governor", "performance"}, {"version", "0.1.0"}};
    launch.environment.variables = {{"OMPI_MCA_btl", "self,vader"}, {"UCX_TLS", "sm,self"}};
    for (Rank rank = 0; rank < ranks; ++rank) {
        bool const first = rank % 2 == 0;
        bool const on_first_node = rank < 2;
        launch.environment.ranks.push_back({rank, on_first_node ? "node-a" : "node-b", first ? "0" : "1", "0", true,
                                            std::nullopt, on_first_node ? 0 : 1});
    }
    launch.environment.largest_cache = Bytes{32} << 20;
    launch.environment.env_key = environment_key(launch.environment.identity);
    launch.calibration = record::Calibration{.effort = record::Effort::brief,
                                             .timer = {24.5, 20, 27},
                                             .quanta = {20'480, {1.01, 1.02, 1.01, 1.62}, {4100, 3900, 5200, 98'000}},
                                             .barrier = {1000, 2350, record::BarrierFloor::ExitSkew{310, 1240}}};
    launch.calibration->links =
        record::LinkFloor{3, {4100, {{{2, 5}, 18'400}}}, {52'000, {{{0, 5}, 210'000}, {{2, 5}, 101'000}}}};
    return launch;
}

Launch sample_gpu_launch() {
    Launch launch = sample_launch();
    launch.calibration->effort = record::Effort::full;
    launch.calibration->exchanges = {{"mpi", "host", 1650}, {"nccl", "cuda", 14'200}};
    launch.calibration->device = record::DeviceFloor{1600, 5400, 8100};
    Environment& environment = launch.environment;
    for (RankPlace& place : environment.ranks) {
        bool const first = place.rank % 2 == 0;
        place.device = {first ? 0 : 1, first ? "0000:1b:00.0" : "0000:9d:00.0", first ? 0 : 1, !first,
                        first ? "nearest to where the rank may run" : "next: the nearest ones are taken"};
    }
    environment.identity["gpus"] = "Example GPU, compute capability 9.0, 85899345920 B, 2 per node";
    environment.informational["cuda_runtime"] = "13.0";
    environment.informational["cuda_driver"] = "13.0";
    environment.warnings = measure::device_warnings(environment);
    environment.env_key = environment_key(environment.identity);
    return launch;
}

Record sample_cell() {
    Record cell = planned_cell("mpi", "alltoallv", "host");
    cell.traffic_hash = "0f1e2d3c4b5a6978";
    record::CellResult& result = cell.result;
    result.samples_ns = {41200, 40800, 43950, 41010, 40760, 52300, 41120, 40990};
    result.time = measure::summarize(result.samples_ns);
    std::vector<Nanoseconds> const dispatch{21500, 21100, 22800, 21300, 21050, 30100, 21400, 21280};
    std::vector<Nanoseconds> const combine{19700, 19700, 21150, 19710, 19710, 22200, 19720, 19710};
    result.phases = {{"dispatch", measure::summarize(dispatch), record::MedianInterval{42000, 41000, std::nullopt}},
                     {"combine", measure::summarize(combine)}};
    result.round_medians_ns = {41105.0, 41055.0};
    result.median_of_rounds_ns = statistics::median(result.round_medians_ns);
    result.aa_ratio = statistics::aa_ratio(result.round_medians_ns);
    result.series = measure::describe_series(result.samples_ns, 1);
    result.below_floor = false;
    result.flags = statistics::flags_of(result.samples_ns, 1);
    result.rank_median_ns = {40100.0, 40990.5, 39870.0, 40012.0};
    result.straggler = {1, 0.625};
    result.sync = {"window", 50000, 1, 0, 0.375};
    result.arrival = {410.5, std::nullopt, 40650, 1.0625};
    result.critical_phase = record::CriticalPhase{"dispatch", 1};
    result.ranks = {{0, 210.5, 120, 310}, {9100, 9050.5, 9200, 9150}, {800, 950, 820, 790}};
    result.suspects = {{2, record::Suspect::Kind::jittery, 21300, 860}};
    result.figures = {{"involuntary_switches", 3.5, "per second", record::Better::lower, "samples"}};
    result.stop_reason = "fixed";
    result.definition =
        "isolated: one iteration begun at one time on all ranks, from the first rank's enter to the last rank's done";
    result.setup_ns = 1834000;
    result.first_iteration_ns = 912000;
    result.warmup_iterations = 20;
    result.validation = {record::Verdict::passed, 64, 6, {0}, {0, 1}, ""};
    cell.cache = {.mode = record::CacheMode::rotate,
                  .slots = 32,
                  .pool_bytes = Bytes{32} * 525312,
                  .cache_bytes = Bytes{32} << 20,
                  .covers_llc = false};
    cell.host_pages = HostPages{256, 3, Bytes{2} << 20};
    cell.backend_facts = {{"mpi_library", "Open MPI v4.1.4"}, {"thread_level", "funneled"}};
    return cell;
}

Record sample_skipped_cell() {
    Record cell = planned_cell("nccl", "default", "cuda");
    cell.result.status = record::Status::skipped;
    cell.result.reason = "nccl: no CUDA device";
    return cell;
}

Record sample_invalid_cell() {
    Record cell = planned_cell("ucx", "pairwise:max_outstanding=4", "host");
    cell.result.status = record::Status::invalid;
    cell.result.reason = "the payload is wrong";
    cell.result.validation = {
        record::Verdict::failed, 32, std::nullopt, {0}, {0}, R"(step 0 "dispatch": from rank 2 to rank 1, byte 4096)"};
    return cell;
}

End sample_end() {
    return {launch_id,
            "failed",
            {{"ok", 1}, {"skipped", 1}, {"invalid", 1}},
            SelfComparison{1, 0.0012, 0.0012, sample_cell().cell_id}};
}

std::vector<Plan> sample_plans() {
    std::vector<Plan> plans;
    for (Rank const member : {0, 1}) {
        Rank const other = 1 - member;
        Plan plan;
        plan.me = member == 0 ? 1 : 3;
        plan.groups = {{{1, 3}}};
        plan.buffers = {{"data", 4096, true}};
        auto const add = [&](Operation operation, std::string label) {
            std::vector<StepId> after;
            if (!plan.steps.empty()) {
                after.push_back(static_cast<StepId>(plan.steps.size() - 1));
            }
            plan.steps.push_back({std::move(operation), std::move(after), std::move(label)});
        };
        std::vector<Block> const blocks{{0, 0, 256}, {1, 256, 256}};
        add(Exchange{0, 0, 0, blocks, blocks}, "dispatch");
        if (member == 0) {
            add(Send{0, 0, {other, 0, 64}, 1, 2}, "forward.0");
        } else {
            add(Recv{0, 0, {other, 0, 64}, 1, 2}, "forward.0");
        }
        add(Collective{OperationKind::all_reduce, 0, 0, {}, {}, 512, Element::fp32}, "dense");
        add(Collective{OperationKind::reduce_scatter, 0, 0, {}, {}, 1024, Element::bf16, Reduction::max}, "scatter");
        add(Collective{OperationKind::all_gather, 0, 0, {}, {}, 2048, Element::fp8}, "gather");
        add(Collective{OperationKind::broadcast, 0, 1, {}, {}, 128, Element::byte}, "weights");
        add(Compute{1500, ProductShape{64, 128, 32}}, "experts");
        add(Collective{OperationKind::reduce, 0, 1, {}, {}, 256, Element::int8, Reduction::min}, "loss");
        add(Collective{OperationKind::gather, 0, 0, {}, {}, 192, Element::byte, {}, {64, 128}}, "samples");
        add(Collective{OperationKind::scatter, 0, 0, {}, {}, 512, Element::int32}, "batch");
        if (member == 0) {
            add(WaitSignal{OperationKind::wait_signal, 0, 0, {{other, 128, 64}}, {{other, 1}}}, "slots.wait");
            add(Put{OperationKind::offer, 0, 0, {{other, 0, 64}}, {}, {{other, 1}}}, "pages.offer");
        } else {
            add(Put{OperationKind::put, 0, 0, {{other, 0, 64}}, {128}, {{other, 1}}}, "slots.put");
            add(WaitSignal{OperationKind::get, 0, 0, {{other, 128, 64}}, {{other, 1}}}, "pages.get");
        }
        add(Barrier{0}, "end");
        plans.push_back(std::move(plan));
    }
    return plans;
}

PlanHeader sample_plan_header() {
    return {.pattern = "moe_alltoall",
            .preset = "",
            .parameters = {{"hidden", "2048"}, {"capacity-factor", "1.25"}, {"skew", "lognormal:0.3"}},
            .world = {4, 2},
            .draw = {7, 3},
            .statistics = {{"gini_rank", 0.25}}};
}

}  // namespace dlmb::record
