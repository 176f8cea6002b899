# Commands written in Python: launch/<name> is reached as bin/<name> in the build tree and in an installation. Links, because
# launch/run-python finds the modules from where it really lies.

# dlmb_add_tool(<name>)
function(dlmb_add_tool name)
    file(MAKE_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/launch/${name} ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name} SYMBOLIC)
    install(PROGRAMS launch/${name} DESTINATION ${CMAKE_INSTALL_DATADIR}/dlmb/launch)
    file(RELATIVE_PATH tool ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_DATADIR}/dlmb/launch/${name})
    set(link ${CMAKE_CURRENT_BINARY_DIR}/installed/${name})
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/installed)
    file(CREATE_LINK ${tool} ${link} SYMBOLIC)
    install(FILES ${link} DESTINATION ${CMAKE_INSTALL_BINDIR}) # a link is installed as the link that it is
endfunction()

dlmb_add_tool(dlmb_autotune)
dlmb_add_tool(dlmb_compare)
dlmb_add_tool(dlmb_convert)
dlmb_add_tool(dlmb_plot)
dlmb_add_tool(dlmb_sweep)
install(PROGRAMS launch/run-python DESTINATION ${CMAKE_INSTALL_DATADIR}/dlmb/launch)
install(
    DIRECTORY launch/apptainer launch/ci launch/dlmb_launch launch/machines launch/ramble launch/reframe launch/slurm launch/spack
              launch/sweeps
    DESTINATION ${CMAKE_INSTALL_DATADIR}/dlmb/launch
    USE_SOURCE_PERMISSIONS
    PATTERN __pycache__ EXCLUDE)
