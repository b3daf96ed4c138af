/* SPDX-License-Identifier: BSD-2-Clause */
#include "connect/udapl_connect.h"

#include "map/udapl_return.h"

DAT_RETURN udapl_handle_extendedop(DAT_HANDLE handle, DAT_EXTENDED_OP operation, va_list arguments)
{
    (void)handle;
    (void)operation;
    (void)arguments;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}
