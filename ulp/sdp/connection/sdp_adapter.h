/* SPDX-License-Identifier: BSD-2-Clause */
/* The IA of the process. */
#ifndef ITAPI_ULP_SDP_CONNECTION_SDP_ADAPTER_H
#define ITAPI_ULP_SDP_CONNECTION_SDP_ADAPTER_H

#include <it_api.h>

#include <stdbool.h>

/* Work of the IA's thread, outside of the callbacks of connections and without their locks. */
struct sdp_later {
    void (*run)(struct sdp_later *later); /* may free it */
    struct sdp_later *next;
};

struct sdp_adapter {
    it_ia_handle_t ia;
    it_pz_handle_t pz;
    it_evd_handle_t later_evd;
    bool device; /* a device of rdma-core, which has no MPA, no access to the stream, no fork */
};

/* Returns the adapter, which the first call opens; NULL with errno set on failure. */
struct sdp_adapter *sdp_adapter_get(void);
/* Returns NULL if it has not been opened. */
struct sdp_adapter *sdp_adapter_opened(void);

/* In a child after fork, for a device: the child opens an IA of its own when it needs one. */
void sdp_adapter_forget(void);

/* Lines for it_trace (itx_stats_source_t). */
size_t sdp_stats(void *unused, char *text, size_t room);

/* Makes the IA's thread call work->run, in the order of these calls. */
void sdp_adapter_later(struct sdp_later *work);

#endif /* ITAPI_ULP_SDP_CONNECTION_SDP_ADAPTER_H */
