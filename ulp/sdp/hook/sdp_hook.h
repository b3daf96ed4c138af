/* SPDX-License-Identifier: BSD-2-Clause */
/* Helpers that all hooks share. */
#ifndef ITAPI_ULP_SDP_HOOK_SDP_HOOK_H
#define ITAPI_ULP_SDP_HOOK_SDP_HOOK_H

#include "hook/sdp_next.h"
#include "socket/sdp_calls.h"
#include "socket/sdp_own.h"
#include "socket/sdp_region.h"
#include "socket/sdp_table.h"

#include <errno.h>

/* Returns true if the number is the kernel's alone, or the call comes from this library. */
static inline bool sdp_is_kernels(int number)
{
    return sdp_inside() || sdp_table_kind(number) == SDP_NUMBER_FREE;
}

/*
 * Sets `result` to `call` of the socket floor, made in a region; repeats it if signal handlers ran
 * and all have SA_RESTART. Keeps errno unless the call fails: then `result` is -1.
 */
#define SDP_IN_REGION(result, call)                                                                \
    do {                                                                                           \
        int sdp_errno = errno;                                                                     \
        int sdp_stopped = sdp_thread.stopped;                                                      \
                                                                                                   \
        do {                                                                                       \
            sdp_region_enter();                                                                    \
            (result) = (call);                                                                     \
            sdp_region_leave();                                                                    \
        } while ((result) == -ERESTART && sdp_thread.stopped == sdp_stopped);                      \
        errno = sdp_errno;                                                                         \
        if ((result) < 0 && (result) != SDP_KERNEL) {                                              \
            errno = (result) == -ERESTART ? EINTR : -(int)(result);                                \
            (result) = -1;                                                                         \
        }                                                                                          \
    } while (0)

/* Moves descriptors that this library creates to high numbers. */
static inline int sdp_made(int fd)
{
    return sdp_inside() ? sdp_own_keep(fd) : fd;
}

/*
 * A socket is now number 0, 1 or 2: from now on libc's stream of it uses functions of this library.
 */
void sdp_stream_over(int number);

void sdp_signals_start(void);
void sdp_process_start(void);

#endif /* ITAPI_ULP_SDP_HOOK_SDP_HOOK_H */
