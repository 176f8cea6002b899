// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/read_table.hpp"

#include "common/tuning/json_object.hpp"
#include "common/tuning/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <set>

namespace dlmb::tuning {
namespace {

constexpr std::string_view schema_family = "dlmb.tuning-table/";
constexpr int deepest = 16;  // a table nests seven deep

[[noreturn]] void refuse(TableFault fault, std::string const& what) {
    throw TableError(fault, what);
}

/// JSON leaves open what two fields of one name mean, and readers differ: such a table would have two answers.
class SyntaxWatch {
public:
    bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
        if (event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start) {
            if (depth > deepest) {
                refuse(TableFault::syntax, fmt::format("nests deeper than {}", deepest));
            }
            fields_.resize(static_cast<std::size_t>(depth) + 1);
            fields_.back().clear();
        } else if (event == Json::parse_event_t::key) {
            auto& fields = fields_[static_cast<std::size_t>(depth) - 1];
            if (!fields.insert(parsed.get<std::string>()).second) {
                refuse(TableFault::syntax, fmt::format("the field '{}' is there twice", parsed.get<std::string>()));
            }
        }
        return true;
    }

private:
    std::vector<std::set<std::string>> fields_;  // of the open objects, by depth
};

Json parse(std::string_view text) {
    try {
        return Json::parse(text, SyntaxWatch{});
    } catch (Json::parse_error const& error) {
        auto const end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
        refuse(TableFault::syntax, fmt::format("line {}: not JSON; {}", 1 + std::count(text.begin(), end, '\n'),
                                               "write the table again or correct it by hand"));
    } catch (Json::exception const& error) {
        refuse(TableFault::syntax, fmt::format("not JSON: {}", error.what()));
    }
}

/// The minor version, of a table that this program can read.
unsigned minor_of(std::string const& schema) {
    std::string_view rest = schema;
    unsigned minor = 0;
    constexpr std::string_view major = "1.";
    if (rest.starts_with(schema_family) && (rest.remove_prefix(schema_family.size()), rest.starts_with(major))) {
        rest.remove_prefix(major.size());
        auto const [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), minor);
        if (error == std::errc{} && end == rest.data() + rest.size()) {
            return minor;
        }
    }
    refuse(TableFault::schema,
           fmt::format("schema: '{}' cannot be read by this program, which knows {}1.x", schema, schema_family));
}

/// `read`: of one of its ends.
template <class Number>
std::optional<Interval<Number>> interval_if(JsonObject& object, char const* name,
                                            Number (JsonObject::*read)(char const*)) {
    auto inner = object.object_if(name);
    if (!inner) {
        return std::nullopt;
    }
    Interval<Number> const interval{((*inner).*read)("min"), ((*inner).*read)("max")};
    inner->close();
    return interval;
}

std::optional<ByteInterval> bytes_if(JsonObject& when, TunedOperation operation) {
    auto inner = when.object_if("bytes");
    if (!inner) {
        return std::nullopt;
    }
    std::string const basis = inner->text("basis");
    if (basis != name_of(basis_of(operation))) {
        inner->refuse("basis", fmt::format("'{}' is not the basis of {}; give its sizes as '{}'", basis,
                                           name_of(operation), name_of(basis_of(operation))));
    }
    ByteInterval const interval{inner->whole("min"), inner->whole_if("max").value_or(no_limit)};
    inner->close();
    return interval;
}

When when_from(JsonObject object) {
    When when;
    when.operation = word(object, "operation", operation_named);
    when.bytes = bytes_if(object, when.operation);
    when.ranks = interval_if(object, "ranks", &JsonObject::whole);
    when.nodes = interval_if(object, "nodes", &JsonObject::whole);
    when.dtype = object.text_or_empty("dtype");
    when.reduction = object.text_or_empty("reduction");
    when.memory = object.text_or_empty("memory");
    when.in_place = object.yes_no_if("in_place");
    when.uniform = object.yes_no_if("uniform");
    when.imbalance = interval_if(object, "imbalance", &JsonObject::number);
    object.close();
    return when;
}

std::optional<Algorithm> algorithm_if(JsonObject& choose) {
    auto object = choose.object_if("algorithm");
    if (!object) {
        return std::nullopt;
    }
    Algorithm algorithm{object->text("family"), object->text("name"), object->id_if("id")};
    object->close();
    return algorithm;
}

ChoiceParams params_from(JsonObject& choose) {
    ChoiceParams params;
    auto object = choose.object_if("params");
    if (!object) {
        return params;
    }
    params.protocol = object->text_or_empty("protocol");
    params.channels = object->whole_if("channels");
    params.segment_bytes = object->whole_if("segment_bytes");
    params.fanout = object->whole_if("fanout");
    params.max_requests = object->whole_if("max_requests");
    params.radix = object->whole_if("radix");
    params.max_outstanding = object->whole_if("max_outstanding");
    params.knobs = object->text_map("knobs");
    object->close();
    return params;
}

Choice choice_from(JsonObject object) {
    Choice choice{object.text("backend"), object.text("method"), algorithm_if(object), params_from(object)};
    object.close();
    return choice;
}

Evidence evidence_from(JsonObject object) {
    Evidence evidence;
    evidence.sizes = object.wholes("sizes");
    evidence.samples = object.whole("samples");
    evidence.launches = object.whole("launches");
    evidence.confirmed = object.whole("confirmed");
    JsonObject times = object.object("median_ns");
    evidence.choice_ns = times.number("choice");
    evidence.runner_up_ns = times.number_if("runner_up");
    evidence.default_ns = times.number("default");
    times.close();
    evidence.gain = object.number("gain");
    std::vector<double> const interval = object.numbers("ci");
    if (interval.size() != 2) {
        object.refuse("ci", "must be [low, high]");
    }
    evidence.gain_low = interval[0];
    evidence.gain_high = interval[1];
    object.close();
    return evidence;
}

Rule rule_from(JsonObject object) {
    Rule rule;
    rule.id = object.text("id");
    rule.scope = object.text("scope");
    rule.pattern = object.text_or_empty("pattern");
    rule.when = when_from(object.object("when"));
    rule.choose = choice_from(object.object("choose"));
    rule.status = word(object, "status", status_named);
    if (auto evidence = object.object_if("evidence")) {
        rule.evidence = evidence_from(*evidence);
    }
    object.close();
    return rule;
}

/// What a table says of itself. Tolerant: unknown fields are passed over.
class AboutReader {
public:
    explicit AboutReader(bool tolerant) : tolerant_(tolerant) {}

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

    System system(JsonObject object) const {
        System system;
        system.key = object.text("key");
        system.cpu = object.text("cpu");
        if (object.has("gpu") && (system.gpu = object.text("gpu")).empty()) {
            object.refuse("gpu", "is empty; name the devices, or leave it out where none was used");
        }
        end(object);
        return system;
    }

    Stack stack(JsonObject object) const {
        Stack stack;
        if (auto mpi = object.object_if("mpi")) {
            stack.mpi = {mpi->text("name"), mpi->text("version")};
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

/// Everything but `schema` and `rules`.
void read_about(JsonObject& object, TuningTable& table, bool tolerant) {
    AboutReader const read(tolerant);
    table.created = object.text("created");
    table.tool = read.tool(object.object("tool"));
    for (JsonObject const& input : object.objects("inputs")) {
        table.inputs.push_back(read.input(input));
    }
    table.system = read.system(object.object("system"));
    table.stack = read.stack(object.object("stack"));
    table.policy = read.policy(object.object("policy"));
}

TuningTable table_from(Json const& value) {
    TuningTable table;
    JsonObject object(value, "");
    bool const tolerant = minor_of(object.text("schema")) > minor_of(table_schema);
    read_about(object, table, tolerant);
    for (JsonObject const& rule : object.objects("rules")) {
        table.rules.push_back(rule_from(rule));
    }
    if (!tolerant) {
        object.close();
    }
    std::vector<Problem> const problems = validate(table);
    if (!problems.empty()) {
        refuse(TableFault::schema, fmt::format("{}: {}", problems.front().path, problems.front().what));
    }
    sort_rules(table);
    return table;
}

}  // namespace

TuningTable parse_table(std::string_view text, std::string_view source) {
    try {
        return table_from(parse(text));
    } catch (TableError const& error) {
        throw TableError(error.fault(), fmt::format("{}: {}", source, error.what()));
    }
}

TuningTable read_table(std::filesystem::path const& path) {
    std::ifstream file(path, std::ios::binary);
    bool whole = file.is_open();
    std::string text;
    try {
        text.assign(std::istreambuf_iterator<char>(file), {});
    } catch (std::ios_base::failure const&) {  // a folder opens, but cannot be read
        whole = false;
    }
    if (!whole) {
        refuse(TableFault::io, fmt::format("{}: cannot be read; give the path of a tuning table", path.string()));
    }
    return parse_table(text, path.string());
}

void require_system(TuningTable const& table, std::string_view system_key, std::string_view source) {
    if (table.system.key != system_key) {
        refuse(TableFault::system, fmt::format("{}: was measured on system {}, this is {}; measure a table here",
                                               source, table.system.key, system_key));
    }
}

}  // namespace dlmb::tuning
