# Build type, warnings and sanitizers: one INTERFACE target that every target of ours links privately.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release measures; Debug and sanitizer builds are marked in every record" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(DLMB_WERROR "Warnings are errors" OFF)
option(DLMB_FUZZ "Build the fuzz targets of tests/fuzz; needs clang and its libFuzzer" OFF)
set(DLMB_SANITIZE "" CACHE STRING "Comma-separated sanitizers: address,undefined or thread")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Paths below the base become relative, so that another clone of the same sources hits the same cache. What is not in
    # the cache is not preprocessed twice: the compiler says what it included. Precompiled headers have no macro of the
    # command line and no __TIME__ in them, which ccache wants to be told before it keeps what uses them.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${CCACHE_PROGRAM})
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
    file(RELATIVE_PATH source_prefix ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR}/)
else()
    set(source_prefix ${PROJECT_SOURCE_DIR}/)
endif()

add_library(dlmb_build_flags INTERFACE)
set(cxx_options
        # Contraction would make routing depend on the compiler; file names in messages are relative to the repository.
        -ffp-contract=off
        -fmacro-prefix-map=${source_prefix}= -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=
        -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Wcast-qual -Wnon-virtual-dtor
        -Woverloaded-virtual $<$<CXX_COMPILER_ID:GNU>:-Wuseless-cast;-Wduplicated-cond;-Wlogical-op>
        # False alarms of g++ 12 at -O3 inside std::string (GCC bug 105329) and std::function.
        $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-maybe-uninitialized>
        $<$<BOOL:${DLMB_WERROR}>:-Werror>)
if(CMAKE_UNITY_BUILD)
    # Sources of a target are compiled in batches: most are a page long and cost less than the headers that they include.
    # A class with members of its own file's unnamed namespace is right where it stands, but not in an included file.
    list(APPEND cxx_options $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(DLMB_SANITIZE)
    list(APPEND cxx_options -fsanitize=${DLMB_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(dlmb_build_flags INTERFACE -fsanitize=${DLMB_SANITIZE})
endif()
# constexpr functions of our headers are used in kernels, too.
set(cuda_options --expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra $<$<BOOL:${DLMB_WERROR}>:--Werror=all-warnings>)
target_compile_options(
    dlmb_build_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${cxx_options}>" "$<$<COMPILE_LANGUAGE:CUDA>:${cuda_options}>")
