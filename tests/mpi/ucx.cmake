# The ucx backend as several processes. Its own transports are tried one by one: shared memory with kernel copies (the
# default), shared memory alone, and TCP as between nodes.
if(NOT TARGET dlmb::backend_ucx)
    return()
endif()
dlmb_add_mpi_test(ucx_mpi_test SOURCES ucx_backend_test.cpp LINK dlmb::backends dlmb::bootstrap_mpi RANKS 1 2 4 7)
foreach(transports IN ITEMS self,posix self,tcp)
    string(REPLACE "," "_" suffix ${transports})
    add_test(NAME ucx_mpi_test.np4.${suffix} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 4 $<TARGET_FILE:ucx_mpi_test>)
    set_tests_properties(
        ucx_mpi_test.np4.${suffix} PROPERTIES LABELS mpi PROCESSORS 2 TIMEOUT 180 ENVIRONMENT
                                              "${DLMB_MPI_TEST_ENVIRONMENT};UCX_TLS=${transports}")
endforeach()
dlmb_add_mpi_test(ucx_mix_test SOURCES ucx_mix_test.cpp LINK dlmb::backends dlmb::bootstrap_mpi RANKS 2 4 LABELS slow)
dlmb_add_mpi_test(ucx_large_block_test SOURCES ucx_large_block_test.cpp LINK dlmb::backends dlmb::bootstrap_mpi RANKS 2 LABELS slow)
