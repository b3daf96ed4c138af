/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stranger on the RDMA device: a plain user of rdma_cm that connects to a port or waits at one.
 * Each call blocks until its outcome is known.
 */
#ifndef ITAPI_TESTS_CONVERT_STRANGER_H
#define ITAPI_TESTS_CONVERT_STRANGER_H

#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>

struct stranger {
    struct rdma_event_channel *channel;
    struct rdma_cm_id *listener;
    struct rdma_cm_id *id;
    /* From the last request or answer. */
    uint8_t private_data[256];
    size_t private_length;
};

/* Returns true if the connection exists. port is in network byte order. */
bool stranger_connect(struct stranger *stranger, const struct sockaddr_in *address, uint16_t port,
                      const void *private_data, size_t length);
/* Returns the port in network byte order. */
uint16_t stranger_listen(struct stranger *stranger, const struct sockaddr_in *address);
void stranger_takes_request(struct stranger *stranger);
void stranger_accepts(struct stranger *stranger, const void *private_data, size_t length);
void stranger_rejects(struct stranger *stranger);
/* Waits until the connection has ended. */
void stranger_sees_end(struct stranger *stranger);
/* Destroys all its objects, as when its process dies. */
void stranger_close(struct stranger *stranger);

#endif
