/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * faults_scenario.h - a program that uses everything and judges what it sees, while one of the
 * library's calls fails underneath it.
 */
#ifndef ITAPI_TESTS_FAULTS_SCENARIO_H
#define ITAPI_TESTS_FAULTS_SCENARIO_H

#include "faults/faults_calls.h"

#include <stdbool.h>
#include <stddef.h>

enum fault_mode {
    FAULT_ALONE,  /* the call may be any from the first call of the library on */
    FAULT_BESIDE, /* a connection of the same IAs is there before, and must not notice */
    FAULT_MODES
};

#define FAULT_SAID 2048

/* What was found, one line each. */
struct fault_findings {
    unsigned count;
    unsigned length;
    char said[FAULT_SAID];
};

/* Nothing fails if plan->error is 0: then each step has to succeed. */
void scenario_run(enum fault_mode mode, const struct fault_plan *plan, bool strict,
                  struct fault_findings *findings);
/* What the scenario is doing, for a run that hangs. */
const char *scenario_stage(void);

#endif /* ITAPI_TESTS_FAULTS_SCENARIO_H */
