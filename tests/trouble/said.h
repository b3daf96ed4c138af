/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of the library's log. */
#ifndef ITAPI_TESTS_TROUBLE_SAID_H
#define ITAPI_TESTS_TROUBLE_SAID_H

/*
 * Records the log, with warnings, from here on. Must come before the library is used, since it
 * reads its level once.
 */
void said_begin(void);
/* Checks that there was one warning since the last call, with that text, and no other. */
void said_once(const char *text);
/* Checks that there was one with that text among others. */
void said_among(const char *text);
void said_nothing(void);

#endif
