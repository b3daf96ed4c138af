/* SPDX-License-Identifier: BSD-2-Clause */
/* status_tables.h - the tables, one for each group of calls. */
#ifndef ITAPI_TESTS_STATUS_STATUS_TABLES_H
#define ITAPI_TESTS_STATUS_STATUS_TABLES_H

#include "status/status_kit.h"

extern const struct status_table status_ia;
extern const struct status_table status_evd;
extern const struct status_table status_ep;
extern const struct status_table status_connect;
extern const struct status_table status_memory;
extern const struct status_table status_window;
extern const struct status_table status_srq;
extern const struct status_table status_post;
extern const struct status_table status_datagram;
extern const struct status_table status_utility;
extern const struct status_table status_extension;

#endif
