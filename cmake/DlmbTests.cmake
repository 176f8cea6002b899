# Test helpers. Start-up costs of MPI are paid per executable, so each executable carries many cases. A TIMEOUT ends what hangs; it is
# many times what a test takes, because other work may run beside it: ranks that share cores with it wait a time slice in each round.
set(DLMB_MPI_TEST_ENVIRONMENT
    OMPI_ALLOW_RUN_AS_ROOT=1
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_rmaps_base_oversubscribe=1
    PRTE_ALLOW_RUN_AS_ROOT=1
    PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
    PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
    OMPI_MCA_hwloc_base_binding_policy=none
    OMPI_MCA_mpi_yield_when_idle=1
    OMPI_MCA_btl_vader_single_copy_mechanism=cma
    ASAN_OPTIONS=detect_leaks=0) # Open MPI alone leaks thousands of blocks per rank

# PSM's libraries, which libfabric loads too, measure a clock for 0.1 s each when they are loaded. MPI_Init and the MPI tool
# interface load them even where the settings exclude them. Tests therefore use a folder of Open MPI's other components: a launch
# takes a quarter of the time.
if(DLMB_HAVE_MPI)
    cmake_path(GET MPIEXEC_EXECUTABLE PARENT_PATH mpiexec_folder)
    find_program(DLMB_OMPI_INFO ompi_info PATHS "${mpiexec_folder}" NO_DEFAULT_PATH) # of the MPI that tests are started with
    mark_as_advanced(DLMB_OMPI_INFO)
endif()
if(DLMB_HAVE_MPI AND DLMB_OMPI_INFO)
    execute_process(COMMAND ${DLMB_OMPI_INFO} --path pkglibdir --parsable OUTPUT_VARIABLE pkglibdir OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    string(REGEX REPLACE "^path:pkglibdir:" "" pkglibdir "${pkglibdir}")
    file(GLOB components ${pkglibdir}/mca_*.so)
    list(FILTER components EXCLUDE REGEX "/mca_(mtl|btl)_(ofi|psm|psm2)[.]so$")
    if(components)
        file(REMOVE_RECURSE ${PROJECT_BINARY_DIR}/open_mpi_components)
        file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/open_mpi_components)
        foreach(component IN LISTS components)
            cmake_path(GET component FILENAME name)
            file(CREATE_LINK ${component} ${PROJECT_BINARY_DIR}/open_mpi_components/${name} SYMBOLIC)
        endforeach()
        list(APPEND DLMB_MPI_TEST_ENVIRONMENT OMPI_MCA_mca_base_component_path=${PROJECT_BINARY_DIR}/open_mpi_components)
    endif()
endif()

# The headers that most tests include, compiled once where sources are compiled in batches: they are half of a small
# test. An executable, because its flags must be those of the tests.
if(CMAKE_UNITY_BUILD)
    file(WRITE ${PROJECT_BINARY_DIR}/generated/test_headers.cpp "int main() {}\n")
    add_executable(dlmb_test_headers ${PROJECT_BINARY_DIR}/generated/test_headers.cpp)
    target_link_libraries(dlmb_test_headers PRIVATE dlmb_build_flags fmt::fmt GTest::gmock)
    # Without its time clang takes it from ccache, too.
    target_compile_options(dlmb_test_headers PRIVATE $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)
    target_precompile_headers(
        dlmb_test_headers
        PRIVATE
        <algorithm>
        <array>
        <atomic>
        <chrono>
        <filesystem>
        <fstream>
        <functional>
        <map>
        <memory>
        <mutex>
        <numeric>
        <optional>
        <random>
        <set>
        <span>
        <sstream>
        <string>
        <thread>
        <unordered_map>
        <utility>
        <variant>
        <vector>
        <fmt/format.h>
        <gmock/gmock.h>
        <gtest/gtest.h>)
endif()

# dlmb_compile_test(<name> <targets to link>): what the executables of all tests have in common.
function(dlmb_compile_test name)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} PRIVATE dlmb_build_flags ${ARGN} fmt::fmt)
    if(TARGET dlmb_test_headers)
        target_precompile_headers(${name} REUSE_FROM dlmb_test_headers)
    endif()
endfunction()

# What a run of label mpi needs, so that a second MPI library costs no build of the unit tests.
add_custom_target(dlmb_mpi_tests)

# What stages of tests/run build and run alone: label and target dlmb_<label>_tests of each.
set(DLMB_asan_short # backends, conformance, patterns, plans and readers, with the address sanitizer
    conformance_in_process
    conformance_mpi
    environment_test
    golden_test
    measure_test
    mpi_algorithms_test
    mpi_backend_test
    record_test
    ucx_mpi_test
    ucx_thread_ranks_test
    unit_backend_kit
    unit_base
    unit_in_process
    unit_plan
    unit_tuning)
set(DLMB_mpich_short # the mpi backend, algorithms, start-up and conformance on a second MPI library
    conformance_mpi
    mpi_algorithms_refused_test
    mpi_algorithms_switching_test
    mpi_algorithms_test
    mpi_backend_test
    mpi_bootstrap_test
    mpi_common_clock_test
    tuned_progress_test)
set(DLMB_tsan # ranks that are threads, with the thread sanitizer
    conformance_in_process
    measure_test
    unit_bootstrap_in_process
    unit_in_process)
set(DLMB_STAGES asan_short mpich_short tsan)
foreach(stage IN LISTS DLMB_STAGES)
    add_custom_target(dlmb_${stage}_tests)
endforeach()
add_dependencies(dlmb_asan_short_tests dlmb_all_patterns) # the only build by clang that all patterns are in

# dlmb_stages_of(<variable> <name>): the labels of stages for that test.
function(dlmb_stages_of variable name)
    set(labels "")
    foreach(stage IN LISTS DLMB_STAGES)
        if(name IN_LIST DLMB_${stage})
            list(APPEND labels ${stage})
            add_dependencies(dlmb_${stage}_tests ${name})
        endif()
    endforeach()
    set(${variable} "${labels}" PARENT_SCOPE)
endfunction()

# dlmb_check_stages(): every name above is a test of this build, if it has MPI and UCX.
function(dlmb_check_stages)
    foreach(stage IN LISTS DLMB_STAGES)
        foreach(name IN LISTS DLMB_${stage})
            if(DLMB_HAVE_MPI AND DLMB_HAVE_UCX AND NOT TARGET ${name})
                message(FATAL_ERROR "cmake/DlmbTests.cmake: stage ${stage} names ${name}, which is no test")
            endif()
        endforeach()
    endforeach()
endfunction()

# dlmb_add_test(<name> [THREAD_RANKS] SOURCES <files> LINK <targets> [LABELS <labels>] [TIMEOUT <seconds>]): threads at most, no MPI.
# Files of a test that have words of their own for the same things each have a namespace named like the file. THREAD_RANKS: its
# ranks are threads that wait for one another without sleeping; beside another busy process they take up to ten times as long.
function(dlmb_add_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "THREAD_RANKS" "TIMEOUT" "SOURCES;LINK;LABELS")
    if(NOT arg_LABELS)
        set(arg_LABELS unit)
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 900)
    endif()
    add_executable(${name} ${arg_SOURCES})
    dlmb_compile_test(${name} ${arg_LINK} GTest::gtest_main)
    dlmb_stages_of(stages ${name})
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(
        ${name} PROPERTIES LABELS "${arg_LABELS};${stages}" PROCESSORS $<IF:$<BOOL:${arg_THREAD_RANKS}>,2,1> TIMEOUT ${arg_TIMEOUT})
endfunction()

# For the environment of a test: the double of cuBLAS (tests/fakes/cublas) is found before any other.
set(DLMB_FAKE_CUBLAS_FIRST "LD_LIBRARY_PATH=${PROJECT_BINARY_DIR}/tests/fakes/cublas:$ENV{LD_LIBRARY_PATH}")

# dlmb_add_mpi_test(<name> SOURCES <files> LINK <targets> RANKS 1 2 4 7 [LABELS ..] [TIMEOUT ..]): one CTest per rank
# count, with the gtest main of tests/main (rank 0 prints, one failing rank fails all, a hang is named and ended).
# WRAPPER: a command between the launcher and the program. LONG: those of RANKS that the short form leaves out.
function(dlmb_add_mpi_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;LINK;RANKS;LONG;LABELS;ENVIRONMENT;WRAPPER")
    if(NOT DLMB_HAVE_MPI)
        return()
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 3600)
    endif()
    add_executable(${name} ${arg_SOURCES} ${PROJECT_SOURCE_DIR}/tests/main/mpi_main.cpp)
    dlmb_compile_test(${name} ${arg_LINK} MPI::MPI_CXX GTest::gtest)
    add_dependencies(dlmb_mpi_tests ${name})
    dlmb_stages_of(stages ${name})
    foreach(ranks IN LISTS arg_RANKS)
        add_test(NAME ${name}.np${ranks} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${arg_WRAPPER} $<TARGET_FILE:${name}>)
        set_tests_properties(
            ${name}.np${ranks}
            PROPERTIES LABELS "mpi;${arg_LABELS};$<$<NOT:$<EQUAL:${ranks},7>>:${stages}>;$<$<IN_LIST:${ranks},${arg_LONG}>:long>"
                       PROCESSORS $<IF:$<EQUAL:${ranks},1>,1,2>
                       TIMEOUT ${arg_TIMEOUT}
                       SKIP_RETURN_CODE 77
                       ENVIRONMENT "${DLMB_MPI_TEST_ENVIRONMENT};${arg_ENVIRONMENT}")
    endforeach()
endfunction()

# The backend nccl of such a test on the double makes the one-sided calls of NCCL 2.29, whatever NCCL the build has. Its
# wrapper has to set DLMB_FAKE_NCCL_VERSION.
function(dlmb_use_one_sided_calls test)
    if(TARGET ${test} AND NOT DLMB_NCCL_HAS_ONE_SIDED)
        target_sources(${test} PRIVATE ${PROJECT_SOURCE_DIR}/common/backends/nccl/one_sided_native.cpp)
        target_include_directories(${test} SYSTEM BEFORE PRIVATE ${PROJECT_SOURCE_DIR}/tests/fakes/gpu/newer_nccl)
        target_link_libraries(${test} PRIVATE dlmb_fake_gpu)
    endif()
endfunction()
