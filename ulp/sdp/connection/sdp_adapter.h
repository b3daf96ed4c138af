/* SPDX-License-Identifier: BSD-2-Clause */
/* The IA of the process. */
#ifndef ITAPI_ULP_SDP_CONNECTION_SDP_ADAPTER_H
#define ITAPI_ULP_SDP_CONNECTION_SDP_ADAPTER_H

#include <it_api.h>

#include <stdbool.h>

/* What is over and is freed by the IA's thread, outside of all callbacks of its own. */
struct sdp_over {
    void (*reap)(struct sdp_over *over);
    struct sdp_over *next;
};

struct sdp_adapter {
    it_ia_handle_t ia;
    it_pz_handle_t pz;
    it_evd_handle_t over_evd;
    bool device; /* of rdma-core: knows neither MPA, nor the stream, nor fork */
};

/* Opened by the first call. NULL: errno says why. */
struct sdp_adapter *sdp_adapter_get(void);
/* NULL: not opened yet. */
struct sdp_adapter *sdp_adapter_opened(void);

/* In a child of fork, of a device: the child opens one of its own when it needs it. */
void sdp_adapter_forget(void);

/* Has the IA's thread call over->reap. */
void sdp_adapter_bury(struct sdp_over *dead);

#endif /* ITAPI_ULP_SDP_CONNECTION_SDP_ADAPTER_H */
