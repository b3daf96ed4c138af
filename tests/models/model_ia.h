/* SPDX-License-Identifier: BSD-2-Clause */
/* An IA of uiwarp for models: nothing of it but its progress is used. */
#ifndef MODEL_IA_H
#define MODEL_IA_H

#include <string.h>

static struct ual_ia *ual; /* with the uiw_ia behind it */
static struct uiw_progress *progress;

static void ia_begin(enum uiw_leader leader)
{
    static _Alignas(64) unsigned char ia[sizeof(struct ual_ia) + sizeof(struct uiw_ia)];

    memset(ia, 0, sizeof(ia));
    ual = (struct ual_ia *)(void *)ia;
    uiw_ia_of(ual)->ual = ual;
    progress = uiw_progress_of(ual);
    atomic_init(&progress->leader, leader);
}

#endif
