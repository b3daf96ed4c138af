/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider uiwarp: userspace iWARP on ordinary TCP sockets. The private areas of its objects
 * and who may touch what:
 *
 *   reader    the thread that has won an EP's reader token: places what arrives
 *   sender    the thread that has won its send token: fills the socket
 *   loop      the IA's thread: listeners, connection startup, timers, closing streams
 *
 * docs/locking.md has the order of tokens and locks.
 */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_H

#include "base/base_list.h"
#include "evd/loop/evd_loop.h"
#include "tdi/iwarp/iw.h"
#include "tdi/iwarp/iw_mpa.h"
#include "tdi/iwarp/iw_rx.h"
#include "ual/object/ual_ep_state.h"
#include "vp/uiwarp/net/uiw_carrier.h"
#include "vp/uiwarp/net/uiw_half_open.h"
#include "vp/uiwarp/queue/uiw_progress.h"
#include "ual/object/ual_provider.h"
#include "vp/uiwarp/net/uiw_linger.h"
#include "vp/uiwarp/memory/uiw_memory.h"

#define UIW_MAX_SEGMENTS 64u
#define UIW_MAX_DTOS     65536u
#define UIW_MAX_SRQ_DTOS (1u << 20)
#define UIW_MAX_DEPTH    256u /* IRD, ORD */

struct uiw_conn;
struct uiw_bounce;
struct uiw_linger;
struct uiw_listener;

/* Connection management of an IA: see uiw_conn.h. Loop thread only unless said otherwise. */
struct uiw_cm {
    struct base_list connections;         /* all attempts under way */
    struct uiw_lingering lingering;       /* streams that are being closed */
    struct uiw_half_open_table half_open; /* accepted, Request not complete */
    unsigned half_open_max;               /* of them; immutable */
    int scarce_fd;          /* from this number on descriptors are scarce; immutable */
    unsigned undecided;     /* announced, no decision by the consumer yet */
    unsigned undecided_max; /* of them; immutable */
    uint64_t accepted, initiated, half_open_refused, half_open_timeouts;
};

struct uiw_ia {
    struct uiw_memory memory; /* first: uiw_memory_of */
    struct ual_ia *ual;
    char interface[IT_INTERFACE_NAME_SIZE]; /* network interface, "" = all; immutable */
    _Atomic uint64_t streams;               /* connections ever: gives each a number */
    struct uiw_progress progress;
    struct uiw_cm cm;
    struct uiw_carrier carrier;
    struct base_lock retired_lock;
    struct itx_ep_counters retired; /* of EPs that are gone; by retired_lock */
};

struct uiw_listen {
    struct ual_listen *ual;
    struct uiw_listener *listener; /* loop thread; see uiw_listen.c */
};

static inline struct uiw_ia *uiw_ia_of(struct ual_ia *ia)
{
    return (struct uiw_ia *)(void *)ia->area;
}

static inline struct uiw_listen *uiw_listen_of(struct ual_listen *listen)
{
    return (struct uiw_listen *)(void *)listen->area;
}

_Static_assert(offsetof(struct uiw_ia, memory) == 0, "uiw_memory_of relies on it");

static inline struct uiw_progress *uiw_progress_of(struct ual_ia *ia)
{
    return &uiw_ia_of(ia)->progress;
}

#endif
