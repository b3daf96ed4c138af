/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The private data of a connection by hand: 44 octets in network order, with one format for
 * request, answer and rejection.
 */
#ifndef ITAPI_ULP_OFA_LINK_OFA_GREETING_H
#define ITAPI_ULP_OFA_LINK_OFA_GREETING_H

#include "object/ofa_object.h"

#define OFA_GREETING_BYTES 44
#define OFA_PSN_UNKNOWN    UINT32_MAX

void ofa_greeting_encode(const struct ofa_greeting *greeting,
                         unsigned char bytes[OFA_GREETING_BYTES]);

/* Returns false for other octets. `bytes` has at least OFA_GREETING_BYTES. */
bool ofa_greeting_decode(const unsigned char *bytes, struct ofa_greeting *greeting);

#endif /* ITAPI_ULP_OFA_LINK_OFA_GREETING_H */
