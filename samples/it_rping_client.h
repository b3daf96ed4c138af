/* SPDX-License-Identifier: BSD-2-Clause */
/* The client: it has the buffers and starts the pings. */
#ifndef ITAPI_SAMPLES_IT_RPING_CLIENT_H
#define ITAPI_SAMPLES_IT_RPING_CLIENT_H

#include "it_rping_adapter.h"
#include "it_rping_options.h"

/* Connects, sends the pings and prints a summary. Returns false after a message. */
bool client_run(const struct adapter *adapter, const struct options *options);

#endif
