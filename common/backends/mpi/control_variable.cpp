// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/control_variable.hpp"

#include "common/base/output_file.hpp"
#include "common/bootstrap/mpi/mpi_check.hpp"

#include <fmt/core.h>

#include <array>

namespace dlmb::mpi {
namespace {

constexpr int longest_name = 256;
constexpr int longest_description = 8192;

/// MPI_T offers a type by its MPI datatype; only the width tells int from unsigned, size_t and Open MPI's bool.
bool holds_whole_numbers(int bytes) {
    return bytes == sizeof(std::uint8_t) || bytes == sizeof(std::int32_t) || bytes == sizeof(std::int64_t);
}

/// `use(number)` with a number of that width.
template <class Use>
auto with_number_of(int bytes, Use use) {
    return bytes == sizeof(std::uint8_t)   ? use(std::uint8_t{})
           : bytes == sizeof(std::int32_t) ? use(std::int32_t{})
                                           : use(std::int64_t{});
}

std::vector<NamedValue> values_of(MPI_T_enum list) {
    std::vector<NamedValue> values;
    if (list == MPI_T_ENUM_NULL) {
        return values;
    }
    std::array<char, longest_name> name{};
    int length = longest_name;
    int count = 0;
    check(MPI_T_enum_get_info(list, &count, name.data(), &length), "MPI_T_enum_get_info");
    for (int place = 0; place < count; ++place) {
        NamedValue& item = values.emplace_back();
        length = longest_name;
        check(MPI_T_enum_get_item(list, place, &item.value, name.data(), &length), "MPI_T_enum_get_item");
        item.name = name.data();
    }
    return values;
}

}  // namespace

// Without an MPI_T_finalize: after that of the last session MPICH 4.0.2 knows none of its variables any more, also in a
// new session.
// Open MPI takes the level for that of MPI itself (open-mpi/ompi pull request 14164): a lower one would switch off the
// locks that MPI_Init_thread was asked for.
void start_tool_interface() {
    int level = MPI_THREAD_SINGLE;
    check(MPI_Query_thread(&level), "MPI_Query_thread");
    int provided = 0;
    check(MPI_T_init_thread(level, &provided), "MPI_T_init_thread");
}

std::optional<ControlVariable> ControlVariable::find(std::string const& name) {
    int index = 0;
    if (MPI_T_cvar_get_index(name.c_str(), &index) != MPI_SUCCESS) {
        return std::nullopt;
    }
    int no_text = 0;
    std::vector<char> description(longest_description);
    int description_length = longest_description;
    int verbosity = 0;
    int binding = 0;
    int scope = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum list = MPI_T_ENUM_NULL;
    check(MPI_T_cvar_get_info(index, nullptr, &no_text, &verbosity, &type, &list, description.data(),
                              &description_length, &binding, &scope),
          "MPI_T_cvar_get_info");
    ControlVariable variable;
    variable.name_ = name;
    variable.description_ = description.data();
    variable.can_be_written_ = scope != MPI_T_SCOPE_CONSTANT && scope != MPI_T_SCOPE_READONLY;
    check(MPI_Type_size(type, &variable.bytes_), "MPI_Type_size");
    int elements = 0;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    check(MPI_T_cvar_handle_alloc(index, nullptr, &handle, &elements), "MPI_T_cvar_handle_alloc");
    variable.handle_ = VariableHandle(new MPI_T_cvar_handle(handle));
    if (type == MPI_CHAR || type == MPI_DOUBLE || elements != 1 || !holds_whole_numbers(variable.bytes_)) {
        return std::nullopt;
    }
    variable.values_ = values_of(list);
    return variable;
}

std::int64_t ControlVariable::read() const {
    return with_number_of(bytes_, [&](auto number) -> std::int64_t {
        check(MPI_T_cvar_read(*handle_, &number), "MPI_T_cvar_read");
        return number;
    });
}

void ControlVariable::write(std::int64_t value) const {
    int const code = with_number_of(bytes_, [&](auto number) {
        number = static_cast<decltype(number)>(value);
        return MPI_T_cvar_write(*handle_, &number);
    });
    check(code, fmt::format("MPI_T_cvar_write of {} to {}", value, name_));
    if (std::int64_t const now = read(); now != value) {
        throw Error(fmt::format("mpi: {} was set to {} and reads {}", name_, value, now));
    }
}

WrittenVariables::~WrittenVariables() {
    try {
        restore();
    } catch (Error const& error) {
        print_error(fmt::format("mpi: {}\n", error.what()));
    }
}

void WrittenVariables::write(ControlVariable const& variable, std::int64_t value) {
    before_.emplace_back(&variable, variable.read());
    variable.write(value);
}

void WrittenVariables::restore() {
    while (!before_.empty()) {
        auto const [variable, value] = before_.back();
        before_.pop_back();
        variable->write(value);
    }
}

std::string WrittenVariables::as_read() const {
    std::string text;
    for (auto const& [variable, before] : before_) {
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", variable->name(), variable->read());
    }
    return text;
}

}  // namespace dlmb::mpi
