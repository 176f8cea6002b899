# results-schema/ against its examples and against the code. Included by tests/unit/record, whose samples it writes.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_executable(write_schema_examples ${CMAKE_CURRENT_LIST_DIR}/write_examples.cpp)
target_link_libraries(write_schema_examples PRIVATE dlmb_sample_records dlmb_sample_table dlmb::environment dlmb::plan_file dlmb::bootstrap_in_process dlmb_build_flags fmt::fmt)
add_test(NAME lint_schema COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/check_schema.py
                                  $<TARGET_FILE:write_schema_examples> ${CMAKE_CURRENT_BINARY_DIR}/examples)
set_tests_properties(lint_schema PROPERTIES LABELS lint TIMEOUT 900 SKIP_RETURN_CODE 77 ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
