/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Error messages of the sample programs: "PROGRAM: what happened", on stderr.
 */
#ifndef ITAPI_SAMPLES_COMMON_REPORT_H
#define ITAPI_SAMPLES_COMMON_REPORT_H

#include <it_api.h>

#include <stdbool.h>

/* Exit statuses of every sample. */
enum {
    EXIT_FINE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
};

/* The name in front of the messages; to be called first in main. */
void report_program(const char *name);

/* Prints a message. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a message if report_traces(true) was called before. */
void report_traces(bool wanted);
void trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a message, followed by the text of errno. */
void complain_errno(const char *what);

/*
 * Returns true if a call of the API returned IT_SUCCESS; otherwise prints the call and the reason.
 */
bool succeeded(it_status_t status, const char *call);

#endif
