// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/record/record.hpp"

#include "common/base/hash.hpp"

#include <fmt/chrono.h>

#include <ctime>
#include <random>

namespace dlmb::record {
namespace {

constexpr std::size_t longest_id = 1000;

bool is_plain(char character) {
    return (character >= 'A' && character <= 'Z') || (character >= 'a' && character <= 'z') ||
           (character >= '0' && character <= '9') || character == '.' || character == '_' || character == '-';
}

/// '+' and two hex digits for every other byte, so that different values never give the same id.
std::string escaped(std::string_view value) {
    std::string text;
    for (char const character : value) {
        text += is_plain(character)
                    ? std::string(1, character)
                    : fmt::format("+{:02X}", static_cast<unsigned>(static_cast<unsigned char>(character)));
    }
    return text;
}

/// All parts of the identity by key. Parameters have a prefix: a pattern may have one called "mode" or "ranks".
std::map<std::string, std::string> parts_of(CellIdentity const& identity,
                                            std::map<std::string, std::string> const& preset_values) {
    std::map<std::string, std::string> parts{{"pattern", identity.pattern},
                                             {"preset", identity.preset},
                                             {"backend", identity.backend},
                                             {"method", identity.method},
                                             {"memory", identity.memory},
                                             {"mode", identity.mode},
                                             {"ranks", std::to_string(identity.world.ranks)},
                                             {"ranks_per_node", std::to_string(identity.world.ranks_per_node)},
                                             {"seed", std::to_string(identity.seed)},
                                             {"draws", std::to_string(identity.draws)},
                                             {"cache", std::string{name_of(identity.cache)}},
                                             {"fill", std::string{name_of(identity.fill)}}};
    if (identity.preset.empty()) {
        parts.erase("preset");
    }
    if (!identity.beside.empty()) {
        parts.emplace("beside", identity.beside);
    }
    for (auto const& [name, value] : identity.parameters) {
        auto const preset = preset_values.find(name);
        if (preset == preset_values.end() || preset->second != value) {
            parts.emplace("p." + escaped(name), value);
        }
    }
    return parts;
}

}  // namespace

std::string cell_id(CellIdentity const& identity, std::map<std::string, std::string> const& preset_values) {
    std::string id;
    for (auto const& [key, value] : parts_of(identity, preset_values)) {
        id += (id.empty() ? "" : "/") + key + "=" + escaped(value);
    }
    if (id.size() <= longest_id) {
        return id;
    }
    std::string const ending = "/hash=" + stable_hash(id);
    return id.substr(0, longest_id - ending.size()) + ending;
}

std::string way_text(CellIdentity const& identity) {
    return fmt::format("{} {} {}{}", identity.backend, identity.method, identity.memory,
                       identity.beside.empty() ? "" : " beside " + identity.beside);
}

std::string new_launch_id() {
    std::random_device source;
    return fmt::format("{:08x}{:08x}", source(), source());
}

std::string utc_now() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace dlmb::record
