/* SPDX-License-Identifier: BSD-2-Clause */
/* The parameters of an IA, as a line of dat.conf has them. */
#include "table/udapl_params.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct udapl_provider provider;
    const char *problem = NULL;
    char *text = malloc(size + 1);
    bool good;

    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    memset(&provider, 0, sizeof(provider));
    good = udapl_params_read(text, &provider, &problem);
    if (good != !problem ||
        (good && !memchr(provider.interface, '\0', sizeof(provider.interface))) ||
        (good && (provider.interface[0] == '\0' || strpbrk(provider.interface, " \t="))))
        abort();
    free(text);
    return 0;
}
