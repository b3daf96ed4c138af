/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A started call, from the check of its arguments to its event: what the floors below need to know
 * of it (its request), where its end is told, and what the event says.
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
    struct exs_memory own; /* of this call alone */
    struct exs_timer timer;
    uint64_t serial; /* of all calls only this one has it */
    int flags;
    int wait; /* with EXS_BLOCK: EXS_WAIT_ */
    /* The thread that waits is cancelled: has the call end soon. NULL: it may go on without. */
    void (*cancel)(int fd, uint64_t serial);
    exs_event_t event;
    /* Adds to the event what is known at the end only; may be NULL. */
    void (*finish)(struct exs_call *call, size_t moved, size_t lost);
    /* Gives back what else belongs to a call that does not start; may be NULL. */
    void (*discard)(struct exs_call *call);
    socklen_t address_length;
    struct exs_memory **pieces; /* registrations of several pieces; NULL: one that is none */
    size_t piece_count;
    void *copy;   /* what several pieces of memory hold or will hold */
    bool packets; /* of a message: the socket has packets */
    struct exs_polling *polling;
    struct exs_file *file;
    struct exs_call *next_free;
};

/* What a function of the API was called with, as far as it is the same in all. */
struct exs_start {
    int type; /* EXS_EVT_ */
    int fd;
    int flags;
    exs_qhandle_t qhandle;
    exs_ahandle_t ahandle;
};

/*
 * Cancellation of threads is disabled while the library works: for every function of the API that
 * may reach a cancellation point of the system.
 */
int exs_api_enter(void);
/* Sets errno unless error is 0; then -1. */
int exs_api_leave(int cancel, int error);

/* exs_init has been called in this process. */
bool exs_api_ready(void);

/* A call that has not started yet; 0 or errno. */
int exs_call_new(const struct exs_start *start, struct exs_call **new);
/* It does not start. */
void exs_call_drop(struct exs_call *call);
/* The end: gives everything back and tells the event. */
void exs_call_end(struct exs_call *call, int error, size_t moved, size_t lost);

/*
 * What the function returns once the call has started, or could not (error). Waits with EXS_BLOCK;
 * otherwise the call may be over, so it is not looked at. The counterpart of exs_api_enter.
 */
ssize_t exs_call_return(int cancel, int flags, struct exs_call *call, int error);

/* The thread is cancelled while it waits for the call: cancels that, too, and waits for its end. */
void exs_call_abandon(void *call);

/* In the child after fork. */
void exs_calls_forget(void);

/* Ends the call of this serial with error, if it is still there. */
void exs_call_expire(int fd, uint64_t serial, int error);

#endif /* ITAPI_ULP_EXS_API_EXS_CALL_H */
