/* SPDX-License-Identifier: BSD-2-Clause */
/* The poll set of an IA's established streams. */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_POLLSET_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_POLLSET_H

#include "vp/uiwarp/queue/uiw.h"

/* Returns false if epoll refuses the stream. */
bool uiw_pollset_add(struct ual_ia *ia, struct ual_ep *ual, int fd);
/* writable: arms EPOLLOUT, or disarms it. Returns false if epoll refuses the stream. */
bool uiw_pollset_want(struct ual_ia *ia, struct ual_ep *ual, int fd, bool writable);
void uiw_pollset_remove(struct ual_ia *ia, struct ual_ep *ual, int fd);

#endif
