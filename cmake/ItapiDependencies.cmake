# SPDX-License-Identifier: BSD-2-Clause
# itapi_dependencies: the libraries below us. Only the *core* of libevent is used.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(LIBEVENT_CORE REQUIRED IMPORTED_TARGET libevent_core>=2.1)

add_library(itapi_dependencies INTERFACE)
target_link_libraries(itapi_dependencies INTERFACE PkgConfig::LIBEVENT_CORE Threads::Threads ${CMAKE_DL_LIBS})
set(ITAPI_PC_REQUIRES libevent_core)

if(ITAPI_CRC STREQUAL "isal")
    pkg_check_modules(LIBISAL REQUIRED IMPORTED_TARGET libisal)
    target_link_libraries(itapi_dependencies INTERFACE PkgConfig::LIBISAL)
    target_compile_definitions(itapi_dependencies INTERFACE ITAPI_CRC_ISAL=1)
    string(APPEND ITAPI_PC_REQUIRES " libisal")
elseif(ITAPI_CRC STREQUAL "soft")
    target_compile_definitions(itapi_dependencies INTERFACE ITAPI_CRC_ISAL=0)
else()
    message(FATAL_ERROR "ITAPI_CRC is \"${ITAPI_CRC}\": must be isal or soft")
endif()
