/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of rsockets. Each is a number. */
#ifndef ITAPI_ULP_OFA_RSOCKET_OFA_RS_OPTIONS_H
#define ITAPI_ULP_OFA_RSOCKET_OFA_RS_OPTIONS_H

enum rs_option {
    RS_REUSEADDR,
    RS_LINGER,
    RS_KEEPALIVE_ON,
    RS_OOBINLINE,
    RS_RCVBUF,
    RS_SNDBUF,
    RS_NODELAY,
    RS_MAXSEG,
    RS_KEEPIDLE, /* seconds */
    RS_KEEPINTVL,
    RS_KEEPCNT,
    RS_V6ONLY,
    RS_SQSIZE,
    RS_RQSIZE,
    RS_INLINE,
    RS_IOMAPSIZE,
    RS_POLLING_TIME, /* microseconds of polling before a thread sleeps; only by its file */
    RS_OPTIONS
};

/* Sets the values of the files in /etc/rdma/rsocket, or the defaults. */
void rs_default_options(int option[RS_OPTIONS]);

#endif /* ITAPI_ULP_OFA_RSOCKET_OFA_RS_OPTIONS_H */
