/* SPDX-License-Identifier: BSD-2-Clause */
/* What ethtool -K INTERFACE tso gso gro on|off does, for machines without it. */
#ifndef ITAPI_BENCH_SCENARIO_OFFLOAD_H
#define ITAPI_BENCH_SCENARIO_OFFLOAD_H

/* The exit status. */
int offload_set(const char *interface, const char *word);

#endif
