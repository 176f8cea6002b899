# The backend tuned over mpi and ucx: 500 random plans always, 10,000 with label long.
if(NOT TARGET dlmb::backend_ucx)
    return()
endif()
dlmb_add_mpi_test(
    tuned_interleaving_test
    SOURCES tuned/interleaving_test.cpp tuned/random_plan.cpp ${PROJECT_SOURCE_DIR}/tests/conformance/alternating_table.cpp
    LINK dlmb::backends dlmb::tuning_chooser dlmb::bootstrap_mpi fmt::fmt
    RANKS 4
    LABELS slow long
    TIMEOUT 2400)
add_test(NAME tuned_interleaving_test.np4.some
         COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 4 $<TARGET_FILE:tuned_interleaving_test> --gtest_filter=Some/*:RandomPlan.*)
set_tests_properties(tuned_interleaving_test.np4.some PROPERTIES LABELS mpi PROCESSORS 2 TIMEOUT 600 ENVIRONMENT "${DLMB_MPI_TEST_ENVIRONMENT}")
dlmb_add_mpi_test(
    tuned_progress_test
    SOURCES tuned/progress_test.cpp
    LINK dlmb::backends dlmb::bootstrap_mpi fmt::fmt
    RANKS 2 3)
