/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scenes make calls on TCP sockets and write down each result, including errno. The results are the
 * same with and without libitsdp.so in front, whatever the connection is.
 */
#ifndef ITAPI_TESTS_SDP_HOOKS_SDP_HOOKS_KIT_H
#define ITAPI_TESTS_SDP_HOOKS_SDP_HOOKS_KIT_H

#include <errno.h>
#include <string.h>
#include <sys/types.h>

struct sdp_hooks_pair {
    int client;
    int server;
    int listener;
};

/*
 * Opens a pair. It is decided then whether it is SDP, except in scenes of sdp_hooks_carry,
 * _undecided and _early.
 */
void sdp_hooks_open(struct sdp_hooks_pair *pair);
void sdp_hooks_close(struct sdp_hooks_pair *pair);

/* Prints "what: result" or "what: -1 Name of the error". Returns the result. */
long sdp_hooks_say(const char *what, long result);
void sdp_hooks_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Waits for the events `until` of poll, and prints which of `asked` there are. */
void sdp_hooks_await(const char *what, int fd, short asked, short until);

/* Both ends have shut down: waits until each shows it, and the last octets have been confirmed. */
void sdp_hooks_await_over(const struct sdp_hooks_pair *pair);

/* Waits until a thread, which has stored its number by then, sleeps. */
void sdp_hooks_await_asleep(const _Atomic pid_t *thread);

#define SAY(call) (errno = 0, sdp_hooks_say(#call, (long)(call)))

typedef void sdp_hooks_scene(void);
struct sdp_hooks_named {
    const char *name;
    sdp_hooks_scene *run;
};
extern const struct sdp_hooks_named sdp_hooks_data[]; /* each table ends with a NULL */
extern const struct sdp_hooks_named sdp_hooks_bad[];
extern const struct sdp_hooks_named sdp_hooks_edges[];
extern const struct sdp_hooks_named sdp_hooks_events[];
extern const struct sdp_hooks_named sdp_hooks_behind[];
extern const struct sdp_hooks_named sdp_hooks_memory[];
extern const struct sdp_hooks_named sdp_hooks_carry[];
extern const struct sdp_hooks_named sdp_hooks_options[];
extern const struct sdp_hooks_named sdp_hooks_others[];
extern const struct sdp_hooks_named sdp_hooks_numbered[];
extern const struct sdp_hooks_named sdp_hooks_forks[];
extern const struct sdp_hooks_named sdp_hooks_sets[];
extern const struct sdp_hooks_named sdp_hooks_undecided[];
extern const struct sdp_hooks_named sdp_hooks_early[];
extern const struct sdp_hooks_named sdp_hooks_deaths[];

#endif /* ITAPI_TESTS_SDP_HOOKS_SDP_HOOKS_KIT_H */
