// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/input/json_scan.hpp"

#include "common/base/error.hpp"
#include "common/base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <istream>
#include <limits>
#include <optional>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

namespace dlmb::input {
namespace {

constexpr std::size_t most_piece = std::size_t{64} << 20;
constexpr std::size_t most_depth = 1000;
constexpr std::size_t longest_shown = 160;  // of a field, and of what the library says

std::string shortened(std::string const& text) {
    return text.size() <= longest_shown
               ? text
               : text.substr(0, longest_shown / 2) + " ... " + text.substr(text.size() - longest_shown / 2);
}

/// The bytes of an input for the library, with the place that it came to.
class StreamedInput final : public std::streambuf {
public:
    explicit StreamedInput(Input& input) : input_(input) {}

    /// The library has asked for more than there is.
    [[nodiscard]] bool ended() const { return ended_; }
    /// The place of the last byte that was read.
    [[nodiscard]] Place last() {
        pass(gptr() == eback() ? gptr() : gptr() - 1);
        return place_;
    }
    void begin_piece() { piece_bytes_ = 0; }

private:
    int_type underflow() override {
        std::string_view text = input_.peek(longest_character);
        ended_ = text.empty();
        if (ended_) {
            return traits_type::eof();
        }
        pass(gptr());
        if (piece_bytes_ > most_piece) {
            input_.refuse_at(place_, "a part of the JSON is larger than 64 MiB");
        }
        chunk_.assign(text.substr(0, whole_characters(text)));
        input_.skip(chunk_.size());
        make_printable();
        piece_bytes_ += chunk_.size();
        setg(chunk_.data(), chunk_.data(), chunk_.data() + chunk_.size());
        passed_ = chunk_.data();
        return traits_type::to_int_type(chunk_.front());
    }

    void pass(char* end) {
        place_.pass({passed_, end});
        passed_ = end;
    }

    /// The bytes in front of a last character that may go on.
    static std::size_t whole_characters(std::string_view text) {
        constexpr unsigned char least_first = 0xc0;
        for (std::size_t back = 1; back < std::min(longest_character, text.size()); ++back) {
            if (static_cast<unsigned char>(text[text.size() - back]) >= least_first) {
                return text.size() - back;
            }
        }
        return text.size();
    }

    void make_printable() {
        for (std::size_t place = 0; place < chunk_.size();) {
            char& byte = chunk_[place];
            bool const usual = (byte >= ' ' && byte <= '~') || byte == '\n' || byte == '\t' || byte == '\r';
            std::size_t const bytes = usual ? 1 : printable_bytes(std::string_view(chunk_).substr(place));
            byte = bytes == 0 ? '?' : byte;
            place += std::max<std::size_t>(bytes, 1);
        }
    }

    static constexpr std::size_t longest_character = 4;

    Input& input_;
    std::string chunk_;
    char* passed_ = nullptr;  // of the chunk, what place_ has passed
    Place place_{1, 1};
    std::size_t piece_bytes_ = 0;  // of the chunks since its begin
    bool ended_ = false;
};

/// Makes values of what the library reads: of a whole text, or of each piece of a document.
class Handler : public nlohmann::json_sax<Json> {
public:
    /// `where` names the text.
    Handler(Input const& input, std::string_view where) : input_(input), where_(where) {}
    Handler(Input& input, StreamedInput& text, JsonPieces const& pieces)
        : input_(input), placed_(&input), text_(&text), pieces_(&pieces) {}

    [[nodiscard]] Json take() { return std::move(piece_); }

    bool null() override { return scalar(nullptr); }
    bool boolean(bool value) override { return scalar(value); }
    bool number_integer(number_integer_t value) override { return scalar(value); }
    bool number_unsigned(number_unsigned_t value) override { return scalar(value); }
    bool number_float(number_float_t value, string_t const& /*text*/) override { return scalar(value); }
    bool string(string_t& value) override { return scalar(std::move(value)); }
    bool binary(binary_t& /*value*/) override { return false; }
    bool start_object(std::size_t /*elements*/) override { return open(Json::object()); }
    bool start_array(std::size_t /*elements*/) override { return open(Json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t& name) override {
        levels_.back().name = std::move(name);
        begin();
        return true;
    }
    bool parse_error(std::size_t position, std::string const& /*token*/, Json::exception const& error) override {
        if (text_ != nullptr && text_->ended()) {
            refuse(position, "the JSON ends too early: the file is cut off");
        }
        // "[json.exception.parse_error.101] parse error at line 1, column 7: syntax error ..."
        std::string why = error.what();
        for (std::string_view const end : {"] ", "column ", ": "}) {
            std::size_t const place = why.find(end);
            why.erase(0, place == std::string::npos ? 0 : place + end.size());
        }
        refuse(position, "no JSON: " + shortened(why));
    }

private:
    /// An object or a list that is open. `value` is null if its members or elements are pieces.
    struct OpenContainer {
        bool is_list = false;
        Json* value = nullptr;
        std::size_t index = 0;
        std::string name;
    };

    [[nodiscard]] bool holds_pieces() const {
        return pieces_ != nullptr && (levels_.empty() || levels_.back().value == nullptr);
    }
    /// A piece begins behind here.
    void begin() {
        if (holds_pieces()) {
            text_->begin_piece();
            placed_->at(text_->last());
        }
    }
    Json* put(Json value) {
        if (levels_.empty() || levels_.back().value == nullptr) {
            piece_ = std::move(value);
            return &piece_;
        }
        Json& holder = *levels_.back().value;
        return levels_.back().is_list ? &holder.emplace_back(std::move(value))
                                      : &(holder[levels_.back().name] = std::move(value));
    }
    bool scalar(Json value) {
        if (pieces_ != nullptr && levels_.empty()) {
            refuse(0, "no JSON: a document is an object or a list");
        }
        put(std::move(value));
        return done();
    }
    bool open(Json value) {
        if (levels_.size() == most_depth) {
            refuse(0, fmt::format("the JSON has more than {} nested brackets", most_depth));
        }
        bool const is_list = value.is_array();
        bool const is_long =
            holds_pieces() && (levels_.empty() || (levels_.size() == 1 && is_list && !levels_.back().is_list &&
                                                   pieces_->is_long(levels_.back().name)));
        if (!is_long && holds_pieces() && levels_.back().is_list) {
            begin();
        }
        levels_.push_back({is_list, is_long ? nullptr : put(std::move(value)), 0, ""});
        return true;
    }
    bool close() {
        bool const was_long = holds_pieces();
        levels_.pop_back();
        return levels_.empty() || was_long || done();
    }
    /// Behind a value.
    bool done() {
        if (levels_.empty()) {
            return true;
        }
        OpenContainer& level = levels_.back();
        if (holds_pieces() && level.is_list) {
            pieces_->element(levels_.size() == 1 ? "" : levels_.front().name, level.index, piece_);
            text_->begin_piece();
        } else if (holds_pieces()) {
            pieces_->member(level.name, piece_);
        }
        ++level.index;
        return true;
    }

    /// ".args.Rank", "[3].name"
    [[nodiscard]] std::string field() const {
        std::string path = where_;
        for (OpenContainer const& level : levels_) {
            if (level.is_list) {
                path += fmt::format("[{}]", level.index);
            } else if (!level.name.empty()) {
                path += (path.empty() ? "" : ".") + level.name;
            }
        }
        return path.empty() ? "" : shortened(path) + ": ";
    }
    [[noreturn]] void refuse(std::size_t position, std::string const& why) const {
        if (text_ == nullptr && position == 0) {
            input_.refuse(field() + why);
        }
        Place const place = text_ != nullptr ? text_->last() : Place{input_.place().line, position};
        input_.refuse_at(place, field() + why);
    }

    Input const& input_;
    Input* placed_ = nullptr;  // the same, of a document
    StreamedInput* text_ = nullptr;
    JsonPieces const* pieces_ = nullptr;
    std::string where_;
    std::vector<OpenContainer> levels_;
    Json piece_;
};

}  // namespace

void scan_json(Input& input, JsonPieces const& pieces) {
    StreamedInput text(input);
    std::istream stream(&text);
    Handler handler(input, text, pieces);
    (void)Json::sax_parse(stream, &handler);
    input.at({});
}

void scan_json_lines(Input& input, std::string_view kind,
                     std::function<void(std::string const& where, Json const& object)> const& use) {
    std::string_view line;
    for (std::uint64_t index = 0; input.line(line, most_piece);) {
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
            continue;
        }
        std::string const where = fmt::format("{} {}", kind, index++);
        Json const object = parse_piece(input, where, line);
        if (!object.is_object()) {
            input.refuse(fmt::format("{} must be an object", where));
        }
        use(where, object);
    }
    input.at({});
}

Json parse_piece(Input const& input, std::string_view where, std::string_view text) {
    Handler handler(input, where);
    (void)Json::sax_parse(text.begin(), text.end(), &handler);
    return handler.take();
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
