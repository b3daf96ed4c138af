/* SPDX-License-Identifier: BSD-2-Clause */
/* Address handles. */
#ifndef ITAPI_ULP_OFA_DATAGRAM_OFA_AH_H
#define ITAPI_ULP_OFA_DATAGRAM_OFA_AH_H

#include "object/ofa_object.h"

struct ofa_ah {
    struct ibv_ah base;
    struct ibv_ah_attr attr;
    struct in6_addr from; /* IPv4 addresses are IPv4-mapped */
    struct in6_addr to;
};

#endif /* ITAPI_ULP_OFA_DATAGRAM_OFA_AH_H */
