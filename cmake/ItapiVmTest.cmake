# SPDX-License-Identifier: BSD-2-Clause
#
#   itapi_vm_test(NAME [GROUP group] [LABELS label...] COMMAND program argument...
#       [CAPTURE interface...] [TIMEOUT seconds] [GUEST devices])
#
# A program that runs in a virtual machine with the kernel's siw and rxe (tests/vm), as test
# GROUP.NAME; GROUP is siw if not given. There are two machines, each with tests that run one after the
# other: "wire" is the usual one, "devices" that of GUEST devices. What goes over the interfaces of
# CAPTURE (as seen in the machine; far/far0: in its namespace far) is decoded by tshark: a malformed
# frame or a bad CRC fails the test. TIMEOUT counts from the program's start, 400 if not given, and is
# multiplied by the factor of all time limits. Where no machine can run, the test is skipped.

set(ITAPI_VM_FOLDER "${PROJECT_BINARY_DIR}/tests/vm")
set(ITAPI_VM_SCRIPT "${PROJECT_SOURCE_DIR}/tests/vm/run_test")

function(itapi_vm_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "GROUP;GUEST;TIMEOUT" "LABELS;COMMAND;CAPTURE")
    if(NOT ITAPI_VM_TESTS)
        return()
    endif()
    if(NOT arg_GROUP)
        set(arg_GROUP siw)
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 400)
    endif()
    set(capture "")
    if(arg_CAPTURE)
        list(JOIN arg_CAPTURE "," capture)
        set(capture --capture "${capture}")
    endif()

    if(NOT arg_GUEST)
        set(arg_GUEST wire)
    endif()

    set(test "${arg_GROUP}.${name}")
    add_test(NAME ${test}
        COMMAND "${ITAPI_VM_SCRIPT}" ${capture} --time ${arg_TIMEOUT}
            "${ITAPI_VM_FOLDER}/${arg_GUEST}" ${test} ${arg_COMMAND}
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}/tests")
    # The script ends the program in time. ctest's own limit is for what the script cannot end, and
    # leaves time to start the machine again and to decode.
    math(EXPR limit "${arg_TIMEOUT} + 600")
    set_tests_properties(${test} PROPERTIES
        LABELS "vm;${arg_LABELS}"
        FIXTURES_REQUIRED vm_${arg_GUEST}
        RESOURCE_LOCK vm_${arg_GUEST}
        COST 1000
        SKIP_RETURN_CODE 77)
    itapi_time_limit(${test} ${limit})
endfunction()
