// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/from_json.hpp"

namespace dlmb::tuning {
namespace {

class EnvelopeReader {
public:
    explicit EnvelopeReader(bool tolerant) : tolerant_(tolerant) {}

    Tool tool(JsonObject object) const {
        Tool tool{object.text("name"), object.text("version"), object.text_or_empty("commit")};
        end(object);
        return tool;
    }

    Input input(JsonObject object) const {
        Input input{object.text("file"), object.text("sha256"), object.texts("launches")};
        end(object);
        return input;
    }

    Base base(JsonObject object) const {
        Base base{object.text("sha256"), object.text("origin")};
        end(object);
        return base;
    }

    System system(JsonObject object) const {
        System system;
        system.key = object.text("key");
        system.cpu = object.text("cpu");
        if (auto gpu = object.object_if("gpu")) {
            system.gpu = {gpu->text("name"), gpu->text("arch"), gpu->whole("processors"), gpu->whole("per_node")};
            end(*gpu);
        }
        system.nic = object.text_or_empty("nic");
        system.topology = object.text_or_empty("topology");
        end(object);
        return system;
    }

    Stack stack(JsonObject object) const {
        Stack stack;
        if (auto mpi = object.object_if("mpi")) {
            stack.mpi = {mpi->text("name"), mpi->text("version"), mpi->texts("components")};
            end(*mpi);
        }
        stack.versions = object.text_map("versions");
        stack.environment = object.text_map("environment");
        end(object);
        return stack;
    }

    Policy policy(JsonObject object) const {
        Policy policy;
        policy.metric = object.text("metric");
        JsonObject min_gain = object.object("min_gain");
        policy.min_gain_small = min_gain.number("small");
        policy.min_gain_large = min_gain.number("large");
        end(min_gain);
        policy.fdr_q = object.number("fdr_q");
        policy.launches = object.whole("launches");
        policy.confirm_launches = object.whole("confirm_launches");
        policy.cut = object.number("cut");
        policy.hysteresis = object.whole("hysteresis");
        policy.baseline = object.text_map("baseline");
        policy.cache = object.text_or_empty("cache");
        end(object);
        return policy;
    }

private:
    void end(JsonObject const& object) const {
        if (!tolerant_) {
            object.close();
        }
    }

    bool tolerant_;
};

}  // namespace

void read_envelope(JsonObject& object, TuningTable& table, bool tolerant) {
    EnvelopeReader const read(tolerant);
    table.created = object.text("created");
    table.tool = read.tool(object.object("tool"));
    for (JsonObject const& input : object.objects("inputs")) {
        table.inputs.push_back(read.input(input));
    }
    if (auto bases = object.object_if("bases")) {
        for (std::string const& consumer : bases->names()) {
            table.bases.emplace(consumer, read.base(bases->object(consumer.c_str())));
        }
    }
    table.system = read.system(object.object("system"));
    table.stack = read.stack(object.object("stack"));
    table.policy = read.policy(object.object("policy"));
}

}  // namespace dlmb::tuning
