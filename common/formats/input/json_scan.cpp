// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/input/json_scan.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace dlmb::input {
namespace {

constexpr std::size_t most_piece = std::size_t{64} << 20;
constexpr std::size_t most_depth = 1000;
constexpr std::size_t most_searched = std::size_t{4} << 20;  // of a piece that has no end, for what is wrong in it

/// Goes through a text up to the first place that is no JSON.
class FirstFault : public nlohmann::json_sax<Json> {
public:
    explicit FirstFault(std::string_view text) : text_(text) { (void)Json::sax_parse(text, this); }

    /// Before the end of the text: at the end it may only be cut off.
    [[nodiscard]] bool inside() const { return !why_.empty() && position_ <= text_.size(); }
    /// ".args.Rank", "[3].name"
    [[nodiscard]] std::string field() const {
        std::string path;
        for (Level const& level : levels_) {
            path += level.is_list ? fmt::format("[{}]", level.index) : level.name.empty() ? "" : "." + level.name;
        }
        return path;
    }
    [[nodiscard]] Place behind(Place begin) const {
        begin.pass(text_.substr(0, std::min(position_, text_.size() + 1) - 1));
        return begin;
    }
    [[nodiscard]] std::string const& why() const { return why_; }

    bool null() override { return value(); }
    bool boolean(bool /*value*/) override { return value(); }
    bool number_integer(number_integer_t /*value*/) override { return value(); }
    bool number_unsigned(number_unsigned_t /*value*/) override { return value(); }
    bool number_float(number_float_t /*value*/, string_t const& /*text*/) override { return value(); }
    bool string(string_t& /*value*/) override { return value(); }
    bool binary(binary_t& /*value*/) override { return value(); }
    bool start_object(std::size_t /*elements*/) override { return open(false); }
    bool start_array(std::size_t /*elements*/) override { return open(true); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t& name) override {
        levels_.back().name = name;
        return true;
    }
    bool parse_error(std::size_t position, std::string const& /*token*/, Json::exception const& error) override {
        position_ = std::max<std::size_t>(position, 1);
        why_ = error.what();
        // "[json.exception.parse_error.101] parse error at line 1, column 7: syntax error ..."
        for (std::string_view const end : {"] ", "column ", ": "}) {
            std::size_t const place = why_.find(end);
            why_.erase(0, place == std::string::npos ? 0 : place + end.size());
        }
        constexpr std::size_t most = 160;
        if (why_.size() > most) {
            why_ = why_.substr(0, most / 2) + " ... " + why_.substr(why_.size() - most / 2);
        }
        return false;
    }

private:
    struct Level {
        bool is_list = false;
        std::size_t index = 0;
        std::string name;
    };

    bool value() {
        if (!levels_.empty()) {
            ++levels_.back().index;
        }
        return true;
    }
    bool open(bool is_list) {
        levels_.push_back({is_list, 0, ""});
        return levels_.size() <= most_depth;
    }
    bool close() {
        levels_.pop_back();
        return value();
    }

    std::string_view text_;
    std::vector<Level> levels_;
    std::size_t position_ = 1;
    std::string why_;
};

class Scanner {
public:
    explicit Scanner(Input& input) : input_(input) {}

    /// Names the next element or member as a user calls it.
    void comes(std::string_view name, std::optional<std::uint64_t> index = std::nullopt) {
        name_.assign(name);
        index_ = index;
    }

    [[nodiscard]] bool at_end() { return after_blanks() == '\0'; }
    /// The next character that is no blank; 0 at the end.
    char after_blanks() {
        while (true) {
            std::string_view const text = input_.peek(1);
            if (text.empty()) {
                return '\0';
            }
            std::size_t const first = text.find_first_not_of(" \t\r\n");
            pass(text, std::min(first, text.size()));
            if (first != std::string_view::npos) {
                if (text[first] == '\0') {
                    input_.refuse("no JSON: it holds a zero byte");
                }
                return text[first];
            }
        }
    }
    void expect(char wanted) {
        if (char const found = after_blanks(); found != wanted) {
            fail(wanted, found);
        }
        pass({&wanted, 1}, 1);
    }
    /// True: goes over `wanted`.
    [[nodiscard]] bool take(char wanted) {
        if (after_blanks() != wanted) {
            return false;
        }
        pass({&wanted, 1}, 1);
        return true;
    }

    /// The text of the value that comes next; it stays until the next call.
    std::string_view value() {
        text_.clear();
        char const first = after_blanks();
        begin_ = place_;
        input_.at(begin_);
        if (first == '{' || first == '[') {
            brackets();
        } else if (first == '"') {
            take_over("\"", 1);
            string_rest();
        } else if (first == '-' || std::isalnum(static_cast<unsigned char>(first)) != 0) {
            scalar();
        } else {
            fail('v', first);
        }
        return text_;
    }

private:
    [[noreturn]] void fail(char wanted, char found) {
        if (found == '\0') {
            refuse("the JSON ends too early: the file is cut off");
        }
        refuse(wanted == 'v'                    ? fmt::format("no JSON: a value cannot begin with '{}'", found)
               : wanted == '}' || wanted == ']' ? fmt::format("no JSON: '{}' where ',' or '{}' belongs", found, wanted)
                                                : fmt::format("no JSON: '{}' where '{}' belongs", found, wanted));
    }
    /// Brackets and quotes are counted alone, so that what is wrong may lie far in front of where it is noticed.
    [[noreturn]] void refuse(std::string const& why) {
        std::string_view const begin = std::string_view(text_).substr(0, most_searched);
        if (FirstFault const fault(begin); !begin.empty() && fault.inside()) {
            input_.refuse_at(fault.behind(begin_),
                             fmt::format("{}{}: no JSON: {}", field(), fault.field(), fault.why()));
        }
        input_.refuse_at(place_, fmt::format("{}{}{}", field(), field().empty() ? "" : ": ", why));
    }
    [[nodiscard]] std::string field() const { return index_ ? fmt::format("{}[{}]", name_, *index_) : name_; }
    void pass(std::string_view text, std::size_t count) {
        place_.pass(text.substr(0, count));
        input_.skip(count);
    }
    std::string_view more() {
        std::string_view const text = input_.peek(1);
        if (text.empty()) {
            fail('"', '\0');
        }
        if (text_.size() > most_piece) {
            refuse("a part of the JSON is larger than 64 MiB");
        }
        return text;
    }
    void take_over(std::string_view text, std::size_t count) {
        text_.append(text.substr(0, count));
        pass(text, count);
    }
    /// Behind the opening quote, to behind the closing one.
    void string_rest() {
        while (true) {
            std::string_view const text = more();
            std::size_t const stop = text.find_first_of("\"\\");
            if (stop == std::string_view::npos) {
                take_over(text, text.size());
                continue;
            }
            char const found = text[stop];
            take_over(text, stop + 1);
            if (found == '"') {
                return;
            }
            take_over(more(), 1);  // whatever is escaped
        }
    }
    void scalar() {
        while (true) {
            std::string_view const text = input_.peek(1);
            if (text.empty() || text_.size() > most_piece) {
                return;
            }
            std::size_t const end = std::min(text.find_first_of(",]} \t\r\n"), text.size());
            bool const whole = end < text.size();
            take_over(text, end);
            if (whole) {
                return;
            }
        }
    }
    void brackets() {
        open_.clear();
        do {
            std::string_view const text = more();
            std::size_t place = 0;
            for (; place < text.size(); ++place) {
                char const character = text[place];
                if (character == '"') {
                    break;
                }
                if (character == '{' || character == '[') {
                    open_.push_back(character);
                    if (open_.size() > most_depth) {
                        refuse(fmt::format("the JSON has more than {} nested brackets", most_depth));
                    }
                } else if (character == '}' || character == ']') {
                    if (open_.back() != (character == '}' ? '{' : '[')) {
                        take_over(text, place + 1);
                        refuse(fmt::format("no JSON: '{}' closes a '{}'", character, open_.back()));
                    }
                    open_.pop_back();
                    if (open_.empty()) {
                        take_over(text, place + 1);
                        return;
                    }
                }
            }
            if (place == text.size()) {
                take_over(text, place);
            } else {
                take_over(text, place + 1);
                string_rest();
            }
        } while (true);
    }

    Input& input_;
    std::string text_;
    std::string open_;
    std::string name_;
    std::optional<std::uint64_t> index_;
    Place place_{1, 1};
    Place begin_{1, 1};  // of the value
};

class Pieces {
public:
    Pieces(Input const& input, Scanner& scanner, JsonPieces const& pieces)
        : input_(input), scanner_(scanner), pieces_(pieces) {}

    void list(std::string const& name) {  // NOLINT(misc-no-recursion): as deep as is_long() says
        bool const opened = !name.empty() && pieces_.is_long(name + "[]");
        scanner_.expect('[');
        if (scanner_.take(']')) {
            return;
        }
        for (std::uint64_t index = 0;; ++index) {
            scanner_.comes(name, index);
            if (opened && scanner_.after_blanks() == '{') {
                object(name + "[].");
                scanner_.comes(name, index);
                pieces_.element(name, index, {});
            } else {
                pieces_.element(name, index, scanner_.value());
            }
            if (!scanner_.take(',')) {
                break;
            }
        }
        scanner_.expect(']');
    }

    /// `prefix`: of the names of its members.
    void object(std::string const& prefix) {  // NOLINT(misc-no-recursion)
        scanner_.expect('{');
        if (scanner_.take('}')) {
            return;
        }
        do {
            if (scanner_.after_blanks() != '"') {
                scanner_.expect('"');
            }
            std::string const name = prefix + parse_piece(input_, "a name", scanner_.value()).get<std::string>();
            scanner_.comes(name);
            scanner_.expect(':');
            if (scanner_.after_blanks() == '[' && pieces_.is_long(name)) {
                list(name);
                scanner_.comes(name);
            } else {
                pieces_.member(name, scanner_.value());
            }
        } while (scanner_.take(','));
        scanner_.expect('}');
    }

private:
    Input const& input_;
    Scanner& scanner_;
    JsonPieces const& pieces_;
};

}  // namespace

void scan_json(Input& input, JsonPieces const& pieces) {
    Scanner scanner(input);
    if (scanner.after_blanks() == '[') {
        Pieces(input, scanner, pieces).list("");
    } else {
        Pieces(input, scanner, pieces).object("");
    }
    scanner.comes("");
    if (!scanner.at_end()) {
        input.refuse("something stands behind the end of the JSON");
    }
    input.at({});
}

void scan_json_lines(Input& input, std::function<void(std::uint64_t, std::string_view)> const& object) {
    Scanner scanner(input);
    for (std::uint64_t index = 0; !scanner.at_end(); ++index) {
        if (scanner.after_blanks() != '{') {
            scanner.expect('{');
        }
        object(index, scanner.value());
    }
    input.at({});
}

Json parse_piece(Input const& input, std::string_view where, std::string_view text) {
    try {
        return Json::parse(text);
    } catch (Json::exception const&) {
        FirstFault const fault(text);
        input.refuse_at(fault.behind(input.place()),
                        fmt::format("{}{}: no JSON: {}", where, fault.field(), fault.why()));
    }
}

Bytes whole_number(Input const& input, std::string_view where, Json const& value) {
    constexpr auto most = static_cast<Bytes>(std::numeric_limits<std::int64_t>::max());
    std::optional<Bytes> number;
    if (value.is_number_unsigned()) {
        number = value.get<Bytes>();
    } else if (value.is_number_float() && value.get<double>() >= 0 && value.get<double>() < 9.0e15 &&
               std::floor(value.get<double>()) == value.get<double>()) {
        number = static_cast<Bytes>(value.get<double>());
    } else if (value.is_string()) {
        number = parse_whole<Bytes>(value.get_ref<std::string const&>());
    }
    if (!number || *number > most) {
        input.refuse(fmt::format("{} must be a whole number from 0 to 2^63 - 1, but is {}", where,
                                 value.dump(-1, ' ', false, Json::error_handler_t::replace)));
    }
    return *number;
}

}  // namespace dlmb::input
