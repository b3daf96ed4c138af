/* SPDX-License-Identifier: BSD-2-Clause */
/* Network addresses: from names, and as text. */
#ifndef ITAPI_SAMPLES_COMMON_ADDRESS_H
#define ITAPI_SAMPLES_COMMON_ADDRESS_H

#include "common/report.h"

/* The number of addresses of one host that are considered. */
#define ADDRESS_ROOM 8

#define ADDRESS_TEXT_SIZE 64

/*
 * Looks up the addresses of a host, by name or number, the preferred one first. Returns false after
 * a message.
 */
bool address_look_up(const char *host, it_net_addr_t list[ADDRESS_ROOM], size_t *count);

bool address_is_any(const it_net_addr_t *address);
bool address_is_same(const it_net_addr_t *one, const it_net_addr_t *other);

void address_text(const it_net_addr_t *address, char text[ADDRESS_TEXT_SIZE]);

#endif
