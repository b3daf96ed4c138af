/* SPDX-License-Identifier: BSD-2-Clause */
#include "faults/faults_find.h"

#include "faults/faults_scenario.h"
#include "support/time_limit.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STEP_MS 10000

static struct fault_findings *findings;

void find_begin(struct fault_findings *to)
{
    findings = to;
}

void find_say(const char *format, ...)
{
    char *end = findings->said + findings->length;
    size_t room = sizeof(findings->said) - findings->length;
    va_list list;
    int length;

    findings->count++;
    va_start(list, format);
    length = vsnprintf(end, room, format, list);
    va_end(list);
    if (length > 0 && (size_t)length + 64 < room) {
        findings->length += (unsigned)length;
        findings->length +=
            (unsigned)snprintf(findings->said + findings->length, 64, " [%s]\n", scenario_stage());
    } else {
        *end = '\0';
    }
}

static bool is_in(const int *results, int result)
{
    for (unsigned i = 0; results[i] != 0; i++) {
        if (results[i] == result)
            return true;
    }
    return false;
}

void find_failure(const char *call, int result, const char *text, const struct find_result *results,
                  bool strict)
{
    if (strict) {
        find_say("%s: %s, and nothing was wrong", call, text);
        return;
    }
    for (; results->results[0] != 0; results++) {
        if ((!results->call || strcmp(results->call, call) == 0) && is_in(results->results, result))
            return;
    }
    find_say("%s: %s, which the fault does not explain", call, text);
}

static size_t entries(const char *path)
{
    DIR *folder = opendir(path);
    size_t count = 0;

    while (folder && readdir(folder) != NULL)
        count++;
    if (folder)
        (void)closedir(folder);
    return count;
}

struct find_resources find_resources(void)
{
    return (struct find_resources){entries("/proc/self/fd"), entries("/proc/self/task")};
}

static bool is_more(const struct find_resources *now, const struct find_resources *before)
{
    return now->descriptors > before->descriptors || now->threads > before->threads;
}

void find_left(const struct find_resources *before)
{
    uint64_t end_us = find_now_us() + find_limit_us();
    struct find_resources now = find_resources();

    while (is_more(&now, before) && find_now_us() < end_us) {
        (void)usleep(1000);
        now = find_resources();
    }
    if (is_more(&now, before))
        find_say("%zu descriptors and %zu threads instead of %zu and %zu", now.descriptors,
                 now.threads, before->descriptors, before->threads);
}

void find_fill(void *memory, size_t length, unsigned seed)
{
    unsigned char *octets = memory;

    for (size_t i = 0; i < length; i++)
        octets[i] = (unsigned char)(seed * 31 + i + i / 251);
}

bool find_is_filled(const void *memory, size_t length, unsigned seed)
{
    const unsigned char *octets = memory;

    for (size_t i = 0; i < length; i++) {
        if (octets[i] != (unsigned char)(seed * 31 + i + i / 251))
            return false;
    }
    return true;
}

uint64_t find_now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

uint64_t find_limit_us(void)
{
    return (uint64_t)time_limit_ms(STEP_MS) * 1000u;
}
