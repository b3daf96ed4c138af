/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server: it reads the client's source by RDMA Read and writes the same data into the client's
 * sink by RDMA Write.
 */
#ifndef ITAPI_SAMPLES_IT_RPING_SERVER_H
#define ITAPI_SAMPLES_IT_RPING_SERVER_H

#include "it_rping_adapter.h"
#include "it_rping_options.h"

/*
 * Serves one client, or with options->persistent any number until it is killed. Returns false after
 * a message.
 */
bool server_run(const struct adapter *adapter, const struct options *options);

#endif
