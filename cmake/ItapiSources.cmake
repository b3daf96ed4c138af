# SPDX-License-Identifier: BSD-2-Clause

# itapi_sources(file.c ...): adds sources of this folder and of those below to the library. The list
# is explicit; a source that is not in the list is reported, unless its folder has a list of its own.
function(itapi_sources)
    list(TRANSFORM ARGN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" OUTPUT_VARIABLE listed)
    target_sources(itapi_objects PRIVATE ${listed})
    file(GLOB_RECURSE present CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.c")
    list(REMOVE_ITEM present ${listed})
    file(GLOB others "${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt")
    foreach(other IN LISTS others)
        get_filename_component(folder "${other}" DIRECTORY)
        list(FILTER present EXCLUDE REGEX "^${folder}/")
    endforeach()
    foreach(source IN LISTS present)
        file(RELATIVE_PATH source "${PROJECT_SOURCE_DIR}" "${source}")
        message(WARNING "${source} is in no itapi_sources() list and is not built")
    endforeach()
endfunction()

# itapi_program(NAME sources...): a program on the public API, in bin/ of the build folder.
function(itapi_program name)
    add_executable(${name} ${ARGN})
    target_link_libraries(${name} PRIVATE itapi_21 Threads::Threads itapi_build_flags itapi_warnings_basic)
    set_target_properties(${name} PROPERTIES
        INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
endfunction()

# itapi_objects_of(VARIABLE LIBRARY REGEX): for target_sources(), the objects of an OBJECT library whose sources' paths match,
# so that nothing is compiled twice.
function(itapi_objects_of variable library regex)
    set(${variable} "$<FILTER:$<TARGET_OBJECTS:${library}>,INCLUDE,${regex}>" PARENT_SCOPE)
endfunction()

# itapi_shared_objects(NAME sources...): compiled once, for several programs of itapi_program().
function(itapi_shared_objects name)
    add_library(${name} OBJECT ${ARGN})
    target_link_libraries(${name} PRIVATE itapi_21 Threads::Threads itapi_build_flags itapi_warnings_basic)
    target_include_directories(${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
endfunction()

# What tests are started with, for some nothing: a random layout of the address space is not for every ThreadSanitizer, and
# children inherit it.
function(itapi_test_launcher variable)
    set(${variable} "" PARENT_SCOPE)
    if(ITAPI_SANITIZE STREQUAL "thread")
        execute_process(COMMAND setarch -R true RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
        if(result EQUAL 0)
            set(${variable} setarch -R PARENT_SCOPE)
        endif()
    endif()
endfunction()
