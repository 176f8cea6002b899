// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/table/sample_table.hpp"

namespace dlmb::tuning {
namespace {

Rule select_ucx() {
    Rule rule = plain_rule("r001", select_scope, TunedOperation::allreduce);
    rule.pattern = "tp_allreduce";
    rule.when.bytes = {1024, 16384};
    rule.when.ranks = {4, 4};
    rule.when.nodes = {1, 1};
    rule.when.memory = "host";
    rule.choose.backend = "ucx";
    rule.evidence = Evidence{{1024, 16384}, 3200, 8, 8, 7100, 8200, 9050, 0.215, 0.18, 0.25};
    return rule;
}

Rule ring_in_open_mpi() {
    Rule rule = plain_rule("r002", "mpi", TunedOperation::allreduce);
    rule.pattern = "tp_allreduce";
    rule.when.bytes = {65536, 524288};
    rule.when.ranks = {4, 4};
    rule.when.nodes = {1, 1};
    rule.when.memory = "host";
    rule.when.dtype = "fp32";
    rule.when.reduction = "sum";
    rule.choose.method = "blocking";
    rule.choose.algorithm = Algorithm{"open_mpi.tuned", "ring", 4};
    rule.choose.params.segment_bytes = 0;
    rule.evidence = Evidence{{65536, 262144, 524288}, 4800, 8, 8, 91000, 99500, 118000, 0.23, 0.19, 0.26};
    return rule;
}

Rule tie_in_ucx() {
    Rule rule = plain_rule("r003", "ucx", TunedOperation::allreduce);
    rule.pattern = "tp_allreduce";
    rule.when.bytes = {1024, 16384};
    rule.when.ranks = {4, 4};
    rule.when.nodes = {1, 1};
    rule.when.memory = "host";
    rule.status = RuleStatus::tie;
    rule.evidence = Evidence{{1024, 16384}, 3200, 8, 8, 7100, std::nullopt, 7120, 0.003, -0.02, 0.02};
    return rule;
}

Rule every_other_condition() {
    Rule rule = plain_rule("r004", "nccl", TunedOperation::exchange);
    rule.when.ranks = {2, 64};
    rule.when.memory = "cuda";
    rule.when.in_place = false;
    rule.when.uniform = false;
    rule.when.imbalance = {1.5, 4.0};
    rule.choose.method = "grouped";
    rule.choose.params.protocol = "simple";
    rule.choose.params.channels = 8;
    return rule;
}

Rule rendezvous_between_nodes() {
    Rule rule = plain_rule("r005", "ucx", TunedOperation::sendrecv);
    rule.when.bytes = {16384, no_limit};
    rule.when.nodes = {2, 2};
    rule.choose.params.knobs = {{"UCX_RNDV_THRESH", "inter:16384"}};
    return rule;
}

Rule user_reduction() {
    Rule rule = plain_rule("r006", "mpi", TunedOperation::reduce_scatter);
    rule.when.reduction = "user";
    rule.choose.method = "pairwise:max_outstanding=4";
    rule.choose.params.fanout = 2;
    rule.choose.params.max_requests = 8;
    rule.choose.params.radix = 4;
    rule.choose.params.max_outstanding = 4;
    return rule;
}

Rule unconfirmed_in_ucx() {
    Rule rule = plain_rule("r007", "ucx", TunedOperation::allgather);
    rule.when.bytes = {4096, 8192};
    rule.when.ranks = {4, 4};
    rule.status = RuleStatus::unconfirmed;
    rule.evidence = Evidence{{4096, 8192}, 3200, 8, 0, 7100, 6100, 7100, 0, 0, 0};
    rule.candidate = Candidate{{"ucx", "ring", std::nullopt, {}}, 0.14, 0.11, 0.17};
    return rule;
}

}  // namespace

Rule plain_rule(std::string id, std::string scope, TunedOperation operation) {
    Rule rule;
    rule.id = std::move(id);
    rule.choose.backend = scope;
    rule.scope = std::move(scope);
    rule.when.operation = operation;
    return rule;
}

TuningTable sample_table() {
    TuningTable table;
    table.created = "2026-03-01T12:00:00Z";
    table.tool = {"dlmb_tune", "0.1.0", "0123456789ab"};
    table.inputs = {{"allreduce.jsonl", std::string(64, 'a'), {"0123456789abcdef", "123456789abcdef0"}}};
    table.system = {"00112233aabbccdd",
                    "Example CPU 9000",
                    "Example GPU, compute capability 9.0, 85899345920 B, 8 per node",
                    "",
                    {{"binding", "all"}, {"cpu_model", "Example CPU 9000"}}};
    table.stack = {MpiLibrary{"Open MPI", "4.1.4"},
                   {{"nccl", "2.28.9"}, {"ucx", "1.13.1"}},
                   {{"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"}}};
    table.policy.baseline = {{"cuda", "nccl"}, {"host", "mpi"}};
    table.policy.cache = "rotate";
    table.rules = {
        select_ucx(),     ring_in_open_mpi(),  tie_in_ucx(), every_other_condition(), rendezvous_between_nodes(),
        user_reduction(), unconfirmed_in_ucx()};
    sort_rules(table.rules);
    return table;
}

}  // namespace dlmb::tuning
