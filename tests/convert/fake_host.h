/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a conversion on a device needs around it, without library and device: a loop of one thread,
 * a clock that the test moves, endpoints that remember what was reported, and a device that
 * connects conversions of this process.
 */
#ifndef ITAPI_TESTS_CONVERT_FAKE_HOST_H
#define ITAPI_TESTS_CONVERT_FAKE_HOST_H

#include "support/time_limit.h"
#include "vp/verbs/convert/verbs_convert_private.h"

#define FAKE_PATIENCE_MS time_limit_ms(20000)

struct fake_news {
    it_event_type_t number;
    it_conn_reject_code_t reject_code;
    uint8_t private_data[IT_MAX_PRIV_DATA];
    size_t private_length;
};

struct fake_side {
    struct verbs_cm cm;
    struct verbs_ia ia;
    struct ual_ep *ual;
    struct verbs_ep *ep;
    struct fake_news news[4];
    unsigned news_count;
    unsigned breaks; /* verbs_ep_break */
};

/* What the device does otherwise than it should, from now on. */
struct fake_device {
    bool no_port; /* nobody can listen */
    bool unreachable;
    bool silent;    /* connections are asked for, and nothing comes of it */
    bool wrong_key; /* a stranger accepts instead of the peer */
    bool no_accept;
    uint16_t port;    /* of the newest listener */
    unsigned dropped; /* ends of connections, made or not, that were given up */
    unsigned live;    /* ends of connections that have been made and belong to a conversion */
};

extern struct fake_device fake_device;

void fake_side_open(struct fake_side *side);
void fake_side_close(struct fake_side *side);
it_ep_state_rc_t fake_state(const struct fake_side *side);

/* As it_socket_convert does: takes a duplicate of sd. */
it_status_t fake_convert(struct fake_side *side, int sd, const struct vp_convert *what);

/* Works until there is as much news as that, or until nothing is left to do at the moment. */
void fake_run_until_news(struct fake_side *side, unsigned count);
void fake_run(void);
/* Timers whose time has come go off. */
void fake_advance(uint64_t ns);

/* A request with these octets as private data reaches the newest listener. True: it was refused. */
bool fake_request_is_refused(const uint8_t *private_data, size_t length);
/* Ends of the connection of a side: as if the device said so. */
void fake_disconnect(struct fake_side *side);

#endif
