# SPDX-License-Identifier: BSD-2-Clause
# Makes the same calls without and with the library in front. Its connections are replaced.
itapi_sdp_library(sdp_double "${PROJECT_SOURCE_DIR}/ulp/sdp/face/sdp_face.c"
    "${PROJECT_SOURCE_DIR}/ulp/sdp/guard/sdp_guard.c"
    double/sdp_double_agree.c double/sdp_double_connection.c)
file(GLOB hooks_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/hooks/*.c")
add_executable(sdp_hooks ${hooks_sources} "${PROJECT_SOURCE_DIR}/tests/support/time_limit.c")
target_include_directories(sdp_hooks PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/tests")
target_link_libraries(sdp_hooks PRIVATE Threads::Threads itapi_build_flags itapi_warnings_basic)
add_dependencies(sdp_hooks sdp_double itsdp)
# The library stands in front of the sanitizer's, and handles the faults of the program.
set(hooks_environment
    "ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0:handle_segv=0:handle_sigbus=0:allow_user_segv_handler=1"
    "TSAN_OPTIONS=handle_segv=0:handle_sigbus=0:allow_user_segv_handler=1:report_signal_unsafe=0:die_after_fork=0")
if(ITAPI_SANITIZE STREQUAL "thread") # a fork does not wait for the thread of the replaced connections
    set_target_properties(sdp_hooks PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/tests"
        CROSSCOMPILING_EMULATOR "${ITAPI_TSAN_LAUNCHER}")
else()
    itapi_register_test(sdp_hooks sdp "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/tests" $<TARGET_FILE:sdp_double>)
    set_tests_properties(sdp.sdp_hooks PROPERTIES ENVIRONMENT "${hooks_environment}")
endif()
add_test(NAME sdp.sdp_hooks_uiwarp COMMAND sdp_hooks $<TARGET_FILE:itsdp>)
set_tests_properties(sdp.sdp_hooks_uiwarp PROPERTIES LABELS sdp COST 150
    FAIL_REGULAR_EXPRESSION "WARNING: ThreadSanitizer;ERROR: AddressSanitizer;runtime error:"
    ENVIRONMENT "${hooks_environment};IT_SDP_CONFIG=${CMAKE_CURRENT_SOURCE_DIR}/hooks/sdp.conf")
itapi_time_limit(sdp.sdp_hooks_uiwarp 120)
