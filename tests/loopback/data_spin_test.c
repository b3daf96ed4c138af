/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * itx_ia_set_spin: whether a waiting call polls before it sleeps. The reads of the stream show it.
 */
#include <criterion/criterion.h>

#include "support/fixture_pair.h"

#define WAIT_US 2000u
/*
 * After the awaited event the IA's thread may read once more. A thread that polls reads many times.
 */
#define READS_LATE 2u
#define READS_MANY 10u

/*
 * Counts the reads of the stream during a wait that times out, soon after there was something to
 * read.
 */
static uint64_t reads_of_a_wait(void)
{
    it_event_t event;
    uint64_t before;

    for (unsigned i = 0; i < 4; i++)
        fx_pair_ping(&pair);
    before = fx_counters(&pair.a).receive_calls;
    CHECK_STATUS(IT_ERR_TIMEOUT_EXPIRED, it_evd_wait(pair.a.recv_evd, WAIT_US, &event, NULL));
    return fx_counters(&pair.a).receive_calls - before;
}

Test(data_spin, sleeps_at_once, .init = pair_init, .fini = pair_fini)
{
    CHECK_OK(itx_ia_set_spin(pair.a.ia, 0));
    for (unsigned i = 0; i < 20; i++)
        CHECK(reads_of_a_wait() <= READS_LATE);
}

/* The wait may poll for longer than its timeout. */
Test(data_spin, polls_again)
{
    fx_pair_open(&pair);
    CHECK_OK(itx_ia_set_spin(pair.a.ia, 0));
    CHECK(reads_of_a_wait() <= READS_LATE);
    CHECK_OK(itx_ia_set_spin(pair.a.ia, (uint64_t)1000 * WAIT_US));
    FX_WAIT_WHILE(reads_of_a_wait() < READS_MANY, "a wait that polls");
    CHECK_OK(itx_ia_set_spin(pair.a.ia, 0));
    CHECK(reads_of_a_wait() <= READS_LATE);
    fx_pair_close(&pair);
}

Test(data_spin, any_number, .init = pair_init, .fini = pair_fini)
{
    static const uint64_t numbers[] = {1,
                                       1000000,
                                       UINT64_MAX / 1000,
                                       UINT64_MAX / 1000 + 1,
                                       ITX_SPIN_DEFAULT - 1,
                                       ITX_SPIN_DEFAULT};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        CHECK_OK(itx_ia_set_spin(pair.a.ia, numbers[i]));
        (void)reads_of_a_wait();
    }
    CHECK_STATUS(IT_ERR_INVALID_IA, itx_ia_set_spin(NULL, 0));
    CHECK_STATUS(IT_ERR_INVALID_IA, itx_ia_set_spin((it_ia_handle_t)(void *)pair.a.pz, 0));
}
