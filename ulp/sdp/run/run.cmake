# SPDX-License-Identifier: BSD-2-Clause
# it_sdp: needs the rules and the names of agreement, nothing of the library.

file(GLOB run_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/run/*.c" "${CMAKE_CURRENT_SOURCE_DIR}/policy/*.c")
add_executable(it_sdp ${run_sources}
    "${CMAKE_CURRENT_SOURCE_DIR}/agree/sdp_agree_message.c" "${PROJECT_SOURCE_DIR}/ulp/launch/launch_program.c")
target_compile_definitions(it_sdp PRIVATE
    _GNU_SOURCE "SDP_LIBDIR=\"${CMAKE_INSTALL_LIBDIR}\"" "SDP_SYSCONFDIR=\"${CMAKE_INSTALL_FULL_SYSCONFDIR}\"")
target_include_directories(it_sdp PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}")
target_link_libraries(it_sdp PRIVATE itapi_build_flags itapi_warnings)
install(TARGETS it_sdp RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
