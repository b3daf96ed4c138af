/* SPDX-License-Identifier: BSD-2-Clause */
/* The log of the two libraries, on stderr as ITAPI_LOG says: "info" names what cannot be done. */
#ifndef ITAPI_ULP_OFA_SUPPORT_OFA_LOG_H
#define ITAPI_ULP_OFA_SUPPORT_OFA_LOG_H

/* One line, if ITAPI_LOG is info or debug. */
void ofa_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The program asked for something that is not there: sets errno and returns it. */
int ofa_absent(const char *name, int error);

#endif /* ITAPI_ULP_OFA_SUPPORT_OFA_LOG_H */
