/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * siw.h - settings of the driver, which are module parameters here. They hold for connections made
 * afterwards, of both namespaces. All of them are put back when the test ends, well or not.
 */
#ifndef ITAPI_TESTS_INTEROP_SIW_H
#define ITAPI_TESTS_INTEROP_SIW_H

/*
 * Ends the test as skipped (77) if there is no siw with parameters; sets all of them to their
 * defaults.
 */
void siw_begin(void);
/* Sets one of: mpa_crc_required, mpa_crc_strict, peer_to_peer, mpa_version, siw_tcp_nagle,
 * try_gso. The names are the driver's own. */
void siw_set(const char *parameter, int value);
/* All back to their defaults. */
void siw_reset(void);

#endif /* ITAPI_TESTS_INTEROP_SIW_H */
