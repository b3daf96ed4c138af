/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that libraries in LD_LIBRARY_PATH do not reach. */
#ifndef ITAPI_ULP_OFA_RUN_OFA_PROGRAM_H
#define ITAPI_ULP_OFA_RUN_OFA_PROGRAM_H

/* Returns why the program, which is found as by execvp, is one of those; NULL: it is not. */
const char *ofa_program_is_out_of_reach(const char *name);

#endif /* ITAPI_ULP_OFA_RUN_OFA_PROGRAM_H */
