/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses the fields of the far side's answers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interop/peer.h"
#include "support/check.h"

/* Returns the value behind " field=". */
static const char *find(const struct peer_answer *answer, const char *field)
{
    size_t length = strlen(field);
    const char *place = answer->text;

    while ((place = strchr(place, ' ')) != NULL) {
        place++;
        if (strncmp(place, field, length) == 0 && place[length] == '=')
            return place + length + 1;
    }
    CHECK_FAIL("no %s in the answer \"%s\"", field, answer->text);
}

void peer_string(const struct peer_answer *answer, const char *field, char *value, size_t room)
{
    const char *found = find(answer, field);
    size_t length = strcspn(found, " ");

    CHECK(length < room);
    memcpy(value, found, length);
    value[length] = '\0';
}

uint64_t peer_number(const struct peer_answer *answer, const char *field)
{
    char text[32];
    char *end;
    long long negative;
    uint64_t number;

    peer_string(answer, field, text, sizeof(text));
    if (text[0] == '-') {
        negative = strtoll(text, &end, 10);
        number = (uint64_t)negative;
    } else {
        number = strtoull(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
    }
    if (end == text || *end != '\0')
        CHECK_FAIL("%s is not a number in \"%s\"", field, answer->text);
    return number;
}

static unsigned digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *place = c != '\0' ? strchr(digits, c | 0x20) : NULL;

    if (place == NULL)
        CHECK_FAIL("'%c' is not a hexadecimal digit", c);
    return (unsigned)(place - digits);
}

size_t peer_octets(const struct peer_answer *answer, const char *field, void *octets, size_t room)
{
    const char *text = find(answer, field);
    size_t length = strcspn(text, " ");
    unsigned char *out = octets;

    if (length == 1 && text[0] == '-')
        return 0;
    CHECK(length % 2 == 0 && length / 2 <= room);
    for (size_t i = 0; i < length / 2; i++)
        out[i] = (unsigned char)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
    return length / 2;
}

const char *peer_hex(const void *octets, size_t length, char *text)
{
    const unsigned char *in = octets;

    if (length == 0)
        return strcpy(text, "-");
    for (size_t i = 0; i < length; i++)
        (void)sprintf(text + 2 * i, "%02x", in[i]);
    return text;
}
