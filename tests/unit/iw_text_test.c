/* SPDX-License-Identifier: BSD-2-Clause */
/* What a log says of errors and opcodes: it knows each of them, and names no other. */
#include "tdi/iwarp/iw_text.h"

#include <criterion/criterion.h>

#include <string.h>

#define ERRORS 31u /* of enum iw_error, without IW_OK */

Test(iw_text, each_error)
{
    unsigned known = 0;

    cr_assert_str_eq(iw_error_text(IW_OK), "no error");
    for (unsigned code = IW_CODE(0, 0, 0); code <= IW_CODE(15, 15, 255); code++)
        known += strcmp(iw_error_text((enum iw_error)code), "an unknown error") != 0;
    cr_assert_eq(known, ERRORS);
}

Test(iw_text, each_opcode)
{
    static const char unknown[] = "message of an unknown kind";

    for (unsigned opcode = IW_OP_WRITE; opcode <= IW_OP_ATOMIC_RESPONSE; opcode++)
        cr_assert_neq(strcmp(iw_opcode_text((enum iw_opcode)opcode), unknown), 0);
    cr_assert_str_eq(iw_opcode_text(IW_OP_NONE), unknown);
    cr_assert_str_eq(iw_opcode_text((enum iw_opcode)(IW_OP_ATOMIC_RESPONSE + 1)), unknown);
}
