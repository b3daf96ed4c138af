/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON on stdout, one value at a time, with commas and indentation. */
#ifndef ITAPI_TOOLS_TOOL_JSON_H
#define ITAPI_TOOLS_TOOL_JSON_H

#include <stdbool.h>
#include <stdint.h>

/* key: NULL in an array, and for the outermost value. open and close: "{" "}" or "[" "]". */
void json_open(const char *key, const char *open);
void json_close(const char *close);
void json_text(const char *key, const char *text);
void json_number(const char *key, uint64_t number);
void json_real(const char *key, double number);
void json_bool(const char *key, bool value);

#endif
