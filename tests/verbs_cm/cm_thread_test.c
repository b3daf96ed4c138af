/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads for blocking calls of rdma_cm block the program's signals except those of faults. */
#include "support/threads.h"
#include "verbs_cm/cm_kit.h"
#include "support/test_row.h"

#include <criterion/criterion.h>

/* Checks the masks of the IA's thread and of the one that is held in its call. */
static void masks_at(enum kit_stage stage)
{
    struct fx_patience patience = fx_patience_start("the thread of a call");
    struct threads before = threads_now(), now, fresh;
    struct kit kit;

    check_context(kit_stage_name(stage));
    kit_start(KIT_SIW);
    kit_open(&kit, KIT_SIW);
    kit_reach(&kit, stage);
    do {
        fx_patience_check(&patience);
        now = threads_now();
        fresh = threads_since(&before, &now);
    } while (fresh.count != 2);
    threads_check_masks(&fresh);
    stub_rdma_hold_connect(false);
    stub_rdma_hold_destroy(NULL);
    kit_close(&kit);
    check_context(NULL);
}

TEST_ROW(cm_thread, of_rdma_connect, masks_at, KIT_CALLING);
TEST_ROW(cm_thread, of_rdma_destroy_id, masks_at, KIT_GIVEN_UP);
