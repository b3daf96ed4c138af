# SPDX-License-Identifier: BSD-2-Clause
# libitsdp.so: all floors and a copy of the library, with names of libc on top.

function(itapi_sdp_compiled target)
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/ulp/sdp" "${PROJECT_SOURCE_DIR}/include")
    target_compile_definitions(${target} PRIVATE ITAPI_ENABLE_V21_BINDINGS _GNU_SOURCE)
    # libc's own names: some are in none of its headers, take other types of pointers, or are known to the compiler.
    # Distributions turn on the checking versions of them (_FORTIFY_SOURCE), whose bodies would be defined twice.
    target_compile_options(${target} PRIVATE -Wconversion -Wcast-align -Wswitch-enum -fno-builtin -U_FORTIFY_SOURCE)
    target_link_libraries(${target} PRIVATE Threads::Threads itapi_build_flags itapi_warnings_basic ${CMAKE_DL_LIBS})
endfunction()

# itapi_sdp_library(TARGET objects...): the floors socket/ and hook/ on those of the others.
function(itapi_sdp_library target)
    set(map "${PROJECT_SOURCE_DIR}/ulp/sdp/hook/itsdp.map")
    add_library(${target} SHARED $<TARGET_OBJECTS:itapi_sdp_hook_objects> ${ARGN})
    set_target_properties(${target} PROPERTIES LINK_DEPENDS "${map}" LINKER_LANGUAGE C)
    itapi_sdp_compiled(${target})
    target_link_options(${target} PRIVATE
        "LINKER:--version-script=${map}"
        LINKER:-z,nodelete # threads run in it
        ${ITAPI_NO_UNDEFINED})
endfunction()

file(GLOB sources CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/ulp/sdp/hook/*.c" "${PROJECT_SOURCE_DIR}/ulp/sdp/socket/*.c")
add_library(itapi_sdp_hook_objects OBJECT ${sources})
set_target_properties(itapi_sdp_hook_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
itapi_sdp_compiled(itapi_sdp_hook_objects)
# A sanitizer's own library calls these while it starts: it cannot check them yet.
if(NOT ITAPI_SANITIZE STREQUAL "none")
    set(early ${sources})
    list(FILTER early INCLUDE REGEX "/hook/|/sdp_(own|region|table)\\.c$")
    set_source_files_properties(${early} PROPERTIES COMPILE_OPTIONS -fno-sanitize=all)
endif()
itapi_sdp_library(itsdp $<TARGET_OBJECTS:itapi_sdp_objects> $<TARGET_OBJECTS:itapi_objects>)
target_link_libraries(itsdp PRIVATE itapi_dependencies)
install(TARGETS itsdp LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
