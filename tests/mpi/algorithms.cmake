include(CheckSymbolExists)
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_CXX)
string(MD5 library "${MPI_CXX_HEADER_DIR};${MPI_CXX_LIBRARIES};${MPI_CXX_INCLUDE_DIRS}")
check_symbol_exists(OMPI_MAJOR_VERSION mpi.h DLMB_MPI_IS_OPENMPI_${library})
unset(CMAKE_REQUIRED_LIBRARIES)
if(DLMB_MPI_IS_OPENMPI_${library})
    set(seen_algorithm algorithms/seen_algorithm_openmpi.cpp)
else()
    set(seen_algorithm algorithms/seen_algorithm_mpich.cpp)
endif()
dlmb_add_mpi_test(
    mpi_algorithms_test
    SOURCES algorithms/applicable_test.cpp rig.cpp
    LINK dlmb::backend_mpi
    RANKS 2 3 4
    ENVIRONMENT OMPI_MCA_coll_tuned_use_dynamic_rules=1)
dlmb_add_mpi_test(
    mpi_algorithms_switching_test
    SOURCES algorithms/switching_test.cpp ${seen_algorithm} rig.cpp
    LINK dlmb::backend_mpi ${CMAKE_DL_LIBS}
    RANKS 2 4
    ENVIRONMENT OMPI_MCA_coll_tuned_use_dynamic_rules=1 MPIR_CVAR_NOLOCAL=1)
# What the library is to find in the program instead of in itself.
set_target_properties(mpi_algorithms_switching_test PROPERTIES ENABLE_EXPORTS ON)
dlmb_add_mpi_test(
    mpi_algorithms_refused_test
    SOURCES algorithms/refused_test.cpp rig.cpp
    LINK dlmb::backend_mpi
    RANKS 2
    ENVIRONMENT OMPI_MCA_coll_tuned_use_dynamic_rules=0)
