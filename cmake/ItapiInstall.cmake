# SPDX-License-Identifier: BSD-2-Clause
# cmake --install: library, public headers, those for providers, itapi.pc, itapi-2.1.pc, the package with
# itapi::itapi, itapi::itapi-2.1, itapi::itapi-static and itapi::provider, it_info, it_trace, it_perf, README,
# documentation, samples, the crate for Rust (a commented configuration file, too).

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/itapi")

install(TARGETS itapi itapi_21 itapi_provider EXPORT itapiTargets
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
if(TARGET itapi_static)
    install(TARGETS itapi_static EXPORT itapiTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
install(EXPORT itapiTargets NAMESPACE itapi:: DESTINATION "${package_dir}")
install(FILES
    include/it_api.h
    include/it_api_cxx.h
    include/it_api_os_specific.h
    include/itapi.hpp
    include/itx_api.h
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES base/base_entries.h base/base_list.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/itapi/provider/base")
install(FILES ual/vp.h ual/vp_host.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/itapi/provider/ual")
install(FILES evd/evd_dto.h evd/evd_immediate.h evd/evd_progress.h evd/evd_source.h
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/itapi/provider/evd")

if(TARGET itapi_verbs)
    install(TARGETS itapi_verbs LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/itapi")
endif()

configure_package_config_file(cmake/itapiConfig.cmake.in "${PROJECT_BINARY_DIR}/itapiConfig.cmake"
    INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/itapiConfigVersion.cmake"
    COMPATIBILITY SameMajorVersion)
install(FILES
    "${PROJECT_BINARY_DIR}/itapiConfig.cmake"
    "${PROJECT_BINARY_DIR}/itapiConfigVersion.cmake"
    DESTINATION "${package_dir}")

# itapi.pc names the prefix, which is known only when installing (cmake --install --prefix): this
# first pass leaves @ITAPI_PREFIX@ as it is. cmake_path keeps directories that are absolute.
set(ITAPI_PREFIX "@ITAPI_PREFIX@")
foreach(dir IN ITEMS LIBDIR INCLUDEDIR)
    cmake_path(APPEND ITAPI_PC_${dir} "\${prefix}" "${CMAKE_INSTALL_${dir}}")
endforeach()
configure_file(cmake/itapi.pc.in "${PROJECT_BINARY_DIR}/itapi.pc.in" @ONLY)
install(CODE "
    set(ITAPI_PREFIX \"\${CMAKE_INSTALL_PREFIX}\")
    configure_file(\"${PROJECT_BINARY_DIR}/itapi.pc.in\" \"${PROJECT_BINARY_DIR}/itapi.pc\" @ONLY)")
configure_file(cmake/itapi-2.1.pc.in "${PROJECT_BINARY_DIR}/itapi-2.1.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/itapi.pc" "${PROJECT_BINARY_DIR}/itapi-2.1.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

foreach(program IN ITEMS it_info it_trace it_perf)
    if(TARGET ${program})
        install(TARGETS ${program} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
    endif()
endforeach()
# The README's links lead to the same places as in the source tree.
install(FILES README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY docs samples DESTINATION "${CMAKE_INSTALL_DOCDIR}"
    PATTERN CMakeLists.txt EXCLUDE
    PATTERN docs/man EXCLUDE
    PATTERN docs/site EXCLUDE
    PATTERN "step6.bash" EXCLUDE
    PATTERN "test_*.sh" EXCLUDE)
install(DIRECTORY bindings/rust DESTINATION "${CMAKE_INSTALL_DATADIR}/itapi")
install(FILES bench/README.md DESTINATION "${CMAKE_INSTALL_DOCDIR}/bench")
install(FILES vp/uiwarp/README.md DESTINATION "${CMAKE_INSTALL_DOCDIR}/vp/uiwarp")
install(FILES ulp/sdp/agree/README.md DESTINATION "${CMAKE_INSTALL_DOCDIR}/ulp/sdp/agree")
