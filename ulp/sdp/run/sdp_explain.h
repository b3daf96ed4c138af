/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ITAPI_ULP_SDP_RUN_SDP_EXPLAIN_H
#define ITAPI_ULP_SDP_RUN_SDP_EXPLAIN_H

#include "policy/sdp_policy.h"

/* ROLE PROGRAM ADDRESS:PORT: prints which rule applies. Returns the exit status. */
int sdp_explain(const struct sdp_policy *policy, int argc, char **argv);

#endif /* ITAPI_ULP_SDP_RUN_SDP_EXPLAIN_H */
