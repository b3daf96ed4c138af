/* SPDX-License-Identifier: BSD-2-Clause */
/* Streams that have ended and are being closed. */
#ifndef ITAPI_VP_UIWARP_NET_UIW_LINGER_H
#define ITAPI_VP_UIWARP_NET_UIW_LINGER_H

#include "base/base_list.h"
#include "evd/loop/evd_loop.h"

/* Such streams of an IA. Used on the loop's thread only, except .loop. */
struct uiw_lingering {
    struct evd_loop *loop;    /* immutable */
    struct base_list streams; /* the oldest first */
    unsigned count;
    unsigned max; /* immutable, at least 1 */
};

/* Loop thread. Closes all streams, for ia_close. */
void uiw_linger_close_all(struct uiw_lingering *set);

/*
 * Any thread. Takes over the descriptor of a stream that has ended. Sends tail (copied), then FIN;
 * reads and drops octets until the peer's FIN or a time limit; then closes. shutdown(2) ends the
 * stream even if another copy of the descriptor exists.
 */
void uiw_linger(struct uiw_lingering *set, int fd, const void *tail, size_t tail_length);

/* Resets the connection (RST), also when other copies of the descriptor exist, and closes fd. */
void uiw_reset_fd(int fd);

#endif
