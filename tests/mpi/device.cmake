# The mpi backend on device memory, over the test double of CUDA. Staged with its device memory out of reach: whoever
# gives MPI a device pointer crashes. Direct with a double that claims what Debian's MPI libraries do not.
if(NOT TARGET dlmb_fake_gpu OR NOT TARGET dlmb::backend_mpi)
    return()
endif()
function(dlmb_add_mpi_device_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "COMMAND;RANKS;ENVIRONMENT")
    foreach(ranks IN LISTS arg_RANKS)
        add_test(
            NAME ${name}.np${ranks}
            COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${CMAKE_COMMAND} -E env LD_PRELOAD=$<TARGET_FILE:dlmb_fake_gpu>
                    ${arg_ENVIRONMENT} ${arg_COMMAND})
        set_tests_properties(${name}.np${ranks} PROPERTIES LABELS mpi PROCESSORS 2 TIMEOUT 900 ENVIRONMENT "${DLMB_MPI_TEST_ENVIRONMENT}")
    endforeach()
endfunction()

set(rig device/watched_mpi.cpp rig.cpp)
dlmb_add_mpi_test(mpi_staged_test SOURCES device/staged_test.cpp ${rig} LINK dlmb::backend_mpi dlmb_conformance ${CMAKE_DL_LIBS})
dlmb_add_mpi_test(mpi_direct_test SOURCES device/direct_test.cpp device/claims_cuda_support.cpp ${rig}
                  LINK dlmb::backend_mpi dlmb_conformance ${CMAKE_DL_LIBS})
dlmb_add_mpi_device_test(mpi_staged_test COMMAND $<TARGET_FILE:mpi_staged_test> RANKS 1 2 4 ENVIRONMENT DLMB_FAKE_GPU_PROTECT=1 DLMB_FAKE_CUBLAS_STATUS=1 ${DLMB_FAKE_CUBLAS_FIRST})
dlmb_add_mpi_device_test(mpi_direct_test COMMAND $<TARGET_FILE:mpi_direct_test> RANKS 2 4)

set(probe $<TARGET_FILE:dlmb_info> --probe-mpi-device)
dlmb_add_mpi_device_test(mpi_probe COMMAND ${probe} RANKS 2)
set_tests_properties(mpi_probe.np2 PROPERTIES PASS_REGULAR_EXPRESSION "takes device memory: yes")
dlmb_add_mpi_device_test(mpi_probe.crash COMMAND ${probe} RANKS 2 ENVIRONMENT DLMB_FAKE_GPU_PROTECT=1)
set_tests_properties(mpi_probe.crash.np2 PROPERTIES PASS_REGULAR_EXPRESSION "takes device memory: no \\(it crashed")
dlmb_add_mpi_device_test(mpi_probe.no_device COMMAND ${probe} RANKS 2 ENVIRONMENT DLMB_FAKE_GPU_DEVICES=0)
set_tests_properties(mpi_probe.no_device.np2 PROPERTIES PASS_REGULAR_EXPRESSION "takes device memory: not tried: no CUDA device")
add_dependencies(dlmb_mpi_tests dlmb_fake_gpu dlmb_info)
add_dependencies(dlmb_mpich_short_tests dlmb_fake_gpu dlmb_info)
if(TARGET dlmb_fake_cublas)
    add_dependencies(mpi_staged_test dlmb_fake_cublas)
endif()
