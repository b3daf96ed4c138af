/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A started call, from the check of its arguments to its event: its request for the floors below,
 * where its end is reported, and the event.
 */
#ifndef ITAPI_ULP_EXS_API_EXS_CALL_H
#define ITAPI_ULP_EXS_API_EXS_CALL_H

#include "api/exs_timer.h"
#include "include/exs.h"
#include "memory/exs_memory.h"
#include "object/exs_request.h"
#include "object/exs_socket.h"
#include "queue/exs_completion.h"

#include <stdint.h>

struct exs_file;
struct exs_polling;

struct exs_call {
    struct exs_request request; /* its context is this call */
    struct exs_completion completion;
    struct exs_memory own; /* memory registered for this call only */
    struct exs_timer timer;
    uint64_t serial;           /* unique among all calls */
    struct exs_socket *socket; /* of a transfer; not counted: the connection is, while it lasts */
    int flags;
    int wait; /* with EXS_BLOCK: EXS_WAIT_ */
    /*
     * Called when the waiting thread is cancelled: makes the call end soon. NULL: the call may go
     * on.
     */
    void (*cancel)(struct exs_call *call);
    exs_event_t event;
    /* Fills in members of the event that are known only at the end; may be NULL. */
    void (*finish)(struct exs_call *call, size_t moved, size_t lost);
    /* Releases further resources of a call that does not start; may be NULL. */
    void (*discard)(struct exs_call *call);
    socklen_t address_length;
    struct exs_memory **pieces; /* registrations of several pieces; NULL entries: unregistered */
    size_t piece_count;
    void *copy;   /* the contents of several pieces of memory, to send or received */
    bool started; /* from its first transfer on; guarded by the socket's lock */
    struct exs_polling *polling;
    struct exs_file *file;
    struct exs_call *next_free;
};

/* The arguments that are common to the functions of the API. */
struct exs_start {
    int type; /* EXS_EVT_ */
    int fd;
    int flags;
    exs_qhandle_t qhandle;
    exs_ahandle_t ahandle;
};

/*
 * Disables cancellation of the thread while the library works. Every function of the API that may
 * reach a cancellation point of the system calls it.
 */
int exs_api_enter(void);
/* Sets errno and returns -1, unless error is 0. */
int exs_api_leave(int cancel, int error);

/* Returns true if exs_init has been called in this process. */
bool exs_api_ready(void);

/* Creates a call that has not started yet. Returns 0 or errno. */
int exs_call_new(const struct exs_start *start, struct exs_call **new);
/* Frees a call that does not start. */
void exs_call_drop(struct exs_call *call);
/* Ends the call: releases everything and reports the event. */
void exs_call_end(struct exs_call *call, int error, size_t moved, size_t lost);

/*
 * Returns the result of the API function once the call has started, or failed to start (error).
 * Waits with EXS_BLOCK; otherwise it does not access the call, which may already have ended. The
 * counterpart of exs_api_enter.
 */
ssize_t exs_call_return(int cancel, int flags, struct exs_call *call, int error);

/* The waiting thread is being cancelled: cancels the call too, and waits for its end. */
void exs_call_abandon(void *call);

/* In the child after fork. */
void exs_calls_forget(void);

/*
 * Ends the transfer with this serial number with error, if it still exists. The descriptor may have
 * been closed since.
 */
void exs_call_expire(struct exs_socket *socket, uint64_t serial, int error);

#endif /* ITAPI_ULP_EXS_API_EXS_CALL_H */
