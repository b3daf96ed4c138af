/* SPDX-License-Identifier: BSD-2-Clause */
/* What the library has had to say in its log, for tests of that. */
#ifndef ITAPI_TESTS_TROUBLE_SAID_H
#define ITAPI_TESTS_TROUBLE_SAID_H

/* From here on, with warnings. Before the library is used: it looks at its level once. */
void said_begin(void);
/* Since the last call there was one warning, with that text in it, and no other. */
void said_once(const char *text);
/* There was one among others. */
void said_among(const char *text);
void said_nothing(void);

#endif
