# Tests in Python. They find the project's packages by PYTHONPATH, as launch/run-python does for users.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# dlmb_find_python(<variable> <module>): a python3 that has the module; empty: none here. A distribution's packages belong to its
# own python3, which another one may hide.
function(dlmb_find_python variable module)
    set(${variable} "" PARENT_SCOPE)
    foreach(python IN ITEMS ${Python3_EXECUTABLE} /usr/bin/python3)
        execute_process(COMMAND ${python} -c "import ${module}" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
        if(NOT failed)
            set(${variable} ${python} PARENT_SCOPE)
            return()
        endif()
    endforeach()
endfunction()

# dlmb_add_python_test(<name> [NEEDS <module>] COMMAND <file or option of python> [argument...] [FOLDERS <folder>...])
# FOLDERS: where it finds more modules. Without a python that has NEEDS, or by exit code 77, the test is skipped.
function(dlmb_add_python_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "NEEDS" "COMMAND;FOLDERS")
    set(python ${Python3_EXECUTABLE})
    if(arg_NEEDS)
        dlmb_find_python(python ${arg_NEEDS})
    endif()
    if(python)
        add_test(NAME ${name} COMMAND ${python} ${arg_COMMAND})
        set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
    else()
        add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "skipped: no python3 here has ${arg_NEEDS}")
        set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped: ")
    endif()
    list(TRANSFORM arg_FOLDERS PREPEND ${PROJECT_SOURCE_DIR}/)
    set(changes PYTHONDONTWRITEBYTECODE=set:1)
    foreach(folder IN LISTS arg_FOLDERS ITEMS ${PROJECT_SOURCE_DIR}/launch ${PROJECT_SOURCE_DIR}/plotting ${PROJECT_SOURCE_DIR}/results-schema
                           ${PROJECT_SOURCE_DIR}/tests/shared)
        list(APPEND changes PYTHONPATH=path_list_prepend:${folder})
    endforeach()
    set_tests_properties(${name} PROPERTIES ENVIRONMENT_MODIFICATION "${changes}")
endfunction()
