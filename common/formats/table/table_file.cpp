// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/table/table_file.hpp"

#include "common/base/input_file.hpp"
#include "common/base/output_file.hpp"
#include "common/base/units.hpp"
#include "common/formats/json/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <type_traits>

namespace dlmb::json {

template <>
inline constexpr auto every_value<tuning::TunedOperation> = tuning::every_tuned_operation;
template <>
inline constexpr auto every_value<tuning::RuleStatus> = tuning::every_rule_status;

}  // namespace dlmb::json

namespace dlmb::tuning {
namespace {

using json::Json;

[[noreturn]] void refuse(std::string_view path, std::string_view why) {
    throw TableError(TableFault::schema, fmt::format("{}: {}", path, why));
}

/// The format of common/formats/json/fields.hpp. Tables of a later minor version may hold more, but not in a rule.
struct TableJson {
    static constexpr std::string_view document = "the table";
    template <class Struct>
    static constexpr bool strict = std::is_same_v<Struct, Rule>;
};

template <class Value>
concept AnyInterval = json::Of<Value, CountInterval> || json::Of<Value, RatioInterval>;

void fields(auto& io, AnyInterval auto& interval) {
    io("min", interval.min);
    io("max", interval.max);
}

/// Of sizes in the basis of the operation. No limit is written as null, or left out.
void byte_fields(auto& io, TunedOperation operation, json::Of<ByteInterval> auto& bytes) {
    std::string_view const right = basis_of(operation);
    std::string told(right);
    io("basis", told);
    if (told != right) {
        io.refuse("basis",
                  fmt::format("'{}' is not the basis of {}; give its sizes as '{}'", told, name_of(operation), right));
    }
    io("min", bytes.min);
    std::optional<Bytes> max;
    if (io.writes && bytes.max != no_limit) {
        max = bytes.max;
    }
    io.or_default("max", max);
    io.set(bytes.max, max.value_or(no_limit));
}

void fields(auto& io, json::Of<When> auto& when) {
    io("operation", when.operation);
    io.object_if_known("bytes", when.bytes,
                       [&](auto& inner, auto& bytes) { byte_fields(inner, when.operation, bytes); });
    io.if_known("ranks", when.ranks);
    io.if_known("nodes", when.nodes);
    io.if_known("dtype", when.dtype);
    io.if_known("reduction", when.reduction);
    io.if_known("memory", when.memory);
    io.if_known("in_place", when.in_place);
    io.if_known("uniform", when.uniform);
    io.if_known("imbalance", when.imbalance);
}

void fields(auto& io, json::Of<Algorithm> auto& algorithm) {
    io("family", algorithm.family);
    io("name", algorithm.name);
    io.if_known("id", algorithm.id);
    if (algorithm.id.value_or(0) < 0) {
        io.refuse("id", "must not be below 0");
    }
}

void fields(auto& io, json::Of<ChoiceParams> auto& params) {
    io.if_known("protocol", params.protocol);
    for (auto const& [name, number] : number_params) {
        io.if_known(name, params.*number);
    }
    io.if_known("knobs", params.knobs);
}

void fields(auto& io, json::Of<Choice> auto& choice) {
    io("backend", choice.backend);
    io("method", choice.method);
    io.if_known("algorithm", choice.algorithm);
    io.if_known("params", choice.params);
}

void fields(auto& io, json::Of<Foreign> auto& foreign) {
    io("suite", foreign.suite);
    io("statistic", foreign.statistic);
}

void fields(auto& io, json::Of<Predicted> auto& predicted) {
    io("fitted_nodes", predicted.fitted_nodes);
    io.if_known("held_out_error", predicted.held_out_error);
}

void fields(auto& io, json::Of<Evidence> auto& evidence) {
    io.if_known("foreign", evidence.foreign);
    io.if_known("predicted", evidence.predicted);
    io("sizes", evidence.sizes);
    io("samples", evidence.samples);
    io("launches", evidence.launches);
    io("confirmed", evidence.confirmed);
    io.object("median_ns", [&](auto& times) {
        times("choice", evidence.choice_ns);
        times.if_known("runner_up", evidence.runner_up_ns);
        times("default", evidence.default_ns);
    });
    io("gain", evidence.gain);
    if (!evidence.foreign) {
        io.range("ci", evidence.gain_low, evidence.gain_high);
    }
}

void fields(auto& io, json::Of<Candidate> auto& candidate) {
    io("choose", candidate.choose);
    io("gain", candidate.gain);
    io.range("ci", candidate.gain_low, candidate.gain_high);
}

void fields(auto& io, json::Of<Rule> auto& rule) {
    io("id", rule.id);
    io("scope", rule.scope);
    io.if_known("pattern", rule.pattern);
    io("when", rule.when);
    io("choose", rule.choose);
    io("status", rule.status);
    io.if_known("evidence", rule.evidence);
    io.if_known("candidate", rule.candidate);
}

void fields(auto& io, json::Of<Tool> auto& tool) {
    io("name", tool.name);
    io("version", tool.version);
    io.or_default("commit", tool.commit);
}

void fields(auto& io, json::Of<ResultFileInput> auto& input) {
    io("file", input.file);
    io("sha256", input.sha256);
    io("launches", input.launches);
}

void fields(auto& io, json::Of<System> auto& system) {
    io("key", system.key);
    io("cpu", system.cpu);
    io.if_known("gpu", system.gpu);
    if (io.has("gpu") && system.gpu.empty()) {
        io.refuse("gpu", "is empty; name the devices, or leave it out where none was used");
    }
    io.if_known("name", system.name);
    io.if_known("identity", system.identity);
}

void fields(auto& io, json::Of<MpiLibrary> auto& library) {
    io("name", library.name);
    io("version", library.version);
}

void fields(auto& io, json::Of<Stack> auto& stack) {
    io.if_known("mpi", stack.mpi);
    io.or_default("versions", stack.versions);
    io.or_default("environment", stack.environment);
}

void fields(auto& io, json::Of<Policy> auto& policy) {
    io("metric", policy.metric);
    io.object("min_gain", [&](auto& min_gain) {
        min_gain("small", policy.min_gain_small);
        min_gain("large", policy.min_gain_large);
    });
    io("fdr_q", policy.fdr_q);
    io("launches", policy.launches);
    io("confirm_launches", policy.confirm_launches);
    io("cut", policy.cut);
    io("hysteresis", policy.hysteresis);
    io.or_default("baseline", policy.baseline);
    io.if_known("cache", policy.cache);
    io.if_known("beside", policy.beside);
}

/// Everything but `schema` and `rules`.
void fields(auto& io, json::Of<TuningTable> auto& table) {
    io("created", table.created);
    io("tool", table.tool);
    io("inputs", table.inputs);
    io("system", table.system);
    io("stack", table.stack);
    io("policy", table.policy);
}

/// JSON leaves open what two fields of one name mean, and readers differ: such a table would have two answers.
class SyntaxWatch {
public:
    bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
        if (event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start) {
            if (depth > deepest) {
                throw TableError(TableFault::syntax, fmt::format("nests deeper than {}", deepest));
            }
            fields_.resize(static_cast<std::size_t>(depth) + 1);
            fields_.back().clear();
        } else if (event == Json::parse_event_t::key) {
            auto const name = parsed.get<std::string>();
            if (!fields_[static_cast<std::size_t>(depth) - 1].insert(name).second) {
                throw TableError(TableFault::syntax, fmt::format("the field '{}' is there twice", name));
            }
        }
        return true;
    }

private:
    static constexpr int deepest = 16;           // a table nests seven deep
    std::vector<std::set<std::string>> fields_;  // of the open objects, by depth
};

Json parse(std::string_view text) {
    try {
        return Json::parse(text, SyntaxWatch{});
    } catch (Json::parse_error const& error) {
        auto const end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
        throw TableError(TableFault::syntax,
                         fmt::format("line {}: not JSON; write the table again or correct it by hand",
                                     1 + std::count(text.begin(), end, '\n')));
    } catch (Json::exception const& error) {
        throw TableError(TableFault::syntax, fmt::format("not JSON: {}", error.what()));
    }
}

/// The minor version, of a table that this program can read.
unsigned minor_of(std::string_view schema) {
    constexpr std::string_view known = "dlmb.tuning-table/1.";
    if (schema.starts_with(known)) {
        if (auto const minor = parse_whole<unsigned>(schema.substr(known.size()))) {
            return *minor;
        }
    }
    refuse("schema", fmt::format("'{}' cannot be read by this program, which knows {}x", schema, known));
}

TuningTable table_from(Json const& document) {
    using Reader = json::Fields<Json const, TableJson>;
    TuningTable table;
    std::string schema;
    Reader of_any_version(document);
    of_any_version("schema", schema);
    Reader reader(document, Reader::document, minor_of(schema) <= minor_of(table_schema));
    reader("schema", schema);
    fields(reader, table);
    reader("rules", table.rules);
    reader.close();
    if (std::vector<TableProblem> const problems = validate(table); !problems.empty()) {
        refuse(problems.front().path, problems.front().what);
    }
    sort_rules(table.rules);
    return table;
}

}  // namespace

TuningTable parse_table(std::string_view text, std::string_view source) {
    try {
        return table_from(parse(text));
    } catch (TableError const& error) {
        throw TableError(error.fault(), fmt::format("{}: {}", source, error.what()));
    } catch (UsageError const& error) {
        throw TableError(TableFault::schema, fmt::format("{}: {}", source, error.what()));
    }
}

TuningTable read_table(std::filesystem::path const& path) {
    std::string text;
    try {
        text = read_document(path);
    } catch (UsageError const& error) {
        throw TableError(TableFault::io, fmt::format("{}; give the path of a tuning table", error.what()));
    }
    return parse_table(text, path.string());
}

void require_system(TuningTable const& table, std::string_view system_key, std::string_view source) {
    if (table.system.key != system_key) {
        throw TableError(TableFault::system,
                         fmt::format("{}: was measured on system {}, this is {}; measure a table here", source,
                                     table.system.key, system_key));
    }
}

std::string to_json(ChoiceParams const& params) {
    return json::write_at<TableJson>(params, json::Place("params")).dump();
}

std::string to_json(TuningTable const& table) {
    if (std::vector<TableProblem> const problems = validate(table); !problems.empty()) {
        throw UsageError(fmt::format("tuning table: {}: {}", problems.front().path, problems.front().what));
    }
    TuningTable sorted = table;
    sort_rules(sorted.rules);
    Json about{{"schema", table_schema}};
    json::Fields<Json, TableJson> writer(about);
    fields(writer, sorted);
    std::string text = about.dump(2);
    constexpr std::string_view closing = "\n}";
    text.resize(text.size() - closing.size());
    text += ",\n  \"rules\": [";
    for (Rule const& rule : sorted.rules) {
        text += fmt::format("{}\n    {}", &rule == sorted.rules.data() ? "" : ",",
                            json::write_at<TableJson>(rule, json::Place(rule.id)).dump());
    }
    return text + "\n  ]\n}\n";
}

void write_table(std::filesystem::path const& path, TuningTable const& table) {
    write_output(path, to_json(table));
}

}  // namespace dlmb::tuning
