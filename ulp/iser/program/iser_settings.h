/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The settings from the configuration file and the options of it_iser_target. docs/iser.md has the
 * keys.
 */
#ifndef ITAPI_ULP_ISER_PROGRAM_ISER_SETTINGS_H
#define ITAPI_ULP_ISER_PROGRAM_ISER_SETTINGS_H

#include "itiser.h"

#define ISER_PORTALS_MAX 32u
#define ISER_TARGETS_MAX 256u
#define ISER_ACL_MAX     256u /* names, and networks, of one target */

struct iser_lun_settings {
    bool present;
    struct itiser_unit_config unit;
    char serial[32];
};

struct iser_target_settings {
    struct iser_lun_settings luns[ITISER_LUNS_MAX];
    const char *initiators[ISER_ACL_MAX + 1];
    const char *networks[ISER_ACL_MAX + 1];
};

struct iser_settings {
    struct itiser_config config; /* complete once iser_settings_finish has returned true */
    struct itiser_portal_config portals[ISER_PORTALS_MAX];
    struct itiser_target_config targets[ISER_TARGETS_MAX];
    struct iser_target_settings *more[ISER_TARGETS_MAX]; /* one per target */
    const char *status_socket;
    bool has_secrets;
    int section; /* the section that lines belong to */
    struct iser_text_list *texts;
};

/* Returns NULL if memory runs out. */
struct iser_settings *iser_settings_new(void);
/* Also closes the units. */
void iser_settings_free(struct iser_settings *settings);

/*
 * Handles one line: [SECTION], KEY = VALUE, a comment or nothing. Returns false with the reason in
 * error.
 */
bool iser_settings_line(struct iser_settings *settings, const char *line, char error[256]);
/* Handles all lines of a file. A file with secrets must not be readable by others. */
bool iser_settings_read(struct iser_settings *settings, const char *path, char error[256]);
/* Called after the last line: fills in defaults. */
bool iser_settings_finish(struct iser_settings *settings, char error[256]);
/* Opens the units of all targets. */
bool iser_settings_open_units(struct iser_settings *settings, char error[256]);

/* ---- iser_values.c: these return false, without a message, for an invalid text --------------- */

/* ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT. */
bool iser_value_address(const char *text, struct sockaddr_storage *address);
void iser_value_print_address(const struct sockaddr_storage *address, char text[64]);
/* A number of octets, optionally with K, M, G or T. */
bool iser_value_size(const char *text, uint64_t *size);
bool iser_value_number(const char *text, unsigned max, unsigned *number);
bool iser_value_choice(const char *text, bool *yes);

#endif
