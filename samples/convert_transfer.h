/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What "convert" does over RDMA, from the conversion of the socket to the end of the connection:
 *
 *     client: Send "ready"                 the side that converted as MPA Initiator speaks first
 *     server: Send "buffer"                key and address of its memory
 *     client: RDMA Write ..., Send "written" with the digest of the file
 *     server: Send "in place"
 *     client: RDMA Read ...                the server computes, and calls nothing
 *     server: Send "digest"                of what lies in its memory
 *     client: Send "done", disconnect
 *
 * Functions that return a bool return false after a message on stderr.
 */
#ifndef ITAPI_SAMPLES_CONVERT_TRANSFER_H
#define ITAPI_SAMPLES_CONVERT_TRANSFER_H

#include "common/rdma.h"

/* Server: converts the socket with the last line of the dialogue, and receives size bytes. */
bool transfer_serve(int sd, struct rdma *rdma, unsigned char *memory, size_t size);

/* Client: converts the socket and sends the file, which is in memory; copy has the same size. */
bool transfer_send(int sd, struct rdma *rdma, unsigned char *file, unsigned char *copy,
                   size_t size);

#endif
