/* SPDX-License-Identifier: BSD-2-Clause */
/* Errors and opcodes in words, for the log. */
#ifndef ITAPI_TDI_IWARP_IW_TEXT_H
#define ITAPI_TDI_IWARP_IW_TEXT_H

#include "tdi/iwarp/iw.h"

const char *iw_error_text(enum iw_error error);
const char *iw_opcode_text(enum iw_opcode opcode);

#endif
