/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watches: sockets that a thread of this layer polls. They serve only datagrams: connections belong
 * to the IA. A watch reports once; the callback or any other thread arms it again.
 */
#ifndef ITAPI_ULP_OFA_SUPPORT_OFA_WATCH_H
#define ITAPI_ULP_OFA_SUPPORT_OFA_WATCH_H

struct ofa_watch {
    struct ofa_watch *next; /* in the list of all watches */
    int fd;
    void (*callback)(struct ofa_watch *watch);
};

/*
 * Registers handlers with pthread_atfork. Called before handlers are registered that take locks
 * which are held when a watch is armed.
 */
void ofa_watch_survive_fork(void);

/* Returns 0 or errno. */
int ofa_watch_open(struct ofa_watch *watch);

/* Makes the callback run once when the socket is readable, also if it is readable now. */
void ofa_watch_arm(struct ofa_watch *watch);

/* The callback does not run afterwards. Not to be called by a callback. */
void ofa_watch_close(struct ofa_watch *watch);

#endif /* ITAPI_ULP_OFA_SUPPORT_OFA_WATCH_H */
