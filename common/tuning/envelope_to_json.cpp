// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/to_json.hpp"

namespace dlmb::tuning {
namespace {

Json inputs_json(std::vector<Input> const& inputs) {
    Json list = Json::array();
    for (Input const& input : inputs) {
        list.push_back({{"file", input.file}, {"sha256", input.sha256}, {"launches", input.launches}});
    }
    return list;
}

Json bases_json(std::map<std::string, Base> const& bases) {
    Json object = Json::object();
    for (auto const& [consumer, base] : bases) {
        object[consumer] = {{"sha256", base.sha256}, {"origin", base.origin}};
    }
    return object;
}

Json system_json(System const& system) {
    Json object{{"key", system.key}, {"cpu", system.cpu}};
    if (system.gpu) {
        object["gpu"] = {{"name", system.gpu->name},
                         {"arch", system.gpu->arch},
                         {"processors", system.gpu->processors},
                         {"per_node", system.gpu->per_node}};
    }
    object["nic"] = system.nic;
    object["topology"] = system.topology;
    return object;
}

Json stack_json(Stack const& stack) {
    Json object = Json::object();
    if (stack.mpi) {
        object["mpi"] = {
            {"name", stack.mpi->name}, {"version", stack.mpi->version}, {"components", stack.mpi->components}};
    }
    object["versions"] = stack.versions;
    object["environment"] = stack.environment;
    return object;
}

Json policy_json(Policy const& policy) {
    Json object{{"metric", policy.metric},
                {"min_gain", {{"small", policy.min_gain_small}, {"large", policy.min_gain_large}}},
                {"fdr_q", policy.fdr_q},
                {"launches", policy.launches},
                {"confirm_launches", policy.confirm_launches},
                {"cut", policy.cut},
                {"hysteresis", policy.hysteresis},
                {"baseline", policy.baseline}};
    if (!policy.cache.empty()) {
        object["cache"] = policy.cache;
    }
    return object;
}

}  // namespace

Json envelope_json(TuningTable const& table) {
    return {{"schema", table_schema},
            {"created", table.created},
            {"tool", {{"name", table.tool.name}, {"version", table.tool.version}, {"commit", table.tool.commit}}},
            {"inputs", inputs_json(table.inputs)},
            {"bases", bases_json(table.bases)},
            {"system", system_json(table.system)},
            {"stack", stack_json(table.stack)},
            {"policy", policy_json(table.policy)}};
}

}  // namespace dlmb::tuning
