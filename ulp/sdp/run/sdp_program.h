/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a program can be run with a preloaded library. */
#ifndef ITAPI_ULP_SDP_RUN_SDP_PROGRAM_H
#define ITAPI_ULP_SDP_RUN_SDP_PROGRAM_H

#include <limits.h>

enum sdp_program_kind {
    SDP_PROGRAM_FITS,
    SDP_PROGRAM_STATIC,     /* the library is not loaded */
    SDP_PROGRAM_PRIVILEGED, /* the system ignores LD_PRELOAD */
    SDP_PROGRAM_FOREIGN     /* built for another kind of processor */
};

/* Finds the program as execvp does. Returns 0 or errno. */
int sdp_program_find(const char *name, char path[PATH_MAX]);

/* For a script, that of its interpreter. */
enum sdp_program_kind sdp_program_kind(const char *path);

#endif /* ITAPI_ULP_SDP_RUN_SDP_PROGRAM_H */
