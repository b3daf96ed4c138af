/* SPDX-License-Identifier: BSD-2-Clause */
/* Networks as "ADDRESS/BITS" or "ADDRESS", which allow addresses of initiators. */
#ifndef ITAPI_ULP_ISER_ISER_NETWORK_H
#define ITAPI_ULP_ISER_ISER_NETWORK_H

#include <stdbool.h>
#include <sys/socket.h>

bool iser_network_is_legal(const char *network);
/* An IPv4-mapped address counts as IPv4. A network that is not legal has no address. */
bool iser_network_has(const char *network, const struct sockaddr_storage *address);

#endif
