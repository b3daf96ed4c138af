/* SPDX-License-Identifier: BSD-2-Clause */
/* Does the same as ethtool -K INTERFACE tso gso gro on|off, for machines without ethtool. */
#ifndef ITAPI_BENCH_SCENARIO_OFFLOAD_H
#define ITAPI_BENCH_SCENARIO_OFFLOAD_H

/* Returns the exit status. */
int offload_set(const char *interface, const char *word);

#endif
