/* SPDX-License-Identifier: BSD-2-Clause */
/* The forms of it_info's output: indented text, a line of addresses, and JSON. */
#include "it_info_values.h"
#include "tool_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- text */

#define TEXT_COLUMN 28 /* column of the values, counted after the indentation */

static unsigned indent = 1;
static const char *list_name;  /* name of the open list, until its first value */
static const char *group_name; /* name of the open group, until its first member */

static void text_group_begin(void)
{
    if (group_name)
        printf("%*s%s\n", (int)(4 * (indent - 1)), "", group_name);
    group_name = NULL;
}

static void text_line(const char *name, const char *value)
{
    text_group_begin();
    if (name) {
        printf("%*s%-*s%s\n", (int)(4 * indent), "", TEXT_COLUMN, name, value);
        return;
    }
    printf("%*s%-*s%s\n", (int)(4 * indent), "", TEXT_COLUMN, list_name ? list_name : "", value);
    list_name = "";
}

static void text_group(const char *name)
{
    text_group_begin();
    group_name = name ? name : "spigot";
    indent++;
}

static void text_group_end(void)
{
    group_name = NULL;
    indent--;
}

/* The groups of a list have names of their own, so only values print the list's name. */
static void text_list(const char *name)
{
    list_name = name;
}

static void text_list_end(void)
{
    list_name = NULL;
}

static void text_number(const char *name, uint64_t value)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "%" PRIu64, value); /* fits */
    text_line(name, text);
}

static void text_truth(const char *name, bool value)
{
    text_line(name, value ? "yes" : "no");
}

const struct info_form info_as_text = {
    .group = text_group,
    .group_end = text_group_end,
    .list = text_list,
    .list_end = text_list_end,
    .text = text_line,
    .number = text_number,
    .truth = text_truth,
};

/* ---------------------------------------------------------------- addresses, in a line */

static void line_group(const char *name)
{
    (void)name;
}

static void line_end(void)
{
}

static void line_text(const char *name, const char *value)
{
    if (!name && list_name && strcmp(list_name, "addresses") == 0)
        printf(" %s", value);
}

static void line_number(const char *name, uint64_t value)
{
    (void)name;
    (void)value;
}

static void line_truth(const char *name, bool value)
{
    (void)name;
    (void)value;
}

const struct info_form info_as_line = {
    .group = line_group,
    .group_end = line_end,
    .list = text_list,
    .list_end = text_list_end,
    .text = line_text,
    .number = line_number,
    .truth = line_truth,
};

/* ---------------------------------------------------------------- JSON */

static void json_group(const char *name)
{
    json_open(name, "{");
}

static void json_group_end(void)
{
    json_close("}");
}

static void json_list(const char *name)
{
    json_open(name, "[");
}

static void json_list_end(void)
{
    json_close("]");
}

const struct info_form info_as_json = {
    .group = json_group,
    .group_end = json_group_end,
    .list = json_list,
    .list_end = json_list_end,
    .text = json_text,
    .number = json_number,
    .truth = json_bool,
};
