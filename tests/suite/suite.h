/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * suite.h - one suite of tests for every transport, using the public API only. Each case is two
 * functions that run at the same time in two processes, the near and the far side. The processes
 * have a pipe between them and an IA each, on any two Interfaces that can reach each other.
 *
 * A failed check ends its process (check.h) and then the case. Each case lists the features of an
 * Interface (it_ia_query) that it needs. It is skipped if one is missing.
 */
#ifndef ITAPI_TESTS_SUITE_SUITE_H
#define ITAPI_TESTS_SUITE_SUITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/it_fixture.h"

/* ---- Cases ---------------------------------------------------------------------------------- */

/* Features that an Interface may lack. suite_feature.c has their names. */
enum suite_feature {
    SUITE_THREE_WAY = 1u << 0,
    SUITE_TWO_WAY_ONLY = 1u << 1, /* lacks three-way connecting */
    SUITE_PRIVATE_DATA = 1u << 2,
    SUITE_DEPTHS = 1u << 3,
    SUITE_SRQ = 1u << 4,
    SUITE_RELATIVE = 1u << 5,
    SUITE_NARROW = 1u << 6,
    SUITE_WIDE = 1u << 7,
    SUITE_SEND_UNLINK = 1u << 8,
    SUITE_READ_EXTENSIONS = 1u << 9,
    SUITE_ATOMICS = 1u << 10,
    SUITE_SWAP = 1u << 11,
    SUITE_IMMEDIATE = 1u << 12,
    SUITE_ENABLES = 1u << 13,    /* the rights of an endpoint can be changed */
    SUITE_LMR_UNLINK = 1u << 14, /* InfiniBand invalidates none, and siw does not say which one */
    SUITE_READ_RIGHT = 1u << 15, /* Reads need a right; siw's kernel serves them without */
    SUITE_WINDOW_BOUNDS = 1u << 17, /* rxe's kernel checks the LMR's bounds, not the window's */
    SUITE_READ_NOTHING = 1u << 16,  /* siw's kernel reports the length of another message */
    SUITE_DATAGRAMS = 1u << 18,
};

struct suite_side;

struct suite_case {
    const char *name;
    void (*near)(struct suite_side *side);
    void (*far)(struct suite_side *side);
    uint32_t needs;      /* features that both Interfaces need */
    uint32_t near_needs; /* features that one of them needs */
    uint32_t far_needs;
    bool far_dies; /* the case kills the far process */
};

/* Each file of cases has a table, which ends with a record without a name. */
extern const struct suite_case suite_connect_cases[];
extern const struct suite_case suite_end_cases[];
extern const struct suite_case suite_transfer_cases[];
extern const struct suite_case suite_queue_cases[];
extern const struct suite_case suite_access_cases[];
extern const struct suite_case suite_window_cases[];
extern const struct suite_case suite_srq_cases[];
extern const struct suite_case suite_atomic_cases[];
extern const struct suite_case suite_immediate_cases[];
extern const struct suite_case suite_datagram_cases[];
extern const struct suite_case suite_event_cases[];
extern const struct suite_case suite_thread_cases[];

/* ---- One side ------------------------------------------------------------------------------- */

/* The place where a side runs. */
struct suite_place {
    const char *interface;
    const char *address;
    const char *net_namespace; /* NULL: this process's */
};

struct suite_side {
    bool near;
    int pipe;
    it_net_addr_t other_address;
    struct fx_node node;
    it_ia_info_t *info;
    struct itx_features features;
    uint32_t has;       /* enum suite_feature bits of this Interface */
    uint32_t other_has; /* the same for the other side */
};

#define SUITE_SKIPPED 77

/* Runs one process of a case: opens the IA, runs the case, closes the IA. */
void suite_side_run(const struct suite_case *that, bool near, int pipe,
                    const struct suite_place *own, const struct suite_place *other)
    __attribute__((noreturn));

uint32_t suite_features(const it_ia_info_t *info, const struct itx_features *features);
/* Returns the name of a feature, which says how an Interface announces it. */
const char *suite_feature_name(uint32_t feature);
/* Returns the feature with this short name, as --must takes it, or 0 if there is none. */
uint32_t suite_feature_named(const char *name, size_t length);

/* ---- The pipe ------------------------------------------------------------------------------- */

/* Messages keep their boundaries. A message of an unexpected length ends the test. */
void suite_tell(struct suite_side *side, const void *message, size_t length);
void suite_hear(struct suite_side *side, void *message, size_t length);
/* Returns when both sides have called it with this name, so each has done its earlier steps. */
void suite_meet(struct suite_side *side, const char *name);

/* Memory of the other side. */
struct suite_region {
    it_rdma_addr_t address; /* address of its first octet */
    it_rmr_context_t key;
    uint64_t size;
};

void suite_tell_region(struct suite_side *side, const struct fx_buf *buf);
struct suite_region suite_hear_region(struct suite_side *side);

/* ---- Connecting ----------------------------------------------------------------------------- */

/* Returns fx_ep_attr() with one segment of each kind and 4 Reads in either direction. */
it_ep_attributes_t suite_attr(void);
/* Makes an endpoint with suite_attr() and the EVDs of the node. */
it_ep_handle_t suite_ep(struct suite_side *side);

/* Listens on a port of the library's choice and tells it to the other side. */
it_listen_handle_t suite_listen(struct suite_side *side);
/* Connect to the port that the other side tells, or to a known one. */
void suite_connect(struct suite_side *side, it_ep_handle_t ep, const void *data, size_t length);
it_status_t suite_connect_to(struct suite_side *side, it_ep_handle_t ep, uint16_t port,
                             it_cn_est_flags_t flags, const void *data, size_t length);

/* Connects the near side's endpoint with the far side's, and returns when both are established. */
void suite_join_quietly(struct suite_side *side, it_ep_handle_t ep);
/*
 * Do the same with the near or the far side as the active one. The active side then sends one
 * message, which it must do if the transport does not let the passive side send first.
 */
void suite_join_from(struct suite_side *side, it_ep_handle_t ep, bool active);
void suite_join(struct suite_side *side, it_ep_handle_t ep);
/* Makes an endpoint with suite_ep() and joins it. */
it_ep_handle_t suite_joined(struct suite_side *side);

/* Sends one message each way, first from the near side. */
void suite_ping(struct suite_side *side, it_ep_handle_t ep);
/* The near side disconnects. Both sides check that they see a disconnect. */
void suite_part(struct suite_side *side, it_ep_handle_t ep);

/*
 * Checks that the end of the connection is reported once: as a disconnect or as broken, depending
 * on how much the transport shows to this side.
 */
void suite_ended(struct suite_side *side, it_ep_handle_t ep);

/*
 * Checks a failed completion: its status is this one or one of those with which a device says that
 * something failed but not what.
 */
void suite_failed(const it_event_t *event, it_dto_cookie_t cookie, it_dto_status_t want);

/* ---- Posting -------------------------------------------------------------------------------- */

void suite_write(it_ep_handle_t ep, const struct fx_buf *from, size_t offset, size_t length,
                 const struct suite_region *to, size_t to_offset, it_dto_cookie_t cookie,
                 it_dto_flags_t flags);
void suite_read(it_ep_handle_t ep, const struct fx_buf *to, size_t offset, size_t length,
                const struct suite_region *from, size_t from_offset, it_dto_cookie_t cookie,
                it_dto_flags_t flags);

#endif /* ITAPI_TESTS_SUITE_SUITE_H */
