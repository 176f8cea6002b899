# Commands written in Python: launch/<name> is reached as bin/<name> in the build tree and in an installation. Links, because
# launch/run-python finds the modules from where it really lies.

# dlmb_add_tool(<name>)
function(dlmb_add_tool name)
    file(MAKE_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/launch/${name} ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name} SYMBOLIC)
    install(PROGRAMS launch/${name} DESTINATION ${CMAKE_INSTALL_DATADIR}/dlmb/launch COMPONENT programs)
    file(RELATIVE_PATH tool ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_DATADIR}/dlmb/launch/${name})
    set(link ${CMAKE_CURRENT_BINARY_DIR}/installed/${name})
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/installed)
    file(CREATE_LINK ${tool} ${link} SYMBOLIC)
    install(FILES ${link} DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT programs) # a link is installed as the link that it is
endfunction()

dlmb_add_tool(dlmb_autotune)
dlmb_add_tool(dlmb_compare)
dlmb_add_tool(dlmb_convert)
dlmb_add_tool(dlmb_guidelines)
dlmb_add_tool(dlmb_plot)
dlmb_add_tool(dlmb_sweep)
install(PROGRAMS launch/run-python DESTINATION ${CMAKE_INSTALL_DATADIR}/dlmb/launch COMPONENT programs)
install(
    DIRECTORY launch/apptainer launch/ci launch/dlmb_launch launch/machines launch/ramble launch/reframe launch/slurm launch/spack
              launch/sweeps
    DESTINATION ${CMAKE_INSTALL_DATADIR}/dlmb/launch
    COMPONENT programs
    USE_SOURCE_PERMISSIONS
    PATTERN __pycache__ EXCLUDE)

# Manual pages and completions say what the installed programs say to --help. Their folder may be that of a package (DESTDIR).
find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_FOUND)
    install(
        CODE "
        set(root \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
        execute_process(
            COMMAND \"${Python3_EXECUTABLE}\" -B \"${PROJECT_SOURCE_DIR}/cmake/manuals.py\" \"\${root}/${CMAKE_INSTALL_BINDIR}\" \"\${root}\"
            OUTPUT_VARIABLE written RESULT_VARIABLE failed ERROR_VARIABLE why)
        if(failed)
            message(WARNING \"no manual pages and completions: \${why}\")
        endif()
        string(REGEX MATCHALL \"[^\\n]+\" written \"\${written}\")
        foreach(file IN LISTS written)
            message(STATUS \"Installing: \${file}\")
            string(REPLACE \"\$ENV{DESTDIR}\" \"\" file \"\${file}\") # as in the other lines of the manifest
            list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${file}\")
        endforeach()"
        COMPONENT programs)
endif()

# cmake --build BUILD --target uninstall: removes what `cmake --install` of this build put there last, and folders that are empty then.
add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake)
