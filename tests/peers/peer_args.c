/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer_args.h"

#include "peer_answer.h"
#include "peer_clock.h"
#include "support/time_limit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char blanks[] = " \t\r";

void peer_args_refuse(struct peer_args *args, const char *format, ...)
{
    char text[160];
    va_list values;

    if (args->refused)
        return;
    va_start(values, format);
    (void)vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    peer_answer("error usage %s", text);
    args->refused = true;
}

bool peer_args_refused(const struct peer_args *args)
{
    return args->refused;
}

/* ---- Taking a line apart -------------------------------------------------------------------- */

/* Returns the entry of name in the list of allowed options. *kind is the text behind the name. */
static bool peer_args_allowed(const char *allowed, const char *name, size_t len, const char **kind)
{
    while (*allowed != '\0') {
        size_t entry = strcspn(allowed, " ");
        size_t entry_name = strcspn(allowed, " =");

        if (entry_name == len && strncmp(allowed, name, len) == 0) {
            *kind = allowed + len;
            return true;
        }
        allowed += entry;
        allowed += strspn(allowed, " ");
    }
    return false;
}

static bool peer_args_given(const struct peer_args *args, const char *name, size_t len)
{
    for (unsigned i = 0; i < args->options; i++) {
        if (strncmp(args->option[i].name, name, len) == 0 && args->option[i].name[len] == '\0')
            return true;
    }
    return false;
}

static void peer_args_add(struct peer_args *args, char *word, const char *allowed)
{
    char *equals = strchr(word, '=');
    size_t len = equals != NULL ? (size_t)(equals - word) : strlen(word);
    const char *kind = "";
    bool known = peer_args_allowed(allowed, word, len, &kind);

    if (args->positions == PEER_ARGS_MAX || args->options == PEER_ARGS_MAX) {
        peer_args_refuse(args, "too many words");
    } else if (equals == NULL && (!known || *kind == '=')) {
        args->position[args->positions++] = word;
    } else if (!known || (equals != NULL && *kind != '=')) {
        peer_args_refuse(args, "no option %.40s here", word);
    } else if (peer_args_given(args, word, len)) {
        peer_args_refuse(args, "%.*s is given twice", (int)len, word);
    } else {
        if (equals != NULL)
            *equals = '\0';
        args->option[args->options].name = word;
        args->option[args->options].value = equals != NULL ? equals + 1 : NULL;
        args->options++;
    }
}

static void peer_args_check_required(struct peer_args *args, const char *allowed)
{
    while (*allowed != '\0') {
        size_t entry = strcspn(allowed, " ");
        size_t name = strcspn(allowed, " =");

        if (entry > name + 1 && allowed[name + 1] == '!' && !peer_args_given(args, allowed, name))
            peer_args_refuse(args, "%.*s=... is missing", (int)name, allowed);
        allowed += entry;
        allowed += strspn(allowed, " ");
    }
}

void peer_args_parse(struct peer_args *args, char *text, const char *allowed)
{
    char *rest = text;
    char *word;

    memset(args, 0, sizeof(*args));
    while (!args->refused && (word = strtok_r(rest, blanks, &rest)) != NULL)
        peer_args_add(args, word, allowed);
    peer_args_check_required(args, allowed);
}

/* ---- Values --------------------------------------------------------------------------------- */

static int peer_args_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 16;
}

bool peer_args_to_number(const char *text, uint64_t min, uint64_t max, uint64_t *number)
{
    unsigned base = strncmp(text, "0x", 2) == 0 ? 16 : 10;
    uint64_t value = 0;

    if (base == 16)
        text += 2;
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        unsigned digit = (unsigned)peer_args_digit(*text);

        if (digit >= base || value > (UINT64_MAX - digit) / base)
            return false;
        value = value * base + digit;
    }
    if (value < min || value > max)
        return false;
    *number = value;
    return true;
}

static uint64_t peer_args_convert(struct peer_args *args, const char *what, const char *text,
                                  uint64_t min, uint64_t max)
{
    uint64_t number = min;

    if (!peer_args_to_number(text, min, max, &number))
        peer_args_refuse(args, "%s%.40s: not a number from %llu to %llu", what, text,
                         (unsigned long long)min, (unsigned long long)max);
    return number;
}

uint64_t peer_args_number(struct peer_args *args, unsigned i, uint64_t min, uint64_t max)
{
    return peer_args_convert(args, "", args->position[i], min, max);
}

const char *peer_args_text(const struct peer_args *args, const char *name)
{
    for (unsigned i = 0; i < args->options; i++) {
        if (strcmp(args->option[i].name, name) == 0)
            return args->option[i].value;
    }
    return NULL;
}

bool peer_args_flag(const struct peer_args *args, const char *name)
{
    return peer_args_given(args, name, strlen(name));
}

uint64_t peer_args_option(struct peer_args *args, const char *name, uint64_t fallback, uint64_t min,
                          uint64_t max)
{
    const char *text = peer_args_text(args, name);
    char what[40];

    if (text == NULL)
        return fallback;
    (void)snprintf(what, sizeof(what), "%s=", name);
    return peer_args_convert(args, what, text, min, max);
}

size_t peer_args_hex(struct peer_args *args, const char *name, uint8_t *octets, size_t room)
{
    const char *text = peer_args_text(args, name);
    size_t len;

    if (text == NULL || strcmp(text, "-") == 0)
        return 0;
    len = strlen(text);
    if (len == 0 || len % 2 != 0 || len / 2 > room) {
        peer_args_refuse(args, "%s=...: not an even number of digits for 1 to %zu octets", name,
                         room);
        return 0;
    }
    for (size_t i = 0; i < len; i += 2) {
        int high = peer_args_digit(text[i]);
        int low = peer_args_digit(text[i + 1]);

        if (high > 15 || low > 15) {
            peer_args_refuse(args, "%s=...: not hexadecimal", name);
            return 0;
        }
        octets[i / 2] = (uint8_t)(high << 4 | low);
    }
    return len / 2;
}

int64_t peer_args_deadline(struct peer_args *args)
{
    uint64_t timeout_ms =
        peer_args_option(args, "timeout", PEER_TIMEOUT_DEFAULT_MS, 0, PEER_TIMEOUT_MAX_MS);

    return peer_clock_deadline((uint64_t)time_limit_ms((int)timeout_ms));
}
