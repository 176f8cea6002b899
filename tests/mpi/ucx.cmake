# The ucx backend as several processes. Its own transports are tried one by one: shared memory with kernel copies (the
# default), shared memory alone, and TCP as between nodes.
if(NOT TARGET dlmb::backend_ucx)
    return()
endif()
dlmb_add_mpi_test(ucx_mpi_test SOURCES ucx_backend_test.cpp ucx_step_runner_test.cpp LINK dlmb::backends dlmb::bootstrap_mpi RANKS 1 2 4 7)
set(transport_sets self,posix)
# UCX_TLS restricts MPICH's own UCX as well, and MPICH 4.0.2 can hang in MPI_Finalize when that has TCP only (seen with
# UCX 1.13.1: two ranks in uct_tcp_iface_progress, two waiting for the process manager, nothing of ours alive).
if(NOT MPI_CXX_LIBRARY_VERSION_STRING MATCHES "MPICH")
    list(APPEND transport_sets self,tcp)
endif()
# Without these settings the receiver of a large message fetches it by itself, and a sender that makes no progress is not noticed.
set(sender_has_to_progress "OMPI_MCA_pml=ob1;OMPI_MCA_btl_vader_single_copy_mechanism=none")
foreach(transports IN LISTS transport_sets)
    string(REPLACE "," "_" suffix ${transports})
    add_test(NAME ucx_mpi_test.np4.${suffix} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 4 $<TARGET_FILE:ucx_mpi_test>)
    set_tests_properties(
        ucx_mpi_test.np4.${suffix} PROPERTIES LABELS mpi PROCESSORS 2 TIMEOUT 900 ENVIRONMENT
                                              "${DLMB_MPI_TEST_ENVIRONMENT};UCX_TLS=${transports};${sender_has_to_progress}")
endforeach()
dlmb_add_mpi_test(ucx_mix_test SOURCES ucx_mix_test.cpp LINK dlmb::backends dlmb::bootstrap_mpi RANKS 2 4 LABELS slow)
dlmb_add_mpi_test(backend_pair_test SOURCES backend_pair_test.cpp LINK dlmb::backends dlmb::bootstrap_mpi RANKS 2 4)
dlmb_add_mpi_test(ucx_large_block_test SOURCES ucx_large_block_test.cpp LINK dlmb::backends dlmb::bootstrap_mpi RANKS 2 LONG 2 LABELS slow)
add_test(
    NAME ucx_large_block_test.few
    COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 2 $<TARGET_FILE:ucx_large_block_test>
            --gtest_filter=*ABlock*/linear:*AWindow*/get)
set_tests_properties(ucx_large_block_test.few PROPERTIES LABELS "mpi;slow" PROCESSORS 2 TIMEOUT 900 ENVIRONMENT "${DLMB_MPI_TEST_ENVIRONMENT}")
# What UCX is really given, counted by wrappers before its functions.
dlmb_add_mpi_test(
    ucx_interception_test
    SOURCES interception/intercepted_ucx.cpp interception/ucx_traffic_test.cpp
    LINK dlmb::backends dlmb::algorithms dlmb::bootstrap_mpi dlmb::all_patterns ucx::ucp ${CMAKE_DL_LIBS}
    RANKS 1 2 4)

dlmb_add_mpi_test(
    late_data_test
    SOURCES late_data_test.cpp
    LINK dlmb_conformance dlmb::backends dlmb::bootstrap_mpi ucx::ucp ${CMAKE_DL_LIBS}
    RANKS 2 3)

# The conformance corpus on device memory of the test doubles, which the program itself cannot touch. The short form
# has three ranks, which take every path.
if(TARGET dlmb_fake_ucx_cuda AND TARGET conformance_mpi AND NOT DLMB_SANITIZE)
    add_dependencies(dlmb_mpi_tests dlmb_fake_gpu dlmb_fake_ucx_cuda)
    foreach(ranks 1 2 3 4)
        add_test(
            NAME conformance_mpi.ucx.fake_gpu.np${ranks}
            COMMAND
                ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} env
                LD_PRELOAD=$<TARGET_FILE:dlmb_fake_gpu>:$<TARGET_FILE:dlmb_fake_ucx_cuda> DLMB_FAKE_GPU_PROTECT=1
                $<TARGET_FILE:conformance_mpi> --gtest_filter=*/ucx_*)
        set_tests_properties(conformance_mpi.ucx.fake_gpu.np${ranks} PROPERTIES LABELS "mpi;$<$<NOT:$<EQUAL:${ranks},3>>:long>" PROCESSORS 2 TIMEOUT 900
                                                                      ENVIRONMENT "${DLMB_MPI_TEST_ENVIRONMENT}")
    endforeach()
endif()
