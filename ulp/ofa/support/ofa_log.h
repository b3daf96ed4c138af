/* SPDX-License-Identifier: BSD-2-Clause */
/* The log of both libraries on stderr, by ITAPI_LOG; "info" reports what is not supported. */
#ifndef ITAPI_ULP_OFA_SUPPORT_OFA_LOG_H
#define ITAPI_ULP_OFA_SUPPORT_OFA_LOG_H

/* Writes one line if ITAPI_LOG is info or debug. */
void ofa_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Called for something that is not supported. Logs it, sets errno and returns it. */
int ofa_absent(const char *name, int error);

#endif /* ITAPI_ULP_OFA_SUPPORT_OFA_LOG_H */
