/* SPDX-License-Identifier: BSD-2-Clause */
/* Settings: sections and keys as a table. */
#include "program/iser_settings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    OPTIONS,
    PORTAL,
    TARGET,
    SECTIONS
};

#define LINE_MAX_OCTETS 4096
#define BUFFERS_LEAST   (UINT64_C(16) << 20) /* so that a command of the largest size fits */

/* Strings live as long as the settings. */
struct iser_text_list {
    struct iser_text_list *next;
    char text[];
};

static bool fail(char error[256], const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(char error[256], const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    /* va_start is above. NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    (void)vsnprintf(error, 256, format, arguments);
    va_end(arguments);
    return false;
}

static const char *keep(struct iser_settings *settings, const char *text)
{
    struct iser_text_list *kept = malloc(sizeof(*kept) + strlen(text) + 1);

    if (!kept)
        return NULL;
    memcpy(kept->text, text, strlen(text) + 1);
    kept->next = settings->texts;
    settings->texts = kept;
    return kept->text;
}

struct iser_settings *iser_settings_new(void)
{
    struct iser_settings *settings = calloc(1, sizeof(*settings));

    if (settings)
        settings->config.size = sizeof(settings->config);
    return settings;
}

void iser_settings_free(struct iser_settings *settings)
{
    struct iser_text_list *text;

    for (size_t i = 0; i < settings->config.target_count; i++) {
        for (size_t lun = 0; lun < ITISER_LUNS_MAX; lun++)
            if (settings->targets[i].units[lun])
                itiser_unit_close(settings->targets[i].units[lun]);
        free(settings->more[i]);
    }
    while ((text = settings->texts) != NULL) {
        settings->texts = text->next;
        free(text);
    }
    free(settings);
}

/* ---- Units ----------------------------------------------- */

/* Handles one word after the kind of a unit. */
static bool unit_word(struct iser_settings *settings, struct iser_lun_settings *lun,
                      const char *word)
{
    struct itiser_unit_config *unit = &lun->unit;
    unsigned block_size;
    bool yes;

    if (strcmp(word, "direct") == 0)
        return unit->direct = true;
    if (strcmp(word, "read-only") == 0)
        return unit->read_only = true;
    if (strncmp(word, "size=", 5) == 0)
        return iser_value_size(word + 5, &unit->size);
    if (strncmp(word, "serial=", 7) == 0)
        return (unit->serial = keep(settings, word + 7)) != NULL;
    if (strncmp(word, "thin=", 5) == 0 && iser_value_choice(word + 5, &yes)) {
        unit->thin = yes ? ITISER_YES : ITISER_NO;
        return true;
    }
    if (strncmp(word, "block-size=", 11) == 0 && iser_value_number(word + 11, 65536, &block_size)) {
        unit->block_size = block_size;
        return true;
    }
    return false;
}

static bool unit_kind(struct iser_settings *settings, struct iser_lun_settings *lun, char **rest)
{
    const char *kind = strsep(rest, " \t"), *path;

    if (strcmp(kind, "memory") == 0) {
        lun->unit.kind = ITISER_MEMORY_UNIT;
    } else if (strcmp(kind, "null") == 0) {
        lun->unit.kind = ITISER_NULL_UNIT;
    } else if (strcmp(kind, "file") == 0) {
        lun->unit.kind = ITISER_FILE_UNIT;
        path = strsep(rest, " \t");
        lun->unit.path = path ? keep(settings, path) : NULL;
    } else {
        return false;
    }
    return lun->unit.kind != ITISER_FILE_UNIT || lun->unit.path;
}

/*
 * Derives the serial number from the file or the target's name, so that it is the same after each
 * start (FNV-1a).
 */
static void default_serial(const struct itiser_target_config *target, struct iser_lun_settings *lun,
                           unsigned number)
{
    const char *text = lun->unit.path ? lun->unit.path : target->name;
    uint64_t hash = 0xcbf29ce484222325u;

    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
    if (!lun->unit.path)
        hash += number;
    (void)snprintf(lun->serial, sizeof(lun->serial), "%016llx", (unsigned long long)hash);
    lun->unit.serial = lun->serial;
}

static bool set_lun(struct iser_settings *settings, const char *number_text, const char *value,
                    char error[256])
{
    size_t index = settings->config.target_count - 1;
    struct iser_lun_settings *lun;
    char copy[LINE_MAX_OCTETS], *rest = copy;
    unsigned number;

    if (!iser_value_number(number_text, ITISER_LUNS_MAX - 1, &number))
        return fail(error, "lun %s: 0 to %u", number_text, ITISER_LUNS_MAX - 1);
    lun = &settings->more[index]->luns[number];
    if (lun->present)
        return fail(error, "lun %u is there twice", number);
    (void)snprintf(copy, sizeof(copy), "%s", value);
    if (!unit_kind(settings, lun, &rest))
        return fail(error, "lun %u: memory, null or file PATH", number);
    while (rest) {
        const char *word = strsep(&rest, " \t");

        if (*word && !unit_word(settings, lun, word))
            return fail(error, "lun %u: \"%s\" is not known", number, word);
    }
    lun->present = true;
    if (!lun->unit.serial)
        default_serial(&settings->targets[index], lun, number);
    return true;
}

/* ---- Keys ----------------------------------------------- */

static struct itiser_target_config *target_of(struct iser_settings *settings)
{
    return &settings->targets[settings->config.target_count - 1];
}

static struct itiser_portal_config *portal_of(struct iser_settings *settings)
{
    return &settings->portals[settings->config.portal_count - 1];
}

static bool set_interface(struct iser_settings *settings, const char *value)
{
    return (settings->config.interface = keep(settings, value)) != NULL;
}

static bool set_write_base(struct iser_settings *settings, const char *value)
{
    static const char *const names[] = {[ITISER_WRITE_BASE_AUTO] = "auto",
                                        [ITISER_WRITE_BASE_LINUX] = "linux",
                                        [ITISER_WRITE_BASE_RFC] = "rfc"};

    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], value) != 0)
            continue;
        settings->config.write_base = (itiser_write_base_t)i;
        return true;
    }
    return false;
}

static bool set_initial_r2t(struct iser_settings *settings, const char *value)
{
    return iser_value_choice(value, &settings->config.first_burst_none);
}

static bool set_first_burst(struct iser_settings *settings, const char *value)
{
    uint64_t octets;

    if (!iser_value_size(value, &octets) || octets < 512 || octets > 65536)
        return false;
    settings->config.first_burst = (uint32_t)octets;
    return true;
}

static bool set_immediate_data(struct iser_settings *settings, const char *value)
{
    bool yes, good = iser_value_choice(value, &yes);

    settings->config.immediate_none = good && !yes;
    return good;
}

static bool set_crc(struct iser_settings *settings, const char *value)
{
    bool yes, good = iser_value_choice(value, &yes);

    settings->config.no_crc = good && !yes;
    return good;
}

static bool set_spin(struct iser_settings *settings, const char *value)
{
    bool yes, good = iser_value_choice(value, &yes);

    settings->config.no_spin = good && !yes;
    return good;
}

static bool set_seconds(unsigned *milliseconds, const char *value)
{
    unsigned seconds;

    if (!iser_value_number(value, 3600, &seconds) || seconds == 0)
        return false;
    *milliseconds = seconds * 1000;
    return true;
}

static bool set_login_timeout(struct iser_settings *settings, const char *value)
{
    return set_seconds(&settings->config.login_timeout_ms, value);
}

static bool set_silence(struct iser_settings *settings, const char *value)
{
    return set_seconds(&settings->config.silence_ms, value);
}

static bool set_half_logins(struct iser_settings *settings, const char *value)
{
    return iser_value_number(value, 65536, &settings->config.half_logins);
}

static bool set_half_logins_share(struct iser_settings *settings, const char *value)
{
    return iser_value_number(value, 65536, &settings->config.half_logins_share);
}

static bool set_buffers(struct iser_settings *settings, const char *value)
{
    return iser_value_size(value, &settings->config.buffers) &&
           settings->config.buffers >= BUFFERS_LEAST;
}

static bool set_threads(struct iser_settings *settings, const char *value)
{
    return iser_value_number(value, 256, &settings->config.threads);
}

static bool set_status_socket(struct iser_settings *settings, const char *value)
{
    return (settings->status_socket = keep(settings, value)) != NULL;
}

static bool set_address(struct iser_settings *settings, const char *value)
{
    return iser_value_address(value, &portal_of(settings)->address);
}

static bool set_tag(struct iser_settings *settings, const char *value)
{
    unsigned tag;

    if (!iser_value_number(value, 65535, &tag) || tag == 0)
        return false;
    portal_of(settings)->tag = (uint16_t)tag;
    return true;
}

static bool set_kinds(struct iser_settings *settings, const char *value)
{
    static const struct {
        const char *name;
        unsigned kind;
    } names[] = {{"plain", ITISER_PLAIN}, {"rdma", ITISER_RDMA}, {"convert", ITISER_CONVERT}};
    char copy[128], *rest = copy;
    unsigned kinds = 0;

    (void)snprintf(copy, sizeof(copy), "%s", value);
    while (rest) {
        const char *word = strsep(&rest, " ,\t");
        size_t i = 0;

        if (!*word)
            continue;
        while (i < 3 && strcmp(names[i].name, word) != 0)
            i++;
        if (i == 3)
            return false;
        kinds |= names[i].kind;
    }
    portal_of(settings)->kinds = kinds;
    return kinds != 0;
}

static bool set_alias(struct iser_settings *settings, const char *value)
{
    return (target_of(settings)->alias = keep(settings, value)) != NULL;
}

/* Each target rewrites the whole file, so it must have it for itself. */
static bool set_state_file(struct iser_settings *settings, const char *value)
{
    for (size_t i = 0; i + 1 < settings->config.target_count; i++)
        if (settings->targets[i].state_file && strcmp(settings->targets[i].state_file, value) == 0)
            return false;
    return (target_of(settings)->state_file = keep(settings, value)) != NULL;
}

static bool add_text(struct iser_settings *settings, const char **list, const char *value)
{
    size_t count = 0;

    while (list[count])
        count++;
    return count < ISER_ACL_MAX && (list[count] = keep(settings, value)) != NULL;
}

static bool add_initiator(struct iser_settings *settings, const char *value)
{
    const char **list = settings->more[settings->config.target_count - 1]->initiators;

    target_of(settings)->initiators = list;
    return add_text(settings, list, value);
}

static bool add_network(struct iser_settings *settings, const char *value)
{
    const char **list = settings->more[settings->config.target_count - 1]->networks;

    target_of(settings)->networks = list;
    return add_text(settings, list, value);
}

/* NAME SECRET */
static bool set_secret(struct iser_settings *settings, struct itiser_secret *secret,
                       const char *value)
{
    const char *blank = strpbrk(value, " \t"), *text, *name = keep(settings, value);

    if (!blank || !name)
        return false;
    text = name + (blank - value);
    text += strspn(text, " \t");
    ((char *)(uintptr_t)name)[blank - value] = '\0';
    *secret = (struct itiser_secret){
        .name = name, .secret = (const uint8_t *)text, .length = strlen(text)};
    settings->has_secrets = true;
    return true;
}

static bool set_chap(struct iser_settings *settings, const char *value)
{
    return set_secret(settings, &target_of(settings)->incoming, value);
}

static bool set_chap_out(struct iser_settings *settings, const char *value)
{
    return set_secret(settings, &target_of(settings)->outgoing, value);
}

static bool set_discovery_chap(struct iser_settings *settings, const char *value)
{
    return set_secret(settings, &settings->config.discovery_incoming, value);
}

static bool set_discovery_chap_out(struct iser_settings *settings, const char *value)
{
    return set_secret(settings, &settings->config.discovery_outgoing, value);
}

static const struct {
    int section;
    const char *key;
    bool (*set)(struct iser_settings *settings, const char *value);
    const char *wanted; /* the expected form of a value */
} keys[] = {
    {OPTIONS, "interface", set_interface, "the name of an Interface"},
    {OPTIONS, "write-base", set_write_base, "auto, linux or rfc"},
    {OPTIONS, "initial-r2t", set_initial_r2t, "yes or no"},
    {OPTIONS, "first-burst", set_first_burst, "512 to 64K"},
    {OPTIONS, "immediate-data", set_immediate_data, "yes or no"},
    {OPTIONS, "crc", set_crc, "yes or no"},
    {OPTIONS, "spin", set_spin, "yes or no"},
    {OPTIONS, "login-timeout", set_login_timeout, "1 to 3600 (seconds)"},
    {OPTIONS, "silence", set_silence, "1 to 3600 (seconds)"},
    {OPTIONS, "half-logins", set_half_logins, "0 to 65536"},
    {OPTIONS, "half-logins-per-address", set_half_logins_share, "0 to 65536"},
    {OPTIONS, "buffers", set_buffers, "16M or more"},
    {OPTIONS, "threads", set_threads, "0 to 256"},
    {OPTIONS, "status-socket", set_status_socket, "a path"},
    {OPTIONS, "discovery-chap", set_discovery_chap, "NAME SECRET"},
    {OPTIONS, "discovery-chap-out", set_discovery_chap_out, "NAME SECRET"},
    {PORTAL, "address", set_address, "ADDRESS[:PORT], [IPV6]:PORT"},
    {PORTAL, "kinds", set_kinds, "one or more of plain, rdma, convert"},
    {PORTAL, "tag", set_tag, "1 to 65535"},
    {TARGET, "alias", set_alias, "a text"},
    {TARGET, "state-file", set_state_file, "a path that no other target has"},
    {TARGET, "initiator", add_initiator, "the name of an initiator, at most 256 of them"},
    {TARGET, "network", add_network, "ADDRESS/BITS, at most 256 of them"},
    {TARGET, "chap", set_chap, "NAME SECRET"},
    {TARGET, "chap-out", set_chap_out, "NAME SECRET"},
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

static bool set_key(struct iser_settings *settings, const char *key, const char *value,
                    char error[256])
{
    if (settings->section == TARGET && strncmp(key, "lun ", 4) == 0)
        return set_lun(settings, key + 4 + strspn(key + 4, " \t"), value, error);
    for (size_t i = 0; i < KEYS; i++)
        if (keys[i].section == settings->section && strcmp(keys[i].key, key) == 0)
            return (*value && keys[i].set(settings, value)) ||
                   fail(error, "%s: %s", key, keys[i].wanted);
    return fail(error, "\"%.100s\" is not a key of this section", key);
}

/* ---- Sections and lines ----------------------------------------------- */

static bool add_target(struct iser_settings *settings, const char *name, char error[256])
{
    size_t count = settings->config.target_count;

    if (count == ISER_TARGETS_MAX)
        return fail(error, "at most %u targets", ISER_TARGETS_MAX);
    for (size_t i = 0; i < count; i++)
        if (strcmp(settings->targets[i].name, name) == 0)
            return fail(error, "the target %.200s is there twice", name);
    settings->more[count] = calloc(1, sizeof(*settings->more[count]));
    settings->targets[count].name = keep(settings, name);
    settings->config.target_count++;
    settings->section = TARGET;
    return (settings->more[count] && settings->targets[count].name) || fail(error, "out of memory");
}

static bool set_section(struct iser_settings *settings, char *name, char error[256])
{
    if (strcmp(name, "options") == 0) {
        settings->section = OPTIONS;
        return true;
    }
    if (strcmp(name, "portal") == 0) {
        if (settings->config.portal_count == ISER_PORTALS_MAX)
            return fail(error, "at most %u portals", ISER_PORTALS_MAX);
        settings->config.portal_count++;
        settings->section = PORTAL;
        return true;
    }
    if (strncmp(name, "target ", 7) == 0 && name[7 + strspn(name + 7, " \t")])
        return add_target(settings, name + 7 + strspn(name + 7, " \t"), error);
    return fail(error, "[%.100s]: options, portal or target NAME", name);
}

/* Removes blanks at both ends. */
static char *trim(char *text)
{
    char *end = text + strlen(text);

    while (end > text && strchr(" \t\r\n", end[-1]))
        *--end = '\0';
    return text + strspn(text, " \t");
}

bool iser_settings_line(struct iser_settings *settings, const char *line, char error[256])
{
    char copy[LINE_MAX_OCTETS], *text, *value;

    if (strlen(line) >= sizeof(copy))
        return fail(error, "a line of more than %d octets", LINE_MAX_OCTETS - 1);
    (void)snprintf(copy, sizeof(copy), "%s", line);
    text = trim(copy);
    if (*text == '\0' || *text == '#')
        return true;
    if (*text == '[') {
        if (text[strlen(text) - 1] != ']')
            return fail(error, "a section ends with ]");
        text[strlen(text) - 1] = '\0';
        return set_section(settings, trim(text + 1), error);
    }
    value = strchr(text, '=');
    if (!value)
        return fail(error, "neither [SECTION] nor KEY = VALUE");
    *value++ = '\0';
    return set_key(settings, trim(text), trim(value), error);
}

static bool read_lines(struct iser_settings *settings, FILE *file, const char *path,
                       char error[256])
{
    char line[LINE_MAX_OCTETS + 2], why[256];

    for (unsigned number = 1; fgets(line, sizeof(line), file); number++)
        if (!iser_settings_line(settings, line, why))
            return fail(error, "%.100s:%u: %.140s", path, number, why);
    return true;
}

bool iser_settings_read(struct iser_settings *settings, const char *path, char error[256])
{
    FILE *file = fopen(path, "re");
    struct stat status;
    bool good;

    if (!file)
        return fail(error, "%.200s: %s", path, strerror(errno));
    good = read_lines(settings, file, path, error);
    if (good && settings->has_secrets && fstat(fileno(file), &status) == 0 &&
        (status.st_mode & (S_IRWXG | S_IRWXO)))
        good = fail(error, "%.150s: has secrets, but others may use it (chmod 600)", path);
    (void)fclose(file);
    return good;
}

/* ---- The whole ----------------------------------------------- */

static bool has_ipv6(void)
{
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0)
        (void)close(fd);
    return fd >= 0;
}

/* The default: the iSCSI port on all addresses, with one socket per IP version. */
static void add_all_addresses(struct iser_settings *settings)
{
    size_t *count = &settings->config.portal_count;

    (void)iser_value_address("0.0.0.0", &settings->portals[(*count)++].address);
    if (has_ipv6())
        (void)iser_value_address("[::]", &settings->portals[(*count)++].address);
}

bool iser_settings_finish(struct iser_settings *settings, char error[256])
{
    struct itiser_config *config = &settings->config;

    if (config->target_count == 0)
        return fail(error, "no target: a section [target NAME], or --target");
    if (config->portal_count == 0)
        add_all_addresses(settings);
    for (size_t i = 0; i < config->portal_count; i++) {
        struct itiser_portal_config *portal = &settings->portals[i];

        if (portal->address.ss_family == AF_UNSPEC)
            return fail(error, "a portal without address");
        if (portal->kinds == 0)
            portal->kinds = ITISER_PLAIN | ITISER_RDMA | ITISER_CONVERT;
        if (portal->tag == 0)
            portal->tag = 1;
    }
    config->portals = settings->portals;
    config->targets = settings->targets;
    return true;
}

/* Memory that a device has pinned must stay in place, so it gets no holes. */
static bool pins_memory(const struct itiser_config *config)
{
    return config->interface && strncmp(config->interface, "uiwarp", 6) != 0;
}

bool iser_settings_open_units(struct iser_settings *settings, char error[256])
{
    char why[256];

    for (size_t i = 0; i < settings->config.target_count; i++) {
        for (size_t lun = 0; lun < ITISER_LUNS_MAX; lun++) {
            struct iser_lun_settings *more = &settings->more[i]->luns[lun];

            if (!more->present)
                continue;
            if (more->unit.kind == ITISER_MEMORY_UNIT && pins_memory(&settings->config))
                more->unit.thin = ITISER_NO;
            settings->targets[i].units[lun] = itiser_unit_open(&more->unit, why);
            if (!settings->targets[i].units[lun])
                return fail(error, "%.80s, lun %zu: %.140s", settings->targets[i].name, lun, why);
        }
    }
    return true;
}
