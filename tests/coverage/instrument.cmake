# Included by cover.py behind project(): DLMB_COVER_TARGETS alone are compiled for gcov; all else comes from the cache.
foreach(target IN LISTS DLMB_COVER_TARGETS)
    # EVAL: a deferred call sees variables as they are in the end.
    cmake_language(
        EVAL CODE
        "cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]] CALL target_compile_options ${target} PRIVATE --coverage -O0)
         cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]] CALL target_link_options ${target} PUBLIC --coverage)")
endforeach()
