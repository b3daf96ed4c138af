/* SPDX-License-Identifier: BSD-2-Clause */
#include "table/udapl_params.h"

#include <string.h>

#define SPACES " \t"

static bool is_word(const char *word, size_t length, const char *expected)
{
    return strlen(expected) == length && memcmp(word, expected, length) == 0;
}

static bool read_pair(const char *pair, size_t length, struct udapl_provider *provider)
{
    static const struct {
        const char *text;
        DAT_EXTENSION extension;
    } pairs[] = {
        {"ext=none", DAT_EXTENSION_NONE},
        {"ext=ib", DAT_EXTENSION_IB},
        {"ext=iw", DAT_EXTENSION_IW},
    };

    if (is_word(pair, length, "sigpipe=ignore")) {
        provider->ignores_sigpipe = true;
        return true;
    }
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
        if (is_word(pair, length, pairs[i].text)) {
            provider->extension = pairs[i].extension;
            return true;
        }
    return false;
}

bool udapl_params_read(const char *ia_params, struct udapl_provider *provider, const char **problem)
{
    const char *word = ia_params ? ia_params + strspn(ia_params, SPACES) : "";
    size_t length = strcspn(word, SPACES);

    if (length == 0 || length >= sizeof(provider->interface) || memchr(word, '=', length)) {
        *problem = "ia_params has to begin with the name of an Interface (it_info lists them)";
        return false;
    }
    memcpy(provider->interface, word, length);
    provider->interface[length] = '\0';
    provider->extension = DAT_EXTENSION_NONE;
    for (word += length; *(word += strspn(word, SPACES)); word += length) {
        length = strcspn(word, SPACES);
        if (!read_pair(word, length, provider)) {
            *problem = "ia_params knows no pairs but ext=none, ext=ib, ext=iw and sigpipe=ignore";
            return false;
        }
    }
    return true;
}
