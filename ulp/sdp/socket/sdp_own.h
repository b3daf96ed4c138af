/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptors of this library: high, where the program's do not come, and none that it can close.
 * Where the hard limit allows it they are above the program's soft limit, which goes on as it was
 * as far as the program sees.
 */
#ifndef ITAPI_ULP_SDP_SOCKET_SDP_OWN_H
#define ITAPI_ULP_SDP_SOCKET_SDP_OWN_H

#include <stdbool.h>
#include <sys/resource.h>

/* Once, at the start; and before and after exec or spawn. */
void sdp_own_start(void);
void sdp_own_limit_restore(void);
void sdp_own_limit_raise(void);

/* Moves fd up and returns its number, or fd itself where there is no room. Below 0: left alone. */
int sdp_own_keep(int fd);

/* Is there room for one more connection? Says so once where there is none. */
bool sdp_own_room(void);

/* getrlimit and setrlimit of RLIMIT_NOFILE, as the program sees it. 0 or -errno. */
int sdp_own_limit(const struct rlimit *set, struct rlimit *got);

#endif /* ITAPI_ULP_SDP_SOCKET_SDP_OWN_H */
