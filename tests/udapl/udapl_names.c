/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udapl_names NAME...: opens and closes each IA. Prints "NAME TYPE", with the return type as in the
 * DAT specification.
 */
#include <dat2/udat.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
        const char *type, *subtype;
        DAT_IA_HANDLE ia;
        DAT_RETURN result = dat_ia_open(argv[i], 8, &async, &ia);

        dat_strerror(result, &type, &subtype);
        printf("%s %s\n", argv[i], type);
        if (result == DAT_SUCCESS && dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG) != DAT_SUCCESS)
            return 1;
    }
    return 0;
}
