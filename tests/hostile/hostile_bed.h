/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An IA under attack (hostile_kit.h) with memory that its peers may use and memory that they may
 * not.
 */
#ifndef ITAPI_TESTS_HOSTILE_HOSTILE_BED_H
#define ITAPI_TESTS_HOSTILE_HOSTILE_BED_H

#include "hostile/hostile_kit.h"

#define BED_REGION 64u

struct hostile_bed {
    struct hk kit;
    it_pz_handle_t other_pz;
    struct fx_buf in;       /* for receives: two of BED_REGION */
    struct fx_buf writable; /* the peer may write it */
    struct fx_buf readable;
    struct fx_buf foreign; /* in another protection zone */
};

/* The octets that peers send. */
extern const unsigned char bed_xs[128];

void bed_open(struct hostile_bed *bed);
void bed_close(struct hostile_bed *bed);
uint32_t bed_stag(const struct fx_buf *buf);

#endif
