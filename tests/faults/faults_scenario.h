/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * faults_scenario.h - a program that uses all parts of an API and checks the results, while one of
 * the library's system calls fails. Each executable has one scenario.
 */
#ifndef ITAPI_TESTS_FAULTS_SCENARIO_H
#define ITAPI_TESTS_FAULTS_SCENARIO_H

#include "faults/faults_calls.h"
#include "faults/faults_find.h"

#include <stdbool.h>
#include <stddef.h>

enum fault_mode {
    FAULT_ALONE,  /* any system call may fail, from the library's first on */
    FAULT_BESIDE, /* a connection of the same IAs exists before; it must not be disturbed */
    FAULT_MODES
};

/* If plan->error is 0 no call fails, and each step has to succeed. */
void scenario_run(enum fault_mode mode, const struct fault_plan *plan, bool strict,
                  struct fault_findings *findings);
/* The calls that this scenario cannot reach, ended by FAULT_CALLS. */
extern const enum fault_call scenario_unreached[];
/* The library keeps memory for later use: only what grows with each run is a leak. */
extern const bool scenario_pools;
/* A send or receive that has to be made again, or moves fewer octets, changes no result. */
extern const bool scenario_repeats;
/* Returns the present step of the scenario, for the report on a run that hangs. */
const char *scenario_stage(void);

#endif /* ITAPI_TESTS_FAULTS_SCENARIO_H */
