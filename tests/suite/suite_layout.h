/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * suite_layout.h - pieces of all sizes in one buffer, at odd addresses, with guard octets between
 * them. Both sides have the same layout, so each knows every octet of the other side.
 */
#ifndef ITAPI_TESTS_SUITE_SUITE_LAYOUT_H
#define ITAPI_TESTS_SUITE_SUITE_LAYOUT_H

#include "suite/suite.h"

#define LAYOUT_PIECES 26

struct layout_piece {
    size_t offset;
    size_t length;
};

struct layout {
    struct layout_piece piece[LAYOUT_PIECES];
    size_t size;
};

/* Makes pieces from 1 octet on. The largest is longer than any transport sends at once. */
struct layout layout_make(void);

/* Makes a buffer that is filled with guard octets. */
struct fx_buf layout_buf(struct suite_side *side, const struct layout *layout);
/* Fills each piece with one pattern. */
void layout_fill(const struct layout *layout, struct fx_buf *buf, uint32_t seed);
/* Ends the test unless every octet is as layout_fill has made it. */
void layout_check(const struct layout *layout, const struct fx_buf *buf, uint32_t seed);

#endif /* ITAPI_TESTS_SUITE_SUITE_LAYOUT_H */
