# SPDX-License-Identifier: BSD-2-Clause
# Makes the same calls without and with the library in front. Its connections are replaced. Where a
# sanitizer's library is in front of libc, no other one can be.
if(ITAPI_SANITIZE STREQUAL "none")
    itapi_sdp_library(sdp_double "${PROJECT_SOURCE_DIR}/ulp/sdp/face/sdp_face.c"
        "${PROJECT_SOURCE_DIR}/ulp/sdp/guard/sdp_guard.c"
        double/sdp_double_agree.c double/sdp_double_connection.c)
    file(GLOB hooks_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/hooks/*.c")
    add_executable(sdp_hooks ${hooks_sources} "${PROJECT_SOURCE_DIR}/tests/support/time_limit.c")
    target_include_directories(sdp_hooks PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/tests")
    target_link_libraries(sdp_hooks PRIVATE Threads::Threads itapi_build_flags itapi_warnings_basic)
    add_dependencies(sdp_hooks sdp_double)
    itapi_register_test(sdp_hooks sdp "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/tests" $<TARGET_FILE:sdp_double>)
    if(TARGET itsdp)
        add_dependencies(sdp_hooks itsdp)
        add_test(NAME sdp.sdp_hooks_uiwarp COMMAND sdp_hooks $<TARGET_FILE:itsdp>)
        set_tests_properties(sdp.sdp_hooks_uiwarp PROPERTIES
            LABELS sdp ENVIRONMENT "IT_SDP_CONFIG=${CMAKE_CURRENT_SOURCE_DIR}/hooks/sdp.conf")
        itapi_time_limit(sdp.sdp_hooks_uiwarp 120)
    endif()
endif()
