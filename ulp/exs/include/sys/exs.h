/* SPDX-License-Identifier: BSD-2-Clause */
/* The name that ES-API gives to exs.h. */
#ifndef ITAPI_SYS_EXS_H
#define ITAPI_SYS_EXS_H

/* Not by a relative path: both stand in a directory that the compiler searches. */
#include <exs.h>

#endif
