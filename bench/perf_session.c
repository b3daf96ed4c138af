/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_session.h"

void perf_session_close_links(struct perf_session *session)
{
    for (unsigned int i = 0; i < session->params.carrier_count; i++) {
        struct perf_link *link = &session->links[i];

        if (!link->open)
            continue;
        if (session->params.carriers[i].transport == PERF_ITAPI)
            perf_rdma_close(&link->rdma);
        else
            reference_close(&link->tcp);
        link->open = false;
    }
}
