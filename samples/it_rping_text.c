/* SPDX-License-Identifier: BSD-2-Clause */
#include "it_rping_text.h"

#include <stdio.h>

#define CHARACTERS ((size_t)('z' - 'A' + 1))

struct text {
    char head[32];
    size_t head_length;
    size_t length;
    uint32_t number;
};

static struct text text_of(uint32_t number, size_t length)
{
    struct text text = {.number = number, .length = length};
    int printed = snprintf(text.head, sizeof(text.head), "rdma-ping-%u: ", (unsigned int)number);

    text.head_length = printed > 0 ? (size_t)printed : 0;
    return text;
}

static unsigned char text_byte(const struct text *text, size_t index)
{
    if (index + 1 == text->length)
        return '\0';
    if (index < text->head_length)
        return (unsigned char)text->head[index];
    return (unsigned char)('A' + (text->number + index - text->head_length) % CHARACTERS);
}

void rping_text_fill(unsigned char *memory, size_t length, uint32_t number)
{
    struct text text = text_of(number, length);

    for (size_t i = 0; i < length; i++)
        memory[i] = text_byte(&text, i);
}

size_t rping_text_compare(const unsigned char *memory, size_t length, uint32_t number)
{
    struct text text = text_of(number, length);
    size_t i = 0;

    while (i < length && memory[i] == text_byte(&text, i))
        i++;
    return i;
}

/*
 * The bytes come from a peer: prints them up to a NUL, and replaces whatever a terminal would
 * interpret.
 */
void rping_text_show(const char *title, const unsigned char *memory, size_t length)
{
    flockfile(stdout);
    (void)printf("%s: ", title);
    for (size_t i = 0; i < length && memory[i] != '\0'; i++)
        (void)putchar_unlocked(memory[i] >= ' ' && memory[i] <= '~' ? memory[i] : '.');
    (void)putchar_unlocked('\n');
    funlockfile(stdout);
}
