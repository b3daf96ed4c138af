/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/base_refuse.h"

#include "base/base_log.h"

#include "itx_api.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static bool refuse_is_for_value(it_status_t status)
{
    switch ((unsigned)status) {
    case IT_SUCCESS:
    case IT_ERR_RESOURCES:
    case IT_ERR_IA_CATASTROPHE:
    case IT_ERR_TIMEOUT_EXPIRED:
    case IT_ERR_INTERRUPT:
    case IT_ERR_ABORT:
        return false;
    default:
        return true;
    }
}

it_status_t base_refuse(it_status_t status, const char *call, const char *format, ...)
{
    char why[384];
    va_list arguments;

    if (!refuse_is_for_value(status))
        return status;
    base_log_setup(); /* this may be the program's first call */
    if (atomic_load_explicit(&base_log_level, memory_order_relaxed) < BASE_LOG_DEBUG)
        return status;
    va_start(arguments, format);
    (void)vsnprintf(why, sizeof(why), format, arguments); /* may be cut */
    va_end(arguments);
    base_log_write(BASE_LOG_DEBUG, "%s: %s: %s", call, itx_status_string(status), why);
    return status;
}
