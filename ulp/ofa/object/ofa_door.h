/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What librdmacm needs of libibverbs and no function of verbs gives. It finds the table behind the
 * struct ibv_device, where drivers keep what is theirs; devices of another libibverbs have none.
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
#define OFA_PREFIX     "uiwarp" /* of the names of devices */

/* How a connection is to be made or accepted. */
struct ofa_call {
    const struct sockaddr *local; /* NULL, or where from; port 0: any */
    const struct sockaddr *peer;
    const void *data; /* private */
    size_t length;
    uint32_t ird;
    uint32_t ord;
    uint64_t timeout_us; /* 0: the library's */
    /* Attributes that the queue pair gets, if the connection moves it. */
    uint8_t timeout;
    uint8_t retry_cnt;
    uint8_t rnr_retry;
};

/* Hears of requests, on the IA's thread. */
typedef void (*ofa_request_handler)(void *owner, const it_event_t *event, size_t data_length);
/* The event is NULL: the queue pair is gone. */
typedef void (*ofa_connection_handler)(void *owner, const it_event_t *event, size_t data_length);

struct ofa_listener;

/* Functions give 0 or an errno. */
struct ofa_door {
    uint64_t magic;
    size_t size;

    /* On one address, or all of a family. "both": on all of both families. */
    int (*listen)(struct ibv_context *context, const struct sockaddr *address, bool both,
                  ofa_request_handler handler, void *owner, struct ofa_listener **listener);
    /* No handler runs afterwards. */
    void (*unlisten)(struct ofa_listener *listener);

    /*
     * Sets who hears of the connection's events. "moves": the connection moves the queue pair to
     * RTS, since its program leaves that to rdma_cm.
     */
    void (*watch)(struct ibv_qp *qp, ofa_connection_handler handler, void *owner, bool moves);
    int (*connect)(struct ibv_qp *qp, const struct ofa_call *call);
    int (*accept)(struct ibv_qp *qp, it_cn_est_identifier_t request, const struct ofa_call *call);
    int (*reject)(it_cn_est_identifier_t request, const void *data, size_t length);
    /* The queue pair moves to ERR, and its connection, if there is one, ends. */
    int (*disconnect)(struct ibv_qp *qp);

    /* The two ends of an established connection. */
    int (*addresses)(struct ibv_qp *qp, struct sockaddr_storage *local,
                     struct sockaddr_storage *peer);

    /* NULL: no queue pair of this process has the number. */
    struct ibv_qp *(*find)(struct ibv_context *context, uint32_t number);
    /* Without the rules for programs. */
    int (*set_state)(struct ibv_qp *qp, enum ibv_qp_state state);
};

/* NULL: a device of another library. */
static inline const struct ofa_door *ofa_door_of(const struct ibv_device *device)
{
    const struct ofa_door *door;

    if (strncmp(device->name, OFA_PREFIX, sizeof(OFA_PREFIX) - 1) != 0)
        return NULL;
    memcpy(&door, (const char *)device + sizeof(struct ibv_device) + sizeof(void *), sizeof(door));
    return door && door->magic == OFA_DOOR_MAGIC ? door : NULL;
}

#endif /* ITAPI_ULP_OFA_OBJECT_OFA_DOOR_H */
