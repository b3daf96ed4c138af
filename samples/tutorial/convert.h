/* SPDX-License-Identifier: BSD-2-Clause */
/* How the two sides agree, by lines over TCP, to change to RDMA: step 3. */
#ifndef ITAPI_SAMPLES_TUTORIAL_CONVERT_H
#define ITAPI_SAMPLES_TUTORIAL_CONVERT_H

#include "objects.h"

/*
 * Serves the plain echo until a line says "rdma": then converts the connection and returns true.
 * Returns false if the client disconnects before that.
 */
bool convert_as_server(int tcp, struct rdma *rdma);
void convert_as_client(int tcp, struct rdma *rdma);

/* End the connection, on either side. */
void end_as_client(struct rdma *rdma);
void end_as_server(struct rdma *rdma);

#endif
