/* SPDX-License-Identifier: BSD-2-Clause */
#include "hostile/hostile_bed.h"

#include <string.h>

const unsigned char bed_xs[128] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                                  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

uint32_t bed_stag(const struct fx_buf *buf)
{
    return (uint32_t)buf->key;
}

void bed_open(struct hostile_bed *bed)
{
    it_mem_priv_t writable = (it_mem_priv_t)(IT_PRIV_LOCAL | IT_PRIV_REMOTE_WRITE);
    it_mem_priv_t readable = (it_mem_priv_t)(IT_PRIV_LOCAL | IT_PRIV_REMOTE_READ);

    memset(bed, 0, sizeof(*bed));
    hk_open(&bed->kit);
    CHECK_OK(it_pz_create(bed->kit.node.ia, &bed->other_pz));
    bed->in = fx_buf_make(&bed->kit.node, 2 * BED_REGION);
    bed->writable = fx_buf_make_as(bed->kit.node.pz, BED_REGION, writable, IT_ADDR_MODE_ABSOLUTE);
    bed->readable = fx_buf_make_as(bed->kit.node.pz, BED_REGION, readable, IT_ADDR_MODE_ABSOLUTE);
    bed->foreign = fx_buf_make_as(bed->other_pz, BED_REGION, FX_PRIVS_ALL, IT_ADDR_MODE_ABSOLUTE);
}

void bed_close(struct hostile_bed *bed)
{
    fx_buf_free(&bed->in);
    fx_buf_free(&bed->writable);
    fx_buf_free(&bed->readable);
    fx_buf_free(&bed->foreign);
    CHECK_OK(it_pz_free(bed->other_pz));
    hk_close(&bed->kit);
}
