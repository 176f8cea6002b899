// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace dlmb::run {

/// A message of a signal handler: no allocation, and a longer text is cut.
class FixedText {
public:
    // NOLINTBEGIN(bugprone-exception-escape): fmt throws for a wrong format, and the compiler has checked these
    template <typename... Arguments>
    void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) noexcept {
        auto const end =
            fmt::format_to_n(text_.data() + size_, text_.size() - size_, format, std::forward<Arguments>(arguments)...);
        size_ = static_cast<std::size_t>(end.out - text_.data());
    }
    /// As it stands between the quotes of a JSON string.
    void add_json(std::string_view plain) noexcept {
        for (char const c : plain) {
            bool const control = static_cast<unsigned char>(c) < ' ';
            add("{}{}", c == '"' || c == '\\' ? "\\" : "", control ? ' ' : c);
        }
    }
    // NOLINTEND(bugprone-exception-escape)
    [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), size_}; }

private:
    std::array<char, 2048> text_{};
    std::size_t size_ = 0;
};

/// By one call where the file takes all, so that lines of several ranks do not mix.
inline void put(int file, std::string_view text) noexcept {
    while (!text.empty()) {
        ssize_t const written = ::write(file, text.data(), text.size());
        if (written <= 0) {
            return;  // nobody is left to be told
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

}  // namespace dlmb::run
