# SPDX-License-Identifier: BSD-2-Clause
# Real programs in four pairings.

if(TARGET itsdp AND TARGET it_trace AND NOT ITAPI_SANITIZE MATCHES "address|thread")
    foreach(program IN ITEMS iperf3 redis-server redis-io-threads nc socat http rsync ssh)
        add_test(NAME sdp.program_${program} COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/programs"
            ${program} "$<TARGET_FILE:it_sdp>" "$<TARGET_FILE:it_trace>")
        set_tests_properties(sdp.program_${program} PROPERTIES SKIP_RETURN_CODE 77 LABELS sdp)
        itapi_time_limit(sdp.program_${program} 120)
    endforeach()
endif()
