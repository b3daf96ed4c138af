/* SPDX-License-Identifier: BSD-2-Clause */
/* How the two sides agree, in lines over TCP, that the connection becomes RDMA: step 3. */
#ifndef ITAPI_SAMPLES_TUTORIAL_CONVERT_H
#define ITAPI_SAMPLES_TUTORIAL_CONVERT_H

#include "objects.h"

/*
 * Serves the plain echo, until a line says "rdma": then the connection is converted, and this is
 * true. False if the client has gone before.
 */
bool convert_as_server(int tcp, struct rdma *rdma);
void convert_as_client(int tcp, struct rdma *rdma);

/* Ends the connection, from either side. */
void end_as_client(struct rdma *rdma);
void end_as_server(struct rdma *rdma);

#endif
