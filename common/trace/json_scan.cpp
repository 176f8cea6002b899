// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/trace/json_scan.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace dlmb::trace {
namespace {

constexpr std::size_t most_piece = std::size_t{64} << 20;
constexpr std::size_t most_depth = 1000;

class Scanner {
public:
    explicit Scanner(Input& input) : input_(input) {}

    [[nodiscard]] bool at_end() { return after_blanks() == '\0'; }
    /// The next character that is no blank; 0 at the end.
    char after_blanks() {
        while (true) {
            std::string_view const text = input_.peek(1);
            if (text.empty()) {
                return '\0';
            }
            std::size_t const first = text.find_first_not_of(" \t\r\n");
            input_.skip(std::min(first, text.size()));
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
        input_.skip(1);
    }
    /// True: goes over `wanted`.
    [[nodiscard]] bool take(char wanted) {
        if (after_blanks() != wanted) {
            return false;
        }
        input_.skip(1);
        return true;
    }

    /// The text of the value that comes next; it stays until the next call.
    std::string_view value() {
        text_.clear();
        char const first = after_blanks();
        if (first == '{' || first == '[') {
            brackets();
        } else if (first == '"') {
            input_.skip(1);
            text_.push_back('"');
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
            input_.refuse("the JSON ends too early: the file is cut off");
        }
        input_.refuse(wanted == 'v' ? fmt::format("no JSON: a value cannot begin with '{}'", found)
                                    : fmt::format("no JSON: '{}' where '{}' belongs", found, wanted));
    }
    std::string_view more() {
        std::string_view const text = input_.peek(1);
        if (text.empty()) {
            fail('"', '\0');
        }
        if (text_.size() > most_piece) {
            input_.refuse("a part of the JSON is larger than 64 MiB");
        }
        return text;
    }
    void take_over(std::string_view text, std::size_t count) {
        text_.append(text.substr(0, count));
        input_.skip(count);
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
                        input_.refuse(fmt::format("the JSON has more than {} nested brackets", most_depth));
                    }
                } else if (character == '}' || character == ']') {
                    if (open_.back() != (character == '}' ? '{' : '[')) {
                        input_.refuse(fmt::format("no JSON: '{}' closes a '{}'", character, open_.back()));
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
            if (opened && scanner_.after_blanks() == '{') {
                object(name + "[].");
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
            scanner_.expect(':');
            if (scanner_.after_blanks() == '[' && pieces_.is_long(name)) {
                list(name);
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
    if (!scanner.at_end()) {
        input.refuse("something stands behind the end of the JSON");
    }
}

void scan_json_lines(Input& input, std::function<void(std::uint64_t, std::string_view)> const& object) {
    Scanner scanner(input);
    for (std::uint64_t index = 0; !scanner.at_end(); ++index) {
        if (scanner.after_blanks() != '{') {
            scanner.expect('{');
        }
        object(index, scanner.value());
    }
}

Json parse_piece(Input const& input, std::string_view where, std::string_view text) {
    try {
        return Json::parse(text);
    } catch (Json::exception const& error) {
        std::string_view why = error.what();
        why.remove_prefix(std::min(why.find("] ") + 2, why.size()));  // the library's number of its message
        input.refuse(fmt::format("{} is no JSON: {}", where, why));
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

}  // namespace dlmb::trace
