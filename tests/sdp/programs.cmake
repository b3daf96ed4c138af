# SPDX-License-Identifier: BSD-2-Clause
# Real programs in four pairings.

if(TARGET itsdp AND TARGET it_trace AND NOT ITAPI_SANITIZE MATCHES "address|thread")
    add_executable(sdp_libevent_server sdp_libevent_server.c)
    target_link_libraries(sdp_libevent_server PRIVATE itapi_dependencies itapi_build_flags itapi_warnings_basic)
    set_target_properties(sdp_libevent_server PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/tests")
    foreach(program IN ITEMS libevent iperf3 redis-server redis-io-threads nc socat http rsync ssh ipv6
            users)
        add_test(NAME sdp.program_${program} COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/programs"
            ${program} "$<TARGET_FILE:it_sdp>" "$<TARGET_FILE:it_trace>")
        set_tests_properties(sdp.program_${program} PROPERTIES SKIP_RETURN_CODE 77 LABELS sdp)
        itapi_time_limit(sdp.program_${program} 120)
    endforeach()
    add_test(NAME sdp.it_sdp COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/it_sdp" "$<TARGET_FILE:it_sdp>" "${CMAKE_C_COMPILER}")
    set_tests_properties(sdp.it_sdp PROPERTIES LABELS sdp)
    itapi_time_limit(sdp.it_sdp 60)
endif()
