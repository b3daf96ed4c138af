/* SPDX-License-Identifier: BSD-2-Clause */
#include "convert_dialogue.h"

#include "common/report.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints the peer's line without its control characters. */
static void show(const char *who, const char *line)
{
    (void)printf("  %s ", who);
    for (; *line != '\0'; line++)
        (void)putchar(iscntrl((unsigned char)*line) ? '?' : *line);
    (void)putchar('\n');
    (void)fflush(stdout);
}

static bool say(int sd, const char *line)
{
    char text[TCP_LINE_MAX + 1];
    int length = snprintf(text, sizeof(text), "%s\n", line);

    if (length < 0 || (size_t)length >= sizeof(text)) {
        complain("a line of the dialogue is too long");
        return false;
    }
    if (!tcp_send(sd, text, (size_t)length)) {
        complain_errno("cannot write to the peer");
        return false;
    }
    show("->", line);
    return true;
}

static bool hear(int sd, char *line)
{
    if (!tcp_read_line(sd, line))
        return false;
    show("<-", line);
    return true;
}

/* Reads a line that must begin with the given text. */
static bool expect(int sd, const char *beginning, char *line)
{
    if (!hear(sd, line))
        return false;
    if (strncmp(line, beginning, strlen(beginning)) == 0)
        return true;
    complain("the peer did not say \"%s\"", beginning);
    return false;
}

/* Parses "FILE size name". */
static bool parse_offer(const char *line, struct offer *offer)
{
    const char *digits = line + strlen("FILE ");
    char *end;

    if (!isdigit((unsigned char)*digits))
        return false;
    errno = 0;
    offer->size = strtoull(digits, &end, 10);
    if (errno != 0 || *end != ' ')
        return false;
    (void)snprintf(offer->name, sizeof(offer->name), "%s", end + 1);
    return true;
}

bool dialogue_receive_offer(int sd, struct offer *offer)
{
    char line[TCP_LINE_MAX];

    if (!say(sd, "220 convert") || !expect(sd, "HELLO", line) || !say(sd, "250 hello") ||
        !expect(sd, "FILE ", line))
        return false;
    if (parse_offer(line, offer))
        return true;
    complain("the peer's FILE makes no sense");
    (void)say(sd, "501 FILE size name");
    return false;
}

bool dialogue_accept_offer(int sd, const struct offer *offer)
{
    char line[TCP_LINE_MAX];

    (void)snprintf(line, sizeof(line), "250 there is room for %" PRIu64 " bytes", offer->size);
    return say(sd, line) && expect(sd, "UPGRADE", line);
}

void dialogue_refuse_offer(int sd, const char *reason)
{
    char line[TCP_LINE_MAX];

    (void)snprintf(line, sizeof(line), "452 %s", reason);
    (void)say(sd, line);
}

bool dialogue_make_offer(int sd, const struct offer *offer)
{
    char line[TCP_LINE_MAX];
    char file[TCP_LINE_MAX];

    if (snprintf(file, sizeof(file), "FILE %" PRIu64 " %s", offer->size, offer->name) >=
        (int)sizeof(file)) {
        complain("the name of the file is too long");
        return false;
    }
    return expect(sd, "220", line) && say(sd, "HELLO") && expect(sd, "250", line) &&
           say(sd, file) && expect(sd, "250", line) && say(sd, "UPGRADE") &&
           expect(sd, "101", line);
}
