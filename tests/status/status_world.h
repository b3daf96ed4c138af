/* SPDX-License-Identifier: BSD-2-Clause */
/* status_world.h - one object of every kind and state on one IA, and objects foreign to them. */
#ifndef ITAPI_TESTS_STATUS_STATUS_WORLD_H
#define ITAPI_TESTS_STATUS_STATUS_WORLD_H

#include "support/it_fixture.h"

/* Kinds of objects that a parameter may require. */
enum status_object {
    OBJECT_IA,
    OBJECT_PZ,
    OBJECT_EVD,
    OBJECT_EP,
    OBJECT_LISTEN,
    OBJECT_LMR,
    OBJECT_RMR,
    OBJECT_SRQ,
    OBJECTS
};

/* The world's objects that rows name. */
enum status_slot {
    SLOT_NONE,
    SLOT_IA,
    SLOT_IA_SPARE,
    SLOT_PZ,
    SLOT_PZ_SPARE, /* nothing belongs to it */
    SLOT_EVD,      /* for software events, unused */
    SLOT_EVD_REQUEST,
    SLOT_EVD_RECV,
    SLOT_EVD_CONN,
    SLOT_EVD_LISTEN,
    SLOT_EVD_AFFILIATED,
    SLOT_EVD_MEMBER, /* of SLOT_AEVD */
    SLOT_EVD_FD,     /* has a descriptor */
    SLOT_AEVD,
    SLOT_EP,           /* UNCONNECTED */
    SLOT_EP_CONNECTED, /* its peer is on the foreign IA */
    SLOT_EP_ENDED,     /* NONOPERATIONAL */
    SLOT_EP_SRQ,       /* UNCONNECTED, with SLOT_SRQ */
    SLOT_LISTEN,
    SLOT_LMR,
    SLOT_LMR_ZONE, /* of SLOT_PZ_ZONE */
    SLOT_RMR,
    SLOT_RMR_ZONE,
    SLOT_RMR_LINKED, /* to SLOT_LMR_LINKED */
    SLOT_RMR_NARROW, /* linked through SLOT_EP_CONNECTED */
    SLOT_LMR_LINKED,
    SLOT_SRQ,
    SLOT_SRQ_ZONE,
    SLOT_SRQ_SPARE, /* no EP draws from it */
    SLOT_PZ_ZONE,   /* another PZ of the same IA */
    SLOTS
};

struct status_world {
    struct fx_node node;
    struct fx_node other;
    void *slot[SLOTS];
    void *live[OBJECTS];    /* one of each kind, for wrong types */
    void *stale[OBJECTS];   /* freed */
    void *foreign[OBJECTS]; /* objects of the other IA */
    struct fx_buf memory;   /* of SLOT_LMR */
    struct fx_buf linked;   /* of SLOT_LMR_LINKED */
    struct fx_buf foreign_memory;
    struct fx_buf zone_memory; /* of SLOT_LMR_ZONE */
    it_ep_handle_t peer;       /* of SLOT_EP_CONNECTED */
    uint16_t port;             /* of SLOT_LISTEN */
    int listener;              /* a plain socket on which nobody accepts */
    uint16_t listener_port;
};

#define STATUS_DEPTH   8u /* requests and receives of an EP, and receives of an S-RQ */
#define STATUS_SEGMENT 4u /* segments of each kind */
#define STATUS_MEMORY  256u

void status_world_open(struct status_world *world);
/* Checks that everything is as status_world_open left it: handles, states, no event. */
void status_world_check(const struct status_world *world);
void status_world_close(struct status_world *world);

it_ep_attributes_t status_attributes(void);

#endif
