/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * suite_layout.h - pieces of all sizes in one buffer, at odd places, with guard octets between
 * them. Both sides have the same layout, so each knows what every octet of the other one is.
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

/* From 1 octet up; and one that is larger than anything a transport sends at once. */
struct layout layout_make(void);

/* A buffer where all is guard octets. */
struct fx_buf layout_buf(struct suite_side *side, const struct layout *layout);
/* One pattern in each piece. */
void layout_fill(const struct layout *layout, struct fx_buf *buf, uint32_t seed);
/* Every octet is as layout_fill has made it, or else the test ends. */
void layout_check(const struct layout *layout, const struct fx_buf *buf, uint32_t seed);

#endif /* ITAPI_TESTS_SUITE_SUITE_LAYOUT_H */
