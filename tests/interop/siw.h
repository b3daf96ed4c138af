/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * siw.h - settings of the driver, which are module parameters here. They apply to later connections
 * in both namespaces. When the test ends, successful or not, all of them are restored.
 */
#ifndef ITAPI_TESTS_INTEROP_SIW_H
#define ITAPI_TESTS_INTEROP_SIW_H

/*
 * Skips the test (status 77) if there is no siw with parameters. Sets all of them to their
 * defaults.
 */
void siw_begin(void);
/*
 * Sets one of: mpa_crc_required, mpa_crc_strict, peer_to_peer, mpa_version, siw_tcp_nagle, try_gso.
 * The names are those of the driver.
 */
void siw_set(const char *parameter, int value);
/* Sets all parameters to their defaults. */
void siw_reset(void);

#endif /* ITAPI_TESTS_INTEROP_SIW_H */
