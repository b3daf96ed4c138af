/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The receiver once more, for the runs in pieces. It is compiled without the callbacks by which
 * libFuzzer learns the operands of comparisons: the run at once has shown it the same octets, and
 * with many short pieces the callbacks take most of the time. Lines are counted, and
 * AddressSanitizer and UndefinedBehaviorSanitizer look, as in the other copy.
 */
#define iw_rx_admit          iw_rx_cuts_admit
#define iw_rx_admit_alone    iw_rx_cuts_admit_alone
#define iw_rx_arrived        iw_rx_cuts_arrived
#define iw_rx_at_boundary    iw_rx_cuts_at_boundary
#define iw_rx_consume        iw_rx_cuts_consume
#define iw_rx_direct_begin   iw_rx_cuts_direct_begin
#define iw_rx_direct_end     iw_rx_cuts_direct_end
#define iw_rx_direct_wanted  iw_rx_cuts_direct_wanted
#define iw_rx_fill_terminate iw_rx_cuts_fill_terminate
#define iw_rx_init           iw_rx_cuts_init
#define iw_rx_report         iw_rx_cuts_report

/* clang-format keeps the order. */
#include "tdi/iwarp/iw_rx.c"

#include "tdi/iwarp/iw_rx_message.c"

#include "iw_rx_run.h"

void iw_rx_run_cut(struct iw_rx_run *run, unsigned flags, const uint8_t *stream, size_t length,
                   size_t longest, bool direct)
{
    iw_rx_run_start(run, flags);
    iw_rx_run_finish(run, iw_model_feed(&run->rx, stream, length, longest, direct, flags));
}
