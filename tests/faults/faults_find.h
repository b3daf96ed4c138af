/* SPDX-License-Identifier: BSD-2-Clause */
/* faults_find.h - what a scenario finds, and the resources that it must give back. */
#ifndef ITAPI_TESTS_FAULTS_FIND_H
#define ITAPI_TESTS_FAULTS_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAULT_SAID 2048

/* The failures found, one line each. */
struct fault_findings {
    unsigned count;
    unsigned length;
    char said[FAULT_SAID];
};

/* Later messages go to findings. */
void find_begin(struct fault_findings *findings);
/* Adds a line, with the present step of the scenario. */
void find_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A result that a call may have. */
struct find_result {
    const char *call; /* NULL: of every call */
    int results[24];  /* ended by 0 */
};

/*
 * Checks the failure of a call: `results` lists what the documentation of each call allows, ended
 * by an entry without results. strict: nothing may fail. text: the result, for people.
 */
void find_failure(const char *call, int result, const char *text, const struct find_result *results,
                  bool strict);

/* Descriptors and threads of the process. */
struct find_resources {
    size_t descriptors;
    size_t threads;
};

struct find_resources find_resources(void);
/* Waits for what ends on its own. Reports what is left. */
void find_left(const struct find_resources *before);

/* Fills memory with octets that depend on the seed; compares them. */
void find_fill(void *memory, size_t length, unsigned seed);
bool find_is_filled(const void *memory, size_t length, unsigned seed);

uint64_t find_now_us(void);
/* Returns the time limit of a step. */
uint64_t find_limit_us(void);

#endif /* ITAPI_TESTS_FAULTS_FIND_H */
