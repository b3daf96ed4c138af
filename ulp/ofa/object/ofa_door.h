/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The door: functions of libibverbs that librdmacm needs and verbs does not have. librdmacm finds
 * their table behind the struct ibv_device, where drivers keep their own data. Devices of another
 * libibverbs have no such table.
 */
#ifndef ITAPI_ULP_OFA_OBJECT_OFA_DOOR_H
#define ITAPI_ULP_OFA_OBJECT_OFA_DOOR_H

#include <infiniband/verbs.h>
#include <it_api.h>
#include <itx_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#define OFA_DOOR_MAGIC 0x69746170692d6f66u
#define OFA_PREFIX     "uiwarp" /* of device names */

/* Parameters of connect and accept. */
struct ofa_call {
    const struct sockaddr *local; /* local end, or NULL; port 0: any */
    const struct sockaddr *peer;
    const void *data; /* private data */
    size_t length;
    uint32_t ird;
    uint32_t ord;
    uint64_t timeout_us; /* 0: the library's default */
    /* Attributes for the queue pair, if the connection moves it. */
    uint8_t timeout;
    uint8_t retry_cnt;
    uint8_t rnr_retry;
};

/* Called for each connection request, on the IA's thread. */
typedef void (*ofa_request_handler)(void *owner, const it_event_t *event, size_t data_length);
/* Called for each connection event. event is NULL when the queue pair is destroyed. */
typedef void (*ofa_connection_handler)(void *owner, const it_event_t *event, size_t data_length);

struct ofa_listener;

/* The functions return 0 or an errno. */
struct ofa_door {
    uint64_t magic;
    size_t size;

    /* Listens on one address or all of a family. both: on all addresses of both families. */
    int (*listen)(struct ibv_context *context, const struct sockaddr *address, bool both,
                  ofa_request_handler handler, void *owner, struct ofa_listener **listener);
    /* Stops listening. No handler runs afterwards. */
    void (*unlisten)(struct ofa_listener *listener);

    /*
     * Sets the handler of the connection's events. moves: the connection moves the queue pair to
     * RTS, since its program leaves that to rdma_cm.
     */
    void (*watch)(struct ibv_qp *qp, ofa_connection_handler handler, void *owner, bool moves);
    int (*connect)(struct ibv_qp *qp, const struct ofa_call *call);
    int (*accept)(struct ibv_qp *qp, it_cn_est_identifier_t request, const struct ofa_call *call);
    int (*reject)(it_cn_est_identifier_t request, const void *data, size_t length);
    /* Moves the queue pair to ERR and ends its connection, if there is one. */
    int (*disconnect)(struct ibv_qp *qp);
    /*
     * Ends the connection of the queue pair with the number, if there is one, without changing its
     * state: the id of the connection is destroyed.
     */
    void (*leave)(struct ibv_context *context, uint32_t number);

    /* Gets the two addresses of an established connection. */
    int (*addresses)(struct ibv_qp *qp, struct sockaddr_storage *local,
                     struct sockaddr_storage *peer);
    /* The same for a request. */
    int (*request_addresses)(it_cn_est_identifier_t request, struct sockaddr_storage *local,
                             struct sockaddr_storage *peer);

    /* Finds the queue pair of this process with the number; NULL: none. */
    struct ibv_qp *(*find)(struct ibv_context *context, uint32_t number);
    /* Changes the state without the checks that programs are subject to. */
    int (*set_state)(struct ibv_qp *qp, enum ibv_qp_state state);
    /*
     * Sets the state that the program sees of the queue pair with the number, if there is one: for
     * calls, since it reads it without a lock.
     */
    void (*show_state)(struct ibv_context *context, uint32_t number);

    /* ibv_reg_mr for memory that does not change while it is sent: large messages need no copy. */
    struct ibv_mr *(*register_still)(struct ibv_pd *pd, void *addr, size_t length, int access);
};

/* Returns the device's table; NULL: a device of another library. */
static inline const struct ofa_door *ofa_door_of(const struct ibv_device *device)
{
    const struct ofa_door *door;

    if (strncmp(device->name, OFA_PREFIX, sizeof(OFA_PREFIX) - 1) != 0)
        return NULL;
    memcpy(&door, (const char *)device + sizeof(struct ibv_device) + sizeof(void *), sizeof(door));
    return door && door->magic == OFA_DOOR_MAGIC ? door : NULL;
}

#endif /* ITAPI_ULP_OFA_OBJECT_OFA_DOOR_H */
