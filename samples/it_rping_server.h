/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server: it fetches the client's source by RDMA Read and writes the same into the client's
 * sink by RDMA Write.
 */
#ifndef ITAPI_SAMPLES_IT_RPING_SERVER_H
#define ITAPI_SAMPLES_IT_RPING_SERVER_H

#include "it_rping_adapter.h"
#include "it_rping_options.h"

/* Serves one client, or with options->persistent any number until killed. False after a message. */
bool server_run(const struct adapter *adapter, const struct options *options);

#endif
