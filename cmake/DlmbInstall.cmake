# cmake --install gives bin, lib, include and share; with --component programs, libraries, documents, tuning (libdlmb_tuning) or torch a
# part of them. Nothing in them names the build or source folder, so the tree can be moved. Programs find shared libraries outside the system's folders (CUDA, an MPI of its own) where they were linked.

# dlmb_collect_targets(<variable> <type> <folder>): our targets of that type in a folder and all folders below it.
function(dlmb_collect_targets variable type folder)
    get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
    set(found "")
    foreach(target IN LISTS targets)
        get_target_property(target_type ${target} TYPE)
        if(target_type STREQUAL type AND target MATCHES "^dlmb_")
            list(APPEND found ${target})
        endif()
    endforeach()
    get_property(subfolders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
    foreach(subfolder IN LISTS subfolders)
        dlmb_collect_targets(below ${type} ${subfolder})
        list(APPEND found ${below})
    endforeach()
    set(${variable} "${found}" PARENT_SCOPE)
endfunction()

foreach(folder common patterns)
    dlmb_collect_targets(libraries STATIC_LIBRARY ${PROJECT_SOURCE_DIR}/${folder})
    foreach(library IN LISTS libraries)
        install(
            TARGETS ${library}
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libraries
            FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/dlmb COMPONENT libraries)
    endforeach()
endforeach()
install(TARGETS dlmb_backends dlmb_all_patterns ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libraries)

# dlmb_add_program installs the programs themselves.
dlmb_collect_targets(programs EXECUTABLE ${PROJECT_SOURCE_DIR}/benchmarks)
if(programs)
    set_target_properties(${programs} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
endif()

# The documents lie in the same folders as here, with every file that they link to (tests/recipes/installed.py).
set(documents README.md LICENSE CHANGELOG.md CONTRIBUTING.md common/tools/predict/README.md launch/ci/github-actions.yml launch/ci/gitlab-ci.yml
              results-schema/README.md results-schema/dlmb_results/known_variables.txt)
file(
    GLOB linked CONFIGURE_DEPENDS
    RELATIVE ${PROJECT_SOURCE_DIR}
    patterns/*/README.md common/backends/*/README.md launch/examples/* launch/jax/* launch/torch/README.md)
foreach(file IN LISTS documents linked)
    cmake_path(GET file PARENT_PATH folder)
    install(FILES ${file} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder} COMPONENT documents)
endforeach()
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT documents)
install(
    DIRECTORY results-schema plotting
    DESTINATION ${CMAKE_INSTALL_DATADIR}/dlmb
    COMPONENT programs
    PATTERN __pycache__ EXCLUDE)
install(FILES launch/small-machine.sh DESTINATION ${CMAKE_INSTALL_DATADIR}/dlmb COMPONENT programs)
