/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One thread at a time, the leader, reads the sockets of an IA: a consumer that polls or waits,
 * otherwise the IA's loop. A thread claims the leader word by compare-and-swap before it reads.
 * Consumers that wait while another thread leads are followers; a leader that leaves wakes one of
 * them to take over.
 */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_PROGRESS_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_PROGRESS_H

#include "base/base_lock.h"
#include "evd/loop/evd_loop.h"
#include "evd/loop/evd_waiter.h"
#include "vp/uiwarp/queue/uiw_agenda.h"
#include "vp/uiwarp/queue/uiw_stay.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evd;
struct ual_ep;
struct ual_ia;

#define UIW_ACTIVE_MAX   8u
#define UIW_STAGING_SIZE ((size_t)65536)

enum uiw_leader {
    UIW_LEADER_NONE,
    UIW_LEADER_CONSUMER,
    UIW_LEADER_LOOP
};

struct uiw_follower {
    struct base_link link;
    struct evd_waiter *waiter;
};

/* A stream that had data recently. */
struct uiw_active {
    struct ual_ep *ual;
    uint32_t idle; /* empty polls since its last data */
    bool detached; /* not in the poll set: see uiw_detach.c */
};

/* Connections whose peers may stay silent: uiw_silence.c. */
struct uiw_silence {
    struct base_list entries; /* guarded by progress.lock; sorted by .due_ns */
    struct ual_ep *busy;      /* guarded by progress.lock: the loop uses this EP, off the list */
    struct evd_timer timer;   /* loop thread */
};

struct uiw_progress {
    _Atomic int leader;       /* enum uiw_leader */
    _Atomic uint32_t stints;  /* times a consumer has led; tells the loop that one is active */
    _Atomic bool asleep;      /* the leader is, or is about to be, in epoll_wait */
    _Atomic bool abroad;      /* the leader sleeps in a poll of the program: uiw_lead_abroad.c */
    _Atomic bool rivals;      /* a consumer wanted to lead abroad while another one led */
    _Atomic uint32_t rounds;  /* +1 whenever the leader holds no EP: see uiw_leader_quiesce */
    _Atomic uint32_t purge;   /* +1: the leader must forget its active EPs, since one goes away */
    _Atomic bool look;        /* set by the loop each millisecond: the next round asks epoll */
    _Atomic bool loop_parked; /* the loop neither watches nor ticks until a leader leaves */
    _Atomic uint32_t blocked; /* streams whose socket is full */
    _Atomic uint32_t follower_count; /* written with lock held */
    _Atomic bool gate_open;          /* arrivals wake the loop; the loop thread writes */
    /*
     * When the loop, or a post that stayed, began to read the last arrival, in rough ticks. See
     * uiw_stay.h.
     */
    _Atomic uint64_t taken;
    /* is uiw_stay_here; immutable */
    void (*stay)(struct ual_ep *ual, uint64_t heard, enum uiw_stay_order order);
    _Atomic uint64_t thread_wakeups;
    _Atomic uint64_t leader_changes; /* between the loop and consumers, and among those */
    int epoll_fd;                    /* all established streams; immutable */
    int gate_fd; /* a poll set with only .epoll_fd in it, which the loop watches; immutable */
    int kick_fd; /* eventfd in .epoll_fd, wakes a leader that sleeps; immutable */

    /* Leader only. */
    uint8_t *staging; /* UIW_STAGING_SIZE octets; empty between two reads */
    struct uiw_active active[UIW_ACTIVE_MAX];
    unsigned active_count;
    unsigned detached_count;
    unsigned found;         /* polls with data since a thread last relied on the poll set */
    unsigned crowded;       /* rounds left in which epoll is always asked: .active was full */
    uint32_t polls;         /* rounds since epoll was asked */
    uint32_t purged;        /* .purge as last seen */
    uint64_t spin_ns;       /* how long a waiter polls before it sleeps */
    uint64_t spin_limit_ns; /* upper limit of .spin_ns: itx_ia_set_spin */
    unsigned spin_pause;    /* short sleeps until polling is tried again */

    struct base_lock lock; /* guards what follows */
    struct base_list followers;
    struct uiw_silence silence;

    /* Loop thread only. */
    struct evd_io watch;        /* of gate_fd, always */
    struct evd_timer hand_over; /* 1 ms, while a consumer leads */
    uint32_t stints_seen;
    unsigned asleep_ticks;
    unsigned idle_ticks;
    uint32_t stints_swept;
    struct evd_task unpark;  /* submitted by a leader that leaves while .loop_parked */
    struct evd_task relieve; /* submitted when no consumer will lead next */

    /* Agendas of EPs with deferred work: uiw_later.h. */
    struct uiw_agenda deferred, held, drawn, holding;
};

#endif
