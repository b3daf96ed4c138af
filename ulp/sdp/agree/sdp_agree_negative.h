/* SPDX-License-Identifier: BSD-2-Clause */
/* Peers that are known to be strangers, each for a limited time. Called with the lock. */
#ifndef ITAPI_ULP_SDP_AGREE_SDP_AGREE_NEGATIVE_H
#define ITAPI_ULP_SDP_AGREE_SDP_AGREE_NEGATIVE_H

#include <stdbool.h>
#include <stdint.h>

/* port 0: the whole host. */
void sdp_negative_add(const uint8_t address[16], uint16_t port, int64_t until_us);
bool sdp_negative_has(const uint8_t address[16], uint16_t port, int64_t now_us);
void sdp_negative_clear(void);

#endif /* ITAPI_ULP_SDP_AGREE_SDP_AGREE_NEGATIVE_H */
