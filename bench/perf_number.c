/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_number.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* for a number in a list, with its unit */
#define NUMBER_LENGTH_MAX 32

bool perf_parse_number(const char *text, uint64_t limit, uint64_t *value)
{
    static const char units[] = "kmg";
    uint64_t number;
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    number = strtoull(text, &end, 10);
    if (errno != 0 || number > limit)
        return false;
    if (*end != '\0') {
        const char *unit = strchr(units, *end | 0x20);
        unsigned int shift = unit != NULL ? 10 * (unsigned int)(unit - units + 1) : 0;

        if (shift == 0 || end[1] != '\0' || number > limit >> shift)
            return false;
        number <<= shift;
    }
    *value = number;
    return true;
}

bool perf_parse_decimal(const char *text, double limit, double *value)
{
    double number;
    char *end;

    /* strtod also accepts other forms, which are refused here. */
    if (text[strspn(text, ".0123456789eE+-")] != '\0' || *text == '-')
        return false;
    errno = 0;
    number = strtod(text, &end);
    if (end == text || *end != '\0' || errno != 0 || !isfinite(number) || number > limit)
        return false;
    *value = number;
    return true;
}

/*
 * Takes the number in front of a separator or of the end. text receives what follows it, or NULL.
 */
static bool take_number(const char **text, char separator, uint64_t limit, uint64_t *value)
{
    const char *end = strchr(*text, separator);
    size_t length = end != NULL ? (size_t)(end - *text) : strlen(*text);
    char number[NUMBER_LENGTH_MAX];

    if (length >= sizeof(number))
        return false;
    memcpy(number, *text, length);
    number[length] = '\0';
    *text = end != NULL ? end + 1 : NULL;
    return perf_parse_number(number, limit, value);
}

static bool parse_list(const char *text, uint64_t limit, uint64_t *steps, size_t room,
                       size_t *count)
{
    size_t found = 0;

    while (text != NULL)
        if (found == room || !take_number(&text, ',', limit, &steps[found++]))
            return false;
    *count = found;
    return true;
}

/*
 * Makes steps from the first one on, each `factor` times the previous one. The last one is
 * included.
 */
static bool make_range(uint64_t from, uint64_t to, uint64_t factor, uint64_t *steps, size_t room,
                       size_t *count)
{
    size_t found = 0;

    if (from == 0 || from > to || factor < 2)
        return false;
    while (from < to && found < room) {
        steps[found++] = from;
        from = from > to / factor ? to : from * factor;
    }
    if (found == room)
        return false;
    steps[found++] = to;
    *count = found;
    return true;
}

bool perf_parse_steps(const char *text, uint64_t limit, uint64_t *steps, size_t room, size_t *count)
{
    uint64_t factor = 2;
    uint64_t from;
    uint64_t to;

    if (strchr(text, ':') == NULL)
        return parse_list(text, limit, steps, room, count);
    if (!take_number(&text, ':', limit, &from) || text == NULL ||
        !take_number(&text, ':', limit, &to))
        return false;
    if (text != NULL && (*text++ != 'x' || !perf_parse_number(text, limit, &factor)))
        return false;
    return make_range(from, to, factor, steps, room, count);
}
