# SPDX-License-Identifier: BSD-2-Clause
#
#   itapi_unit_test(NAME sources...)      Criterion, internals (static itapi_testing)
#   itapi_loopback_test(NAME sources...)  Criterion, public API only (shared itapi)
#   itapi_plain_test(NAME sources...)     main(), public API only; built under TSan too
#   itapi_race_test(NAME sources...)      the same, meant to be run under TSan
#   itapi_folder_tests(GROUP LIBRARY)     one test per *_test.c of this folder, see below
#
# NAME is the program's name (in bin/tests of the build folder). A plain test that exits with 77 is
# reported as skipped. Every test may use tests/support (#include "support/x.h").


if(ITAPI_SANITIZE STREQUAL "thread")
    set(ITAPI_CRITERION OFF)
else()
    set(ITAPI_CRITERION ON)
    pkg_check_modules(CRITERION REQUIRED IMPORTED_TARGET criterion)
endif()

# Some kernels place memory where ThreadSanitizer's run-time library does not expect it: then its
# programs are started with a fixed address space layout.
if(ITAPI_SANITIZE STREQUAL "thread" AND NOT DEFINED ITAPI_TSAN_LAUNCHER)
    set(launcher "")
    file(WRITE "${PROJECT_BINARY_DIR}/tsan_probe.c" "int main(void) { return 0; }\n")
    try_compile(compiled "${PROJECT_BINARY_DIR}/tsan_probe" "${PROJECT_BINARY_DIR}/tsan_probe.c"
        COMPILE_DEFINITIONS -fsanitize=thread
        LINK_OPTIONS -fsanitize=thread
        COPY_FILE "${PROJECT_BINARY_DIR}/tsan_probe.exe")
    if(compiled)
        # The layout is random: one good start proves little.
        foreach(try RANGE 15)
            execute_process(COMMAND "${PROJECT_BINARY_DIR}/tsan_probe.exe"
                RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
            if(NOT result EQUAL 0)
                set(launcher setarch -R)
            endif()
        endforeach()
    endif()
    set(ITAPI_TSAN_LAUNCHER "${launcher}" CACHE STRING "Command before a ThreadSanitizer program")
endif()

# itapi_register_test(NAME GROUP FOLDER arguments...)
function(itapi_register_test name group folder)
    set_target_properties(${name} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY "${folder}"
        CROSSCOMPILING_EMULATOR "${ITAPI_TSAN_LAUNCHER}")
    add_test(NAME ${group}.${name} COMMAND ${name} ${ARGN}
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}/tests")
    # Criterion passes a test whose process leaks, or whose fixture fails in .fini: the report in
    # its output must fail it.
    set_tests_properties(${group}.${name} PROPERTIES FAIL_REGULAR_EXPRESSION
        "ERROR: LeakSanitizer;runtime error:;WARNING: ThreadSanitizer;setup or teardown;Assertion Failed")
    itapi_time_limit(${group}.${name} 120)
endfunction()

function(itapi_add_test name group)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;LIBRARIES")
    add_executable(${name} ${arg_SOURCES})
    target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
    target_link_libraries(${name} PRIVATE
        itapi_test_support ${arg_LIBRARIES} Threads::Threads itapi_build_flags itapi_warnings_basic)
    if("itapi_testing" IN_LIST arg_LIBRARIES) # both are archives, and the first needs the second
        target_link_libraries(${name} PRIVATE
            "$<LINK_GROUP:RESCAN,itapi_test_support_objects,itapi_testing>")
    endif()
    if("PkgConfig::CRITERION" IN_LIST arg_LIBRARIES)
        target_link_libraries(${name} PRIVATE itapi_criterion_limit)
    endif()
    itapi_register_test(${name} ${group} "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/tests")
endfunction()

function(itapi_unit_test name)
    if(ITAPI_CRITERION)
        itapi_add_test(${name} unit SOURCES ${ARGN} LIBRARIES itapi_testing PkgConfig::CRITERION)
    endif()
endfunction()

function(itapi_loopback_test name)
    if(ITAPI_CRITERION)
        itapi_add_test(${name} loopback SOURCES ${ARGN} LIBRARIES itapi PkgConfig::CRITERION)
    endif()
endfunction()

function(itapi_plain_test name)
    itapi_add_test(${name} plain SOURCES ${ARGN} LIBRARIES itapi)
    set_tests_properties(plain.${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()

function(itapi_race_test name)
    itapi_add_test(${name} race SOURCES ${ARGN} LIBRARIES itapi)
    set_tests_properties(race.${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()

# itapi_folder_tests(GROUP LIBRARY): one test per *_test.c of this folder. A source that includes
# Criterion is a Criterion test, any other a plain program; one that includes an internal header is
# linked with the internals, whatever LIBRARY (itapi or itapi_testing) says; one that includes
# libevent is linked with that too. The other sources of the folder are helpers that every test of
# the folder may use.
function(itapi_folder_tests group library)
    file(GLOB tests CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*_test.c")
    file(GLOB helpers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.c")
    list(REMOVE_ITEM helpers ${tests})
    set(internal_include "#include \"(base|evd|ual|vp|tii|tdi)/")

    set(common "")
    if(helpers)
        set(common itapi_${group}_helpers)
        add_library(${common} STATIC ${helpers})
        target_include_directories(${common} PRIVATE
            "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/tests")
        target_link_libraries(${common} PRIVATE
            itapi_dependencies itapi_build_flags itapi_warnings_basic)
    endif()
    foreach(helper IN LISTS helpers)
        file(STRINGS "${helper}" internal REGEX "${internal_include}" LIMIT_COUNT 1)
        if(internal)
            set(library itapi_testing)
        endif()
    endforeach()

    foreach(source IN LISTS tests)
        get_filename_component(name "${source}" NAME_WE)
        file(STRINGS "${source}" criterion REGEX "#include <criterion/" LIMIT_COUNT 1)
        file(STRINGS "${source}" internal REGEX "${internal_include}" LIMIT_COUNT 1)
        set(libraries ${common} ${library})
        if(internal)
            set(libraries ${common} itapi_testing)
        endif()
        file(STRINGS "${source}" libevent REGEX "#include <event2/" LIMIT_COUNT 1)
        if(libevent)
            list(APPEND libraries itapi_dependencies)
        endif()
        if(NOT criterion)
            itapi_add_test(${name} ${group} SOURCES "${source}" LIBRARIES ${libraries})
            set_tests_properties(${group}.${name} PROPERTIES SKIP_RETURN_CODE 77)
        elseif(ITAPI_CRITERION)
            itapi_add_test(${name} ${group}
                SOURCES "${source}" LIBRARIES ${libraries} PkgConfig::CRITERION)
        endif()
    endforeach()
endfunction()
