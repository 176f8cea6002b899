// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Mutations that leave JSON what it is: a value of a line becomes another one, is taken out, or changes places. Bytes
// that are changed blindly seldom get past the parser. Every other mutation is libFuzzer's own.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace dlmb::fuzz {
namespace {

using Json = nlohmann::ordered_json;

constexpr int deepest = 32;
constexpr char const* odd_values[]{"null",
                                   "true",
                                   "0",
                                   "-1",
                                   "1",
                                   "3",
                                   "18446744073709551615",
                                   "1e308",
                                   "1e-320",
                                   "0.5",
                                   "4294967296",
                                   "9223372036854775808",
                                   "2147483647",
                                   "\"\"",
                                   "\"ok\"",
                                   "\"\\u0000\\n\"",
                                   "[]",
                                   "{}",
                                   "[0]",
                                   "{\"a\": 1}",
                                   "-9223372036854775808"};

/// A value and the object or array that holds it.
struct Place {
    Json* parent;
    Json* value;
};

void add_places(Json& parent, int depth, std::vector<Place>& places) {
    if (!parent.is_structured() || depth > deepest) {
        return;
    }
    for (Json& value : parent) {
        places.push_back({&parent, &value});
        add_places(value, depth + 1, places);
    }
}

void change(Json& document, std::mt19937& random) {
    std::vector<Place> places;
    add_places(document, 0, places);
    if (places.empty()) {
        return;
    }
    auto const any = [&]() -> Place& { return places[random() % places.size()]; };
    Place const place = any();
    switch (random() % 4) {
    case 0: {
        Json copy = *any().value;
        *place.value = std::move(copy);
        break;
    }
    case 1:
        for (auto at = place.parent->begin(); at != place.parent->end(); ++at) {
            if (&*at == place.value) {
                place.parent->erase(at);
                break;
            }
        }
        break;
    case 2:
        if (place.parent->is_array()) {
            Json copy = *place.value;
            place.parent->push_back(std::move(copy));
            break;
        }
        [[fallthrough]];
    default:
        *place.value = Json::parse(odd_values[random() % std::size(odd_values)]);
    }
}

/// Empty: the line is no JSON.
std::string changed(std::string const& line, std::mt19937& random) {
    Json document = Json::parse(line, nullptr, false);
    if (document.is_discarded()) {
        return {};
    }
    for (auto left = 1 + random() % 3; left > 0; --left) {
        change(document, random);
    }
    return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace
}  // namespace dlmb::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
    std::mt19937 random(seed);
    std::string text(reinterpret_cast<char const*>(data), size);
    if (random() % 2 == 0 || text.empty()) {
        return LLVMFuzzerMutate(data, size, most);
    }
    // A line, or where the document has several lines all of it.
    std::size_t begin = text.rfind('\n', random() % text.size());
    begin = begin == std::string::npos ? 0 : begin + 1;
    std::size_t length = std::min(text.find('\n', begin), text.size()) - begin;
    std::string line = dlmb::fuzz::changed(text.substr(begin, length), random);
    if (line.empty()) {
        begin = 0;
        length = text.size();
        line = dlmb::fuzz::changed(text, random);
    }
    text.replace(begin, length, line);
    if (line.empty() || text.size() > most) {
        return LLVMFuzzerMutate(data, size, most);
    }
    std::copy(text.begin(), text.end(), data);
    return text.size();
}
