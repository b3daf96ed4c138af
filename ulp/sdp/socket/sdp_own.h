/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptors of this library: high numbers, which the program's do not reach and which it cannot
 * close. If the hard limit allows it, they are above the program's soft limit, which the program
 * still sees unchanged.
 */
#ifndef ITAPI_ULP_SDP_SOCKET_SDP_OWN_H
#define ITAPI_ULP_SDP_SOCKET_SDP_OWN_H

#include <stdbool.h>
#include <sys/resource.h>

/* Called once at the start; and before and after exec or spawn. */
void sdp_own_start(void);
void sdp_own_limit_restore(void);
void sdp_own_limit_raise(void);

/*
 * Moves fd to a high number and returns that, or fd itself if there is no room. Leaves an fd below
 * 0 alone.
 */
int sdp_own_keep(int fd);

/* Returns true if there is room for one more connection. Reports once that there is none. */
bool sdp_own_room(void);

/*
 * Returns how many numbers the kernel's table of descriptors would have without this library: a
 * power of two, so that the program's highest number is one of them.
 */
int sdp_own_table_size(void);

/* getrlimit and setrlimit of RLIMIT_NOFILE as the program sees them. Returns 0 or -errno. */
int sdp_own_limit(const struct rlimit *set, struct rlimit *got);

#endif /* ITAPI_ULP_SDP_SOCKET_SDP_OWN_H */
