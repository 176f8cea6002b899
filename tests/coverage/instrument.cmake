# Included by cover.py behind project(): DLMB_COVER_TARGET alone is compiled for gcov; all else comes from the cache.
cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL target_compile_options ${DLMB_COVER_TARGET} PRIVATE --coverage -O0)
cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL target_link_options ${DLMB_COVER_TARGET} PUBLIC --coverage)
