# Writes version.cpp, and touches it only when its content changes.
set(GIT_REVISION unknown)
find_program(GIT git)
if(GIT AND EXISTS ${SOURCE_DIR}/.git)
    execute_process(COMMAND ${GIT} describe --always --dirty --exclude=* --abbrev=12 WORKING_DIRECTORY ${SOURCE_DIR}
                    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
        set(GIT_REVISION ${described})
    endif()
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/version.cpp.in ${OUTPUT} @ONLY)
