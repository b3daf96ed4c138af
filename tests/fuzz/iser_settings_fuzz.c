/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of it_iser_target: the first octet chooses its configuration, whose settings the target
 * copies, or the reservations that it has saved. No unit of the file is opened.
 */
#include "portal/iser_portal.h"
#include "program/iser_settings.h"
#include "scsi/iser_lu.h"

#include "fuzz_file.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check_settings(const struct iser_settings *settings)
{
    const struct itiser_config *config = &settings->config;

    require(config->target_count > 0 && config->target_count <= ISER_TARGETS_MAX);
    require(config->portal_count > 0 && config->portal_count <= ISER_PORTALS_MAX);
    for (size_t i = 0; i < config->target_count; i++) {
        struct itiser_target_config copy;

        require(config->targets[i].name[0] != '\0');
        (void)iser_chap_complaint(&config->targets[i].incoming, &config->targets[i].outgoing);
        require(iser_config_copy(&copy, &config->targets[i]));
        require(strcmp(copy.name, config->targets[i].name) == 0);
        iser_config_free(&copy);
    }
    for (size_t i = 0; i < config->portal_count; i++) {
        char text[64];
        struct sockaddr_storage again;

        iser_value_print_address(&config->portals[i].address, text);
        require(iser_value_address(text, &again));
    }
}

static void try_settings(const char *path)
{
    struct iser_settings *settings = iser_settings_new();
    char error[256] = "";

    require(settings != NULL);
    if (iser_settings_read(settings, path, error) && iser_settings_finish(settings, error))
        check_settings(settings);
    else
        require(error[0] != '\0' && memchr(error, '\0', sizeof(error)));
    iser_settings_free(settings);
}

static struct itiser_unit *unit;

static void try_state(const char *path)
{
    struct itiser_target_config config = {.name = "iqn.fuzz", .state_file = path};
    struct iser_scsi_target *target;
    char error[256] = "";

    config.units[0] = unit;
    target = iser_scsi_target_new(&config, NULL, error);
    if (target)
        iser_scsi_target_free(target);
    else
        require(error[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct itiser_unit_config null = {
        .kind = ITISER_NULL_UNIT, .size = 1u << 20, .serial = "fuzz"};
    const char *path;

    if (!unit && !(unit = itiser_unit_open(&null, NULL)))
        return 0;
    if (size == 0)
        return 0;
    path = fuzz_file(data + 1, size - 1);
    if (data[0] & 1)
        try_state(path);
    else
        try_settings(path);
    return 0;
}
