/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sockets that a thread of this layer waits for. For datagrams only: connections are the IA's. A
 * socket is waited for once; the callback, or anybody else, arms it again.
 */
#ifndef ITAPI_ULP_OFA_SUPPORT_OFA_WATCH_H
#define ITAPI_ULP_OFA_SUPPORT_OFA_WATCH_H

struct ofa_watch {
    struct ofa_watch *next; /* in the list of all */
    int fd;
    void (*callback)(struct ofa_watch *watch);
};

/* Returns 0 or errno. */
int ofa_watch_open(struct ofa_watch *watch);

/* The callback runs once the socket is readable, even if it is now. */
void ofa_watch_arm(struct ofa_watch *watch);

/* The callback does not run afterwards. Not to be called by a callback. */
void ofa_watch_close(struct ofa_watch *watch);

#endif /* ITAPI_ULP_OFA_SUPPORT_OFA_WATCH_H */
