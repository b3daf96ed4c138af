/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a program can be run with another library: by LD_PRELOAD or LD_LIBRARY_PATH. */
#ifndef ITAPI_ULP_LAUNCH_LAUNCH_PROGRAM_H
#define ITAPI_ULP_LAUNCH_LAUNCH_PROGRAM_H

#include <limits.h>

enum launch_kind {
    LAUNCH_FITS,
    LAUNCH_STATIC,     /* the library is not loaded */
    LAUNCH_PRIVILEGED, /* the system ignores both variables */
    LAUNCH_FOREIGN     /* built for another kind of processor */
};

/* Finds the program as execvp does. Returns 0 or errno. */
int launch_find(const char *name, char path[PATH_MAX]);

/* For a script, that of its interpreter. */
enum launch_kind launch_kind_of(const char *path);

#endif /* ITAPI_ULP_LAUNCH_LAUNCH_PROGRAM_H */
