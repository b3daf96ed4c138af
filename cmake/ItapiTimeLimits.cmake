# SPDX-License-Identifier: BSD-2-Clause
#
#   itapi_time_limit(TEST SECONDS)  ctest ends the test after three times so many seconds times the factor
#   itapi_time_limits_finish()      once, behind the last test, in a directory of its own
#
# Whenever ctest reads the tests it has the machine measured (tests/limits/pace), hands the factor to
# all tests as ITAPI_TIME_FACTOR in the environment, and sets the limits. If the variable is set
# already, that is the factor.

function(itapi_time_limit test seconds)
    set_property(GLOBAL APPEND PROPERTY itapi_time_limits "${test}=${seconds}")
endfunction()

# Sanitizers slow the tests down; pace is built without.
if(ITAPI_SANITIZE STREQUAL "thread")
    set(ITAPI_SLOWNESS 3)
elseif(ITAPI_SANITIZE STREQUAL "address")
    set(ITAPI_SLOWNESS 2)
else()
    set(ITAPI_SLOWNESS 1)
endif()

function(itapi_time_limits_finish)
    set(script "${CMAKE_CURRENT_BINARY_DIR}/time_limits.cmake")
    get_property(limits GLOBAL PROPERTY itapi_time_limits)
    list(JOIN limits "\n    " limits)
    file(GENERATE OUTPUT "${script}" CONTENT "\
set(factor \"\$ENV{ITAPI_TIME_FACTOR}\")
if(factor STREQUAL \"\")
    execute_process(COMMAND \"$<TARGET_FILE:pace>\" ${ITAPI_SLOWNESS}
        OUTPUT_VARIABLE factor OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(NOT factor MATCHES \"^[1-9][0-9]*\$\") # pace is not built yet
    set(factor 10)
endif()
set(ENV{ITAPI_TIME_FACTOR} \"\${factor}\")
foreach(limit
    ${limits})
    string(REGEX MATCH \"^(.*)=([0-9]+)\$\" limit \"\${limit}\")
    # The machine may become busier than it was when the factor was measured, and this limit ends only what hangs.
    math(EXPR seconds \"3 * \${CMAKE_MATCH_2} * \${factor}\")
    set_tests_properties(\"\${CMAKE_MATCH_1}\" PROPERTIES TIMEOUT \"\${seconds}\")
endforeach()
")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${script}")
endfunction()
