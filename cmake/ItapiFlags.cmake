# SPDX-License-Identifier: BSD-2-Clause
# itapi_build_flags: how everything of ours is compiled (optimisation, sanitizers).
# itapi_warnings: the warnings of the library's own code, on top of itapi_warnings_basic, which
# programs and tests use too.

add_library(itapi_build_flags INTERFACE)
target_compile_definitions(itapi_build_flags INTERFACE _GNU_SOURCE)
# -O2 -g in Release: optimised as shipped, and a crash of a user still has line numbers.
target_compile_options(itapi_build_flags INTERFACE
    $<$<CONFIG:Release>:-O2;-g>
    -fno-semantic-interposition
    # Socket addresses are read through struct sockaddr_storage: the socket API itself is not
    # written to C's aliasing rules.
    -fno-strict-aliasing)

add_library(itapi_warnings_basic INTERFACE)
target_compile_options(itapi_warnings_basic INTERFACE
    -Wall -Wextra -Wshadow -Wvla -Wundef
    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
    $<$<BOOL:${ITAPI_WERROR}>:-Werror>)

add_library(itapi_warnings INTERFACE)
target_link_libraries(itapi_warnings INTERFACE itapi_warnings_basic)
target_compile_options(itapi_warnings INTERFACE
    -Wpedantic -Wconversion -Wmissing-prototypes -Wcast-align -Wswitch-enum)

# A sanitizer's run-time library is found in the program, not in libitapi, when clang compiles.
set(ITAPI_NO_UNDEFINED LINKER:--no-undefined)
if(ITAPI_SANITIZE STREQUAL "address")
    set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=undefined)
elseif(ITAPI_SANITIZE STREQUAL "thread")
    set(sanitizers -fsanitize=thread)
elseif(NOT ITAPI_SANITIZE STREQUAL "none")
    message(FATAL_ERROR "ITAPI_SANITIZE is \"${ITAPI_SANITIZE}\": must be none, address or thread")
endif()
if(DEFINED sanitizers)
    # -g1: a report needs functions and lines, not variables. The configuration debug has all.
    target_compile_options(itapi_build_flags INTERFACE ${sanitizers} -O1 -g1 -fno-omit-frame-pointer)
    target_link_options(itapi_build_flags INTERFACE ${sanitizers})
    if(CMAKE_C_COMPILER_ID MATCHES "Clang")
        set(ITAPI_NO_UNDEFINED "")
    endif()
endif()

# Tests are a third of the sources and run for moments, so compiling them is what they cost. In the release they are optimised
# all the same: tests/counted counts with them, and the compiler's warnings about the flow of data come with it.
set(in_tests "$<PATH:IS_PREFIX,${PROJECT_SOURCE_DIR}/tests,$<TARGET_PROPERTY:SOURCE_DIR>>")
if(ITAPI_FUZZ)
    set(test_options "") # these run for long
elseif(DEFINED sanitizers)
    set(test_options -O0)
else()
    set(test_options "$<$<CONFIG:Release>:-g1>")
endif()
target_compile_options(itapi_build_flags INTERFACE "$<${in_tests}:${test_options}>")
# gold links in a third of the time of bfd, and is part of binutils.
find_program(ITAPI_GOLD NAMES ld.gold)
mark_as_advanced(ITAPI_GOLD)
if(ITAPI_GOLD AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
    target_link_options(itapi_build_flags INTERFACE "$<${in_tests}:-fuse-ld=gold>")
endif()

if(ITAPI_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "ITAPI_FUZZ needs clang (libFuzzer)")
    endif()
    target_compile_options(itapi_build_flags INTERFACE -fsanitize=fuzzer-no-link)
    set(ITAPI_NO_UNDEFINED "")
endif()
