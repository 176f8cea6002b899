// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/table_file.hpp"

#include "common/base/input_file.hpp"
#include "common/base/output_file.hpp"
#include "common/base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <type_traits>

namespace dlmb::tuning {
namespace {

using Json = nlohmann::ordered_json;
using TextMap = std::map<std::string, std::string>;

[[noreturn]] void refuse(std::string_view path, std::string_view why) {
    throw TableError(TableFault::schema, fmt::format("{}: {}", path, why));
}

/// Fills in an object field by field, and complains with the path of the field. Null counts as absent.
class Reader {
public:
    /// `tolerant`: unknown fields are passed over.
    Reader(Json const& json, std::string path, bool tolerant)
        : json_(json), path_(std::move(path)), tolerant_(tolerant) {
        if (!json.is_object()) {
            refuse(own_path(), "must be an object");
        }
    }

    template <class Value>
    void field(char const* name, Value& value) {
        read(at(name), path_of(name), value);
    }
    template <class Value>
    void field_or_empty(char const* name, Value& value) {
        if (has(name)) {
            field(name, value);
        }
    }
    template <class Value>
    void optional(char const* name, Value& value) {
        field_or_empty(name, value);
    }
    template <class Value, class Members>
    void optional(char const* name, std::optional<Value>& value, Members members) {
        if (has(name)) {
            object(name, [&](Reader& inner) { members(inner, value.emplace()); });
        }
    }
    template <class Members>
    void object(char const* name, Members members) {
        Reader inner(at(name), path_of(name), tolerant_);
        members(inner);
        inner.close();
    }
    void basis(char const* name, TunedOperation operation) {
        std::string told;
        field(name, told);
        if (std::string_view const right = basis_of(operation); told != right) {
            refuse(path_of(name),
                   fmt::format("'{}' is not the basis of {}; give its sizes as '{}'", told, name_of(operation), right));
        }
    }
    void limit(char const* name, Bytes& value) {
        value = no_limit;
        field_or_empty(name, value);
    }
    void not_empty(char const* name, std::string const& value, std::string_view why) {
        if (has(name) && value.empty()) {
            refuse(path_of(name), why);
        }
    }

    /// Refuses fields that nobody asked for.
    void close() const {
        for (auto const& [name, value] : json_.items()) {
            if (!tolerant_ && !known_.contains(name)) {
                refuse(own_path(), fmt::format("unknown field '{}'; it has {}", name, fmt::join(known_, ", ")));
            }
        }
    }

private:
    static void read(Json const& json, std::string const& path, std::string& text) {
        if (!json.is_string()) {
            refuse(path, "must be a text");
        }
        text = json.get<std::string>();
        if (text.find('\0') != std::string::npos) {
            refuse(path, "holds a zero byte, which ends a text in C");
        }
    }
    static void read(Json const& json, std::string const& path, std::uint64_t& number) {
        if (!json.is_number_integer() || (!json.is_number_unsigned() && json.get<std::int64_t>() < 0)) {
            refuse(path, fmt::format("must be a whole number from 0 to {}", std::numeric_limits<std::uint64_t>::max()));
        }
        number = json.get<std::uint64_t>();
    }
    static void read(Json const& json, std::string const& path, std::int64_t& number) {
        std::uint64_t whole = 0;
        read(json, path, whole);
        if (whole > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
            refuse(path, "is above 2^63 - 1");
        }
        number = static_cast<std::int64_t>(whole);
    }
    static void read(Json const& json, std::string const& path, double& number) {
        if (!json.is_number()) {
            refuse(path, "must be a number");
        }
        number = json.get<double>();
    }
    static void read(Json const& json, std::string const& path, bool& yes) {
        if (!json.is_boolean()) {
            refuse(path, "must be true or false");
        }
        yes = json.get<bool>();
    }
    static void read(Json const& json, std::string const& path, TunedOperation& operation) {
        read_word(json, path, operation, operation_named);
    }
    static void read(Json const& json, std::string const& path, RuleStatus& status) {
        read_word(json, path, status, status_named);
    }
    void read(Json const& json, std::string const& path, TextMap& map) {
        Reader inner(json, path, tolerant_);
        for (auto const& [name, value] : json.items()) {
            inner.field(name.c_str(), map[name]);
        }
    }
    void read(Json const& json, std::string const& path, std::array<double, 2>& pair) {
        std::vector<double> values;
        read(json, path, values);
        if (values.size() != pair.size()) {
            refuse(path, "must be [low, high]");
        }
        std::copy(values.begin(), values.end(), pair.begin());
    }
    template <class Value>
    void read(Json const& json, std::string const& path, std::optional<Value>& value) {
        read(json, path, value.emplace());
    }
    template <class Value>
    void read(Json const& json, std::string const& path, std::vector<Value>& list) {
        if (!json.is_array()) {
            refuse(path, "must be a list");
        }
        for (Json const& element : json) {
            std::string const place = fmt::format("{}[{}]", path, list.size());
            read(element, place, list.emplace_back());
        }
    }
    template <class Struct>
    void read(Json const& json, std::string const& path, Struct& value) {
        Reader inner(json, path, tolerant_ && !std::is_same_v<Struct, Rule>);
        fields(inner, value);
        inner.close();
    }
    template <class Word>
    static void read_word(Json const& json, std::string const& path, Word& word,
                          std::optional<Word> (*named)(std::string_view)) {
        std::string text;
        read(json, path, text);
        auto const found = named(text);
        if (!found) {
            refuse(path, fmt::format("'{}' is none of its words; see results-schema/README.md", text));
        }
        word = *found;
    }

    [[nodiscard]] bool has(char const* name) {
        known_.insert(name);
        auto const found = json_.find(name);
        return found != json_.end() && !found->is_null();
    }
    [[nodiscard]] Json const& at(char const* name) {
        if (!has(name)) {
            refuse(path_of(name), "is missing");
        }
        return json_.at(name);
    }
    [[nodiscard]] std::string own_path() const { return path_.empty() ? "the table" : path_; }
    [[nodiscard]] std::string path_of(std::string_view name) const {
        return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
    }

    Json const& json_;
    std::string path_;  // empty: the table itself
    bool tolerant_;
    std::set<std::string> known_;
};

/// Makes an object of the same calls. Takes what it only reads as not const, because a Reader fills it in.
class Writer {
public:
    template <class Value>
    void field(char const* name, Value& value) {
        json_[name] = json_of(value);
    }
    template <class Value>
    void field_or_empty(char const* name, Value& value) {
        field(name, value);
    }
    template <class Value>
    void optional(char const* name, Value& value) {
        if (value != Value{}) {
            field(name, value);
        }
    }
    template <class Value, class Members>
    void optional(char const* name, std::optional<Value>& value, Members members) {
        if (value) {
            object(name, [&](Writer& inner) { members(inner, *value); });
        }
    }
    template <class Members>
    void object(char const* name, Members members) {
        Writer inner;
        members(inner);
        json_[name] = std::move(inner.json_);
    }
    void basis(char const* name, TunedOperation operation) { json_[name] = basis_of(operation); }
    void limit(char const* name, Bytes value) { json_[name] = value == no_limit ? Json(nullptr) : Json(value); }
    void not_empty(char const* /*name*/, std::string const& /*value*/, std::string_view /*why*/) {}

    template <class Struct>
    [[nodiscard]] static Json json_of(Struct& value) {
        Writer inner;
        fields(inner, value);
        return std::move(inner.json_);
    }
    template <class Value>
    requires(std::is_arithmetic_v<Value> || std::is_same_v<Value, std::string> || std::is_same_v<Value, TextMap> ||
             std::is_same_v<Value, std::array<double, 2>>) [[nodiscard]] static Json json_of(Value& value) {
        return value;
    }
    template <class Word>
    requires std::is_enum_v<Word>
    [[nodiscard]] static Json json_of(Word& word) { return name_of(word); }
    template <class Value>
    [[nodiscard]] static Json json_of(std::optional<Value>& value) {
        return json_of(*value);
    }
    template <class Value>
    [[nodiscard]] static Json json_of(std::vector<Value>& values) {
        Json list = Json::array();
        for (Value& value : values) {
            list.push_back(json_of(value));
        }
        return list;
    }

private:
    Json json_ = Json::object();
};

// The fields of a table, for reading and for writing: `field` is always there; `field_or_empty` is always written;
// `optional` is written only where the value is not the empty one.

template <class Io, class Number>
void fields(Io& io, Interval<Number>& interval) {
    io.field("min", interval.min);
    io.field("max", interval.max);
}

template <class Io>
void fields(Io& io, When& when) {
    io.field("operation", when.operation);
    io.optional("bytes", when.bytes, [&](Io& inner, ByteInterval& bytes) {
        inner.basis("basis", when.operation);
        inner.field("min", bytes.min);
        inner.limit("max", bytes.max);
    });
    io.optional("ranks", when.ranks);
    io.optional("nodes", when.nodes);
    io.optional("dtype", when.dtype);
    io.optional("reduction", when.reduction);
    io.optional("memory", when.memory);
    io.optional("in_place", when.in_place);
    io.optional("uniform", when.uniform);
    io.optional("imbalance", when.imbalance);
}

template <class Io>
void fields(Io& io, Algorithm& algorithm) {
    io.field("family", algorithm.family);
    io.field("name", algorithm.name);
    io.optional("id", algorithm.id);
}

template <class Io>
void fields(Io& io, ChoiceParams& params) {
    io.optional("protocol", params.protocol);
    for (auto const& [name, number] : number_params) {
        io.optional(name, params.*number);
    }
    io.optional("knobs", params.knobs);
}

template <class Io>
void fields(Io& io, Choice& choice) {
    io.field("backend", choice.backend);
    io.field("method", choice.method);
    io.optional("algorithm", choice.algorithm);
    io.optional("params", choice.params);
}

template <class Io>
void fields(Io& io, Foreign& foreign) {
    io.field("suite", foreign.suite);
    io.field("statistic", foreign.statistic);
}

template <class Io>
void fields(Io& io, Predicted& predicted) {
    io.field("fitted_nodes", predicted.fitted_nodes);
    io.optional("held_out_error", predicted.held_out_error);
}

template <class Io>
void fields(Io& io, Evidence& evidence) {
    io.optional("foreign", evidence.foreign);
    io.optional("predicted", evidence.predicted);
    io.field("sizes", evidence.sizes);
    io.field("samples", evidence.samples);
    io.field("launches", evidence.launches);
    io.field("confirmed", evidence.confirmed);
    io.object("median_ns", [&](Io& times) {
        times.field("choice", evidence.choice_ns);
        times.optional("runner_up", evidence.runner_up_ns);
        times.field("default", evidence.default_ns);
    });
    io.field("gain", evidence.gain);
    if (evidence.foreign) {
        return;
    }
    std::array interval{evidence.gain_low, evidence.gain_high};
    io.field("ci", interval);
    evidence.gain_low = interval[0];
    evidence.gain_high = interval[1];
}

template <class Io>
void fields(Io& io, Candidate& candidate) {
    io.field("choose", candidate.choose);
    io.field("gain", candidate.gain);
    std::array interval{candidate.gain_low, candidate.gain_high};
    io.field("ci", interval);
    candidate.gain_low = interval[0];
    candidate.gain_high = interval[1];
}

template <class Io>
void fields(Io& io, Rule& rule) {
    io.field("id", rule.id);
    io.field("scope", rule.scope);
    io.optional("pattern", rule.pattern);
    io.field("when", rule.when);
    io.field("choose", rule.choose);
    io.field("status", rule.status);
    io.optional("evidence", rule.evidence);
    io.optional("candidate", rule.candidate);
}

template <class Io>
void fields(Io& io, Tool& tool) {
    io.field("name", tool.name);
    io.field("version", tool.version);
    io.field_or_empty("commit", tool.commit);
}

template <class Io>
void fields(Io& io, Input& input) {
    io.field("file", input.file);
    io.field("sha256", input.sha256);
    io.field("launches", input.launches);
}

template <class Io>
void fields(Io& io, System& system) {
    io.field("key", system.key);
    io.field("cpu", system.cpu);
    io.optional("gpu", system.gpu);
    io.not_empty("gpu", system.gpu, "is empty; name the devices, or leave it out where none was used");
    io.optional("name", system.name);
    io.optional("identity", system.identity);
}

template <class Io>
void fields(Io& io, MpiLibrary& library) {
    io.field("name", library.name);
    io.field("version", library.version);
}

template <class Io>
void fields(Io& io, Stack& stack) {
    io.optional("mpi", stack.mpi);
    io.field_or_empty("versions", stack.versions);
    io.field_or_empty("environment", stack.environment);
}

template <class Io>
void fields(Io& io, Policy& policy) {
    io.field("metric", policy.metric);
    io.object("min_gain", [&](Io& min_gain) {
        min_gain.field("small", policy.min_gain_small);
        min_gain.field("large", policy.min_gain_large);
    });
    io.field("fdr_q", policy.fdr_q);
    io.field("launches", policy.launches);
    io.field("confirm_launches", policy.confirm_launches);
    io.field("cut", policy.cut);
    io.field("hysteresis", policy.hysteresis);
    io.field_or_empty("baseline", policy.baseline);
    io.optional("cache", policy.cache);
}

/// Everything but `schema` and `rules`.
template <class Io>
void fields(Io& io, TuningTable& table) {
    io.field("created", table.created);
    io.field("tool", table.tool);
    io.field("inputs", table.inputs);
    io.field("system", table.system);
    io.field("stack", table.stack);
    io.field("policy", table.policy);
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

TuningTable table_from(Json const& json) {
    TuningTable table;
    std::string schema;
    Reader(json, "", true).field("schema", schema);
    Reader reader(json, "", minor_of(schema) > minor_of(table_schema));
    reader.field("schema", schema);
    fields(reader, table);
    reader.field("rules", table.rules);
    reader.close();
    if (std::vector<Problem> const problems = validate(table); !problems.empty()) {
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
    ChoiceParams copy = params;
    return Writer::json_of(copy).dump();
}

std::string to_json(TuningTable const& table) {
    if (std::vector<Problem> const problems = validate(table); !problems.empty()) {
        throw UsageError(fmt::format("tuning table: {}: {}", problems.front().path, problems.front().what));
    }
    TuningTable sorted = table;
    sort_rules(sorted.rules);
    Json about{{"schema", table_schema}};
    about.update(Writer::json_of(sorted));
    std::string text = about.dump(2);
    constexpr std::string_view closing = "\n}";
    text.resize(text.size() - closing.size());
    text += ",\n  \"rules\": [";
    for (Rule& rule : sorted.rules) {
        text += fmt::format("{}\n    {}", &rule == sorted.rules.data() ? "" : ",", Writer::json_of(rule).dump());
    }
    return text + "\n  ]\n}\n";
}

void write_table(std::filesystem::path const& path, TuningTable const& table) {
    write_output(path, to_json(table));
}

}  // namespace dlmb::tuning
