/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a conversion on a device needs, without library and device: a loop with one thread, a clock
 * that the test moves, endpoints that remember what was reported, and a device that connects
 * conversions of this process.
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

/* The device's faults from now on. */
struct fake_device {
    bool no_port; /* nobody can listen */
    bool unreachable;
    bool silent;    /* connections are requested, but nothing answers */
    bool wrong_key; /* a stranger accepts instead of the peer */
    bool no_accept;
    uint16_t port;    /* port of the newest listener */
    unsigned dropped; /* number of ends of connections, made or not, that were dropped */
    unsigned live;    /* number of ends of connections that exist and belong to a conversion */
};

extern struct fake_device fake_device;

void fake_side_open(struct fake_side *side);
void fake_side_close(struct fake_side *side);
it_ep_state_rc_t fake_state(const struct fake_side *side);

/* Converts like it_socket_convert: takes a duplicate of sd. */
it_status_t fake_convert(struct fake_side *side, int sd, const struct vp_convert *what);

/*
 * fake_run_until_news works until so many events were reported, or until nothing is left to do.
 * fake_run works until nothing is left to do.
 */
void fake_run_until_news(struct fake_side *side, unsigned count);
void fake_run(void);
/* Moves the clock and runs the timers that expire. */
void fake_advance(uint64_t ns);

/*
 * Sends a request with these octets as private data to the newest listener. Returns true if it was
 * refused.
 */
bool fake_request_is_refused(const uint8_t *private_data, size_t length);
/* Ends the connection of a side as if the device said so. */
void fake_disconnect(struct fake_side *side);

#endif
