// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Answers questions as lookup() and as libdlmb_tuning do, for comparison with the Python reader. Each line of standard
// input is {"open": PATH}, answered with the code of dlmb_tuning_open, or a question, answered with the
// choice, null, or "unknown" where a name is. Exits with 1 when the two answers differ.
#include "common/formats/table/c/dlmb_tuning.h"
#include "common/formats/table/query.hpp"
#include "common/formats/table/table_file.hpp"

#include <nlohmann/json.hpp>

#include <iostream>
#include <string>

namespace dlmb::tuning {
namespace {

using Json = nlohmann::json;

template <class Value>
std::optional<Value> known(Json const& question, char const* name) {
    return question.contains(name) ? std::optional{question.at(name).get<Value>()} : std::nullopt;
}

/// A question as text, bytes and numbers that both interfaces take.
class Question {
public:
    explicit Question(Json const& json) : json_(json) {}

    [[nodiscard]] bool has_operation() const { return operation_named(text("operation")).has_value(); }

    [[nodiscard]] std::string_view backend() const { return text("backend"); }

    [[nodiscard]] Key key() const {
        Key key;
        key.operation = *operation_named(text("operation"));
        key.bytes = known<Bytes>(json_, "bytes");
        key.ranks = known<std::uint64_t>(json_, "ranks");
        key.nodes = known<std::uint64_t>(json_, "nodes");
        key.dtype = text("dtype");
        key.reduction = text("reduction");
        key.memory = text("memory");
        key.in_place = known<bool>(json_, "in_place");
        key.uniform = known<bool>(json_, "uniform");
        key.imbalance = known<double>(json_, "imbalance");
        return key;
    }

    [[nodiscard]] dlmb_tuning_query c_query() const {
        dlmb_tuning_query query = DLMB_TUNING_QUERY_INIT;
        query.operation = c_text("operation");
        query.scope = c_text("backend");
        query.bytes = json_.at("bytes").get<Bytes>();
        query.ranks = count("ranks");
        query.nodes = count("nodes");
        query.dtype = c_text("dtype");
        query.reduction = c_text("reduction");
        query.memory = c_text("memory");
        query.in_place = flag("in_place");
        query.uniform = flag("uniform");
        query.imbalance = json_.value("imbalance", -1.0);
        return query;
    }

private:
    [[nodiscard]] char const* c_text(char const* name) const {
        return json_.contains(name) ? json_.at(name).get_ref<std::string const&>().c_str() : nullptr;
    }
    [[nodiscard]] std::string_view text(char const* name) const {
        char const* found = c_text(name);
        return found == nullptr ? std::string_view{} : found;
    }
    [[nodiscard]] std::int64_t count(char const* name) const { return json_.value(name, std::int64_t{-1}); }
    [[nodiscard]] std::int32_t flag(char const* name) const {
        return json_.contains(name) ? static_cast<std::int32_t>(json_.at(name).get<bool>()) : -1;
    }

    Json const& json_;
};

Json text_or_null(char const* text) {
    return text == nullptr ? Json(nullptr) : Json(text);
}

Json answer_of(dlmb_tuning_choice const& choice) {
    return {{"backend", choice.backend},
            {"method", choice.method},
            {"algorithm", text_or_null(choice.algorithm)},
            {"algorithm_family", text_or_null(choice.algorithm_family)},
            {"algorithm_id", choice.algorithm_id < 0 ? Json(nullptr) : Json(choice.algorithm_id)},
            {"params", Json::parse(choice.params)},
            {"rule_id", choice.rule_id},
            {"select_rule_id", text_or_null(choice.select_rule_id)},
            {"status", choice.status},
            {"evidence", text_or_null(choice.evidence)}};
}

class Reader {
public:
    Reader() = default;
    Reader(Reader const&) = delete;
    Reader& operator=(Reader const&) = delete;
    Reader(Reader&&) = delete;
    Reader& operator=(Reader&&) = delete;
    ~Reader() { dlmb_tuning_close(c_table_); }

    int open(std::string const& path) {
        dlmb_tuning_close(c_table_);
        int const code = dlmb_tuning_open(path.c_str(), nullptr, &c_table_);
        int ours = 0;
        try {
            table_ = read_table(path);
            if (parse_table(to_json(table_), path) != table_) {
                throw std::runtime_error("a table is read as another one than was written: " + path);
            }
        } catch (TableError const& error) {
            ours = -1 - static_cast<int>(error.fault());
        }
        if (ours != code) {
            throw std::runtime_error("C++ and C differ on " + path);
        }
        return code;
    }

    [[nodiscard]] Json answer(Question const& question) const {
        dlmb_tuning_query const query = question.c_query();
        dlmb_tuning_choice choice = DLMB_TUNING_CHOICE_INIT;
        int const code = dlmb_tuning_lookup(c_table_, &query, &choice);
        bool const unknown = !question.has_operation() || unknown_word(table_, question.key(), question.backend());
        if (unknown != (code == DLMB_TUNING_BAD_ARGUMENT)) {
            throw std::runtime_error("C++ and C differ");
        }
        if (unknown) {
            return "unknown";
        }
        Match const match = lookup(table_, question.key(), question.backend());
        bool const same =
            match ? code == DLMB_TUNING_MATCH && match.deciding()->id == choice.rule_id : code == DLMB_TUNING_NO_RULE;
        if (!same) {
            throw std::runtime_error("C++ and C differ");
        }
        return match ? answer_of(choice) : Json(nullptr);
    }

private:
    TuningTable table_;
    dlmb_tuning* c_table_ = nullptr;
};

void answer_all() {
    Reader reader;
    for (std::string line; std::getline(std::cin, line);) {
        Json const question = Json::parse(line);
        if (question.contains("open")) {
            std::cout << reader.open(question.at("open")) << '\n';
        } else {
            std::cout << reader.answer(Question(question)) << '\n';
        }
    }
}

}  // namespace
}  // namespace dlmb::tuning

int main() {
    try {
        dlmb::tuning::answer_all();
    } catch (std::exception const& error) {
        std::cerr << "tuning_answers: " << error.what() << '\n';
        return 1;
    }
    return std::cout.flush() ? 0 : 1;
}
