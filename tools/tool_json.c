/* SPDX-License-Identifier: BSD-2-Clause */
#include "tool_json.h"

#include <inttypes.h>
#include <stdio.h>

static unsigned depth;
static bool has_before; /* a value precedes in the same brackets */

static void json_string(const char *text)
{
    putchar('"');
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at == '"' || *at == '\\')
            printf("\\%c", *at);
        else if (*at < ' ' || *at >= 127)
            printf("\\u%04x", *at);
        else
            putchar(*at);
    }
    putchar('"');
}

static void json_begin(const char *key)
{
    if (has_before)
        putchar(',');
    if (depth > 0)
        printf("\n%*s", (int)(2 * depth), "");
    if (key) {
        json_string(key);
        fputs(": ", stdout);
    }
    has_before = true;
}

void json_open(const char *key, const char *open)
{
    json_begin(key);
    fputs(open, stdout);
    depth++;
    has_before = false;
}

void json_close(const char *close)
{
    depth--;
    if (has_before)
        printf("\n%*s", (int)(2 * depth), "");
    fputs(close, stdout);
    if (depth == 0)
        putchar('\n');
    has_before = depth > 0;
}

void json_text(const char *key, const char *text)
{
    json_begin(key);
    json_string(text);
}

void json_number(const char *key, uint64_t number)
{
    json_begin(key);
    printf("%" PRIu64, number);
}

void json_real(const char *key, double number)
{
    json_begin(key);
    printf("%.1f", number);
}

void json_bool(const char *key, bool value)
{
    json_begin(key);
    fputs(value ? "true" : "false", stdout);
}
