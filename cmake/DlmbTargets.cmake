# Targets mirror folders: common/plan -> dlmb::plan, common/backends/ucx -> dlmb::backend_ucx,
# patterns/moe_alltoall -> dlmb::pattern_moe_alltoall. Backends and patterns register themselves here; the generated
# registries are the only place that lists them all.
set_property(GLOBAL PROPERTY DLMB_BACKENDS "")
set_property(GLOBAL PROPERTY DLMB_PATTERNS "")

# dlmb_add_library(<name> [COLD] SOURCES <files> [LINK <public targets>] [LINK_PRIVATE <targets>])
# COLD: nothing in it runs while something is timed (options, records, tables). It is full of templates whose full
# optimisation takes a third of the whole build.
function(dlmb_add_library name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "COLD" "" "SOURCES;LINK;LINK_PRIVATE")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "dlmb_add_library(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
    endif()
    add_library(dlmb_${name} STATIC ${arg_SOURCES})
    add_library(dlmb::${name} ALIAS dlmb_${name})
    file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.hpp)
    if(headers)
        target_sources(dlmb_${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers})
        set_target_properties(dlmb_${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
    endif()
    if(arg_COLD)
        target_compile_options(dlmb_${name} PRIVATE $<$<CONFIG:Release>:-Og> $<$<CONFIG:Debug>:-O0>)
    endif()
    target_include_directories(dlmb_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
    target_link_libraries(dlmb_${name} PUBLIC ${arg_LINK} PRIVATE $<BUILD_INTERFACE:dlmb_build_flags> ${arg_LINK_PRIVATE})
endfunction()

# dlmb_add_backend(<name> [MEMORY] FEATURE <x> SOURCES <files> LINK <targets>): builds the folder when DLMB_HAVE_<x>,
# otherwise leaves a known name that says which option enables it. The folder defines, in <name>_backend.cpp,
#   MadeBackend dlmb::<name>::make_backend(BackendContext const&);
# and with MEMORY, for the kind of memory of the same name,
#   std::unique_ptr<MemorySpace> dlmb::<name>::make_memory(std::string& why_not);
function(dlmb_add_backend name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "MEMORY" "FEATURE" "SOURCES;LINK;LINK_PRIVATE")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "dlmb_add_backend(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
    endif()
    set_property(GLOBAL APPEND PROPERTY DLMB_BACKENDS ${name})
    if(arg_FEATURE AND NOT DLMB_HAVE_${arg_FEATURE})
        set_property(GLOBAL PROPERTY DLMB_BACKEND_ABSENT_${name} "not in this build; configure with -DDLMB_WITH_${arg_FEATURE}=ON")
        return()
    endif()
    set_property(GLOBAL PROPERTY DLMB_BACKEND_MEMORY_${name} ${arg_MEMORY})
    dlmb_add_library(backend_${name} SOURCES ${arg_SOURCES} LINK dlmb::backend_kit ${arg_LINK} LINK_PRIVATE ${arg_LINK_PRIVATE})
endfunction()

# dlmb_add_pattern(<name> SOURCES <files>): the folder defines `PatternType const& dlmb::<name>::type();` in <name>.hpp
# and keeps its presets in presets.json, which is embedded as `dlmb::<name>::presets_json`.
function(dlmb_add_pattern name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
    set_property(GLOBAL APPEND PROPERTY DLMB_PATTERNS ${name})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS presets.json)
    file(READ presets.json PRESETS)
    set(PATTERN ${name})
    configure_file(${PROJECT_SOURCE_DIR}/cmake/presets.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/presets.cpp @ONLY)
    dlmb_add_library(pattern_${name} SOURCES ${arg_SOURCES} ${CMAKE_CURRENT_BINARY_DIR}/presets.cpp LINK dlmb::patterns ${arg_LINK})
    # Its path is one of this build: a batch that names it is new to ccache in every other build.
    set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/presets.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# Writes the backend and pattern tables and makes dlmb::backends and dlmb::all_patterns.
function(dlmb_generate_registries)
    get_property(backends GLOBAL PROPERTY DLMB_BACKENDS)
    set(DECLARATIONS "")
    set(ENTRIES "")
    set(targets "")
    foreach(name IN LISTS backends)
        get_property(absent GLOBAL PROPERTY DLMB_BACKEND_ABSENT_${name})
        get_property(memory GLOBAL PROPERTY DLMB_BACKEND_MEMORY_${name})
        if(absent)
            string(APPEND ENTRIES "    {\"${name}\", nullptr, \"${absent}\"},\n")
        else()
            set(declarations "MadeBackend make_backend(BackendContext const& context);\n")
            set(make_memory nullptr)
            if(memory)
                string(APPEND declarations "std::unique_ptr<MemorySpace> make_memory(std::string& why_not);\n")
                set(make_memory ${name}::make_memory)
            endif()
            string(APPEND DECLARATIONS "namespace ${name} {\n${declarations}}\n")
            string(APPEND ENTRIES "    {\"${name}\", ${name}::make_backend, \"\", ${make_memory}},\n")
            list(APPEND targets dlmb::backend_${name})
        endif()
    endforeach()
    configure_file(${PROJECT_SOURCE_DIR}/cmake/backend_registry.cpp.in ${PROJECT_BINARY_DIR}/generated/backend_registry.cpp @ONLY)
    add_library(dlmb_backends STATIC ${PROJECT_BINARY_DIR}/generated/backend_registry.cpp common/backend_kit/backend_pool.cpp
                                     common/backend_kit/make_backend.cpp)
    add_library(dlmb::backends ALIAS dlmb_backends)
    target_link_libraries(dlmb_backends PUBLIC dlmb::backend_kit PRIVATE dlmb_build_flags fmt::fmt ${targets})

    get_property(patterns GLOBAL PROPERTY DLMB_PATTERNS)
    set(DECLARATIONS "")
    set(ENTRIES "")
    set(targets "")
    foreach(name IN LISTS patterns)
        string(APPEND DECLARATIONS "namespace ${name} {\nPatternType const& type();\n}\n")
        string(APPEND ENTRIES "&${name}::type(), ")
        list(APPEND targets dlmb::pattern_${name})
    endforeach()
    configure_file(${PROJECT_SOURCE_DIR}/cmake/pattern_registry.cpp.in ${PROJECT_BINARY_DIR}/generated/pattern_registry.cpp @ONLY)
    add_library(dlmb_all_patterns STATIC ${PROJECT_BINARY_DIR}/generated/pattern_registry.cpp)
    add_library(dlmb::all_patterns ALIAS dlmb_all_patterns)
    target_link_libraries(dlmb_all_patterns PUBLIC dlmb::patterns PRIVATE dlmb_build_flags ${targets})
endfunction()

# dlmb_add_program(<name> SOURCES <files> LINK <targets>): an installed executable.
function(dlmb_add_program name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
    add_executable(${name} ${arg_SOURCES})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} PRIVATE dlmb_build_flags ${arg_LINK})
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()
