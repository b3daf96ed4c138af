# SPDX-License-Identifier: BSD-2-Clause
# itapi::itapi-static: libitapi.a, one object in which only the API's names are global, as in the shared library.

if(NOT ITAPI_STATIC OR NOT ITAPI_SANITIZE STREQUAL "none" OR NOT CMAKE_OBJCOPY)
    return()
endif()

set(whole "${PROJECT_BINARY_DIR}/itapi_static.o")
add_custom_command(OUTPUT "${whole}"
    COMMAND "${CMAKE_LINKER}" -r -o "${whole}" $<TARGET_OBJECTS:itapi_objects>
    COMMAND "${CMAKE_OBJCOPY}" --wildcard --keep-global-symbol=it_* --keep-global-symbol=itx_* "${whole}"
    DEPENDS itapi_objects $<TARGET_OBJECTS:itapi_objects>
    COMMAND_EXPAND_LISTS VERBATIM)
set_source_files_properties("${whole}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)

add_library(itapi_static STATIC "${whole}")
add_library(itapi::itapi-static ALIAS itapi_static)
set_target_properties(itapi_static PROPERTIES
    EXPORT_NAME itapi-static
    OUTPUT_NAME itapi
    LINKER_LANGUAGE C)
target_include_directories(itapi_static INTERFACE
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_link_libraries(itapi_static INTERFACE
    "$<BUILD_INTERFACE:itapi_dependencies>"
    "$<INSTALL_INTERFACE:event_core>"
    "$<INSTALL_INTERFACE:$<$<STREQUAL:${ITAPI_CRC},isal>:isal>>"
    "$<INSTALL_INTERFACE:-pthread>"
    "$<INSTALL_INTERFACE:${CMAKE_DL_LIBS}>")
