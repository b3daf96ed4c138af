/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/sdp_policy.h"

#include "policy/sdp_rule.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sdp_policy {
    struct sdp_rule *rules;
    size_t rules_count;
    struct sdp_policy_settings settings;
    char *file;
    char *key;
    char *interface;
};

/*
 * Appended to the rules of the file. Programs in the first rules pass their sockets to others by
 * exec.
 */
static const char *const built_in[] = {
    "use tcp server sshd* *:*    # each connection is another program's (exec)",
    "use tcp server dropbear *:* # each connection is another process's",
    "use tcp server *inetd *:*   # each connection is another program's (exec)",
    "use tcp server systemd *:*  # sockets are handed to other programs",
    "use tcp client ssh *:*      # sshd stays on TCP",
    "use sdp * * *:*             # whatever both ends can",
};
#define BUILT_IN_COUNT (sizeof(built_in) / sizeof(built_in[0]))

/* ---- Settings ------------------------------------------------------------------------------- */

static bool number(const char *text, unsigned long most, uint32_t *value)
{
    char *end;
    unsigned long found;

    if (!text || *text < '0' || *text > '9')
        return false;
    errno = 0;
    found = strtoul(text, &end, 10);
    if (*end != '\0' || errno != 0 || found > most)
        return false;
    *value = (uint32_t)found;
    return true;
}

static bool word(char **place, const char *value)
{
    free(*place);
    *place = value ? strdup(value) : NULL;
    return *place != NULL;
}

/* Returns NULL, or the expected form if the setting is wrong. */
static const char *set(struct sdp_policy *policy, const char *name, const char *value)
{
    struct sdp_policy_settings *settings = &policy->settings;
    uint32_t port = 0;

    if (strcmp(name, "key") == 0)
        return word(&policy->key, value) ? NULL : "key FILE";
    if (strcmp(name, "interface") == 0)
        return word(&policy->interface, value) ? NULL : "interface NAME";
    if (strcmp(name, "patience") == 0)
        return number(value, 60000, &settings->patience_ms) ? NULL : "patience MILLISECONDS";
    if (strcmp(name, "negative") == 0)
        return number(value, 86400, &settings->negative_s) ? NULL : "negative SECONDS";
    if (strcmp(name, "mapper-port") == 0) {
        if (!number(value, 65535, &port) || port == 0)
            return "mapper-port PORT";
        settings->mapper_port = (uint16_t)port;
        return NULL;
    }
    if (strcmp(name, "zcopy-from") == 0) {
        settings->zcopy_set = number(value, UINT32_MAX, &settings->zcopy_from);
        return settings->zcopy_set ? NULL : "zcopy-from OCTETS";
    }
    if (strcmp(name, "crc") == 0 && value &&
        (strcmp(value, "on") == 0 || strcmp(value, "off") == 0)) {
        settings->crc_off = strcmp(value, "off") == 0;
        return NULL;
    }
    return strcmp(name, "crc") == 0
               ? "crc on, or crc off"
               : "use, key, interface, mapper-port, patience, negative, zcopy-from or crc";
}

/* ---- The file ------------------------------------------------------------------------------- */

static const char *add_rule(struct sdp_policy *policy, const char *line, unsigned number_of_line)
{
    struct sdp_rule *more =
        realloc(policy->rules, (policy->rules_count + 1) * sizeof(*policy->rules));
    const char *complaint;

    if (!more)
        return "out of memory";
    policy->rules = more;
    complaint = sdp_rule_parse(line, number_of_line, &more[policy->rules_count]);
    if (!complaint)
        policy->rules_count++;
    return complaint;
}

static const char *read_line(struct sdp_policy *policy, char *line, unsigned number_of_line)
{
    char copy[SDP_RULE_TEXT_MAX];
    char *rest = NULL;
    char *name;
    char *value;

    if (strlen(line) >= sizeof(copy))
        return "the line is too long";
    (void)strcpy(copy, line);
    copy[strcspn(copy, "#\n")] = '\0';
    name = strtok_r(copy, " \t\r", &rest);
    if (!name)
        return NULL;
    if (strcmp(name, "use") == 0)
        return add_rule(policy, line, number_of_line);
    value = strtok_r(NULL, " \t\r", &rest);
    if (strtok_r(NULL, " \t\r", &rest))
        return "one value";
    return set(policy, name, value);
}

static int complain(char **complaint, const char *path, unsigned line, const char *what)
{
    if (asprintf(complaint, "%s:%u: expected: %s", path, line, what) < 0)
        *complaint = NULL;
    return -EINVAL;
}

static int read_file(struct sdp_policy *policy, FILE *file, const char *path, char **complaint)
{
    char line[SDP_RULE_TEXT_MAX + 1];

    for (unsigned i = 1; fgets(line, sizeof(line), file); i++) {
        const char *wrong = read_line(policy, line, i);

        if (wrong)
            return complain(complaint, path, i, wrong);
    }
    return 0;
}

static int open_file(const char *path, bool named, FILE **file, char **complaint)
{
    *file = fopen(path, "re");
    if (*file || (!named && errno == ENOENT))
        return 0;
    if (asprintf(complaint, "%s: %s", path, strerror(errno)) < 0)
        *complaint = NULL;
    return -EINVAL;
}

/* Finds the key if the file does not name one: the environment's, the site's, the user's. */
static void find_key(struct sdp_policy *policy)
{
    char *home = NULL;
    const char *named = secure_getenv("IT_SDP_KEY");

    if (policy->key)
        return;
    if (named)
        (void)word(&policy->key, named);
    else if (access(SDP_SYSCONFDIR "/itapi/sdp.key", R_OK) == 0)
        (void)word(&policy->key, SDP_SYSCONFDIR "/itapi/sdp.key");
    else if ((home = sdp_policy_home_key()) && access(home, R_OK) == 0)
        (void)word(&policy->key, home);
    free(home);
}

static int fill(struct sdp_policy *policy, const char *path, bool named, char **complaint)
{
    FILE *file;
    int status = open_file(path, named, &file, complaint);

    if (status != 0)
        return status;
    if (file) {
        status = word(&policy->file, path) ? read_file(policy, file, path, complaint) : -ENOMEM;
        (void)fclose(file);
    }
    for (size_t i = 0; i < BUILT_IN_COUNT && status == 0; i++) {
        if (add_rule(policy, built_in[i], 0))
            status = -ENOMEM;
    }
    return status;
}

int sdp_policy_load(const char *path, struct sdp_policy **policy, char **complaint)
{
    const char *named = path ? path : secure_getenv("IT_SDP_CONFIG");
    struct sdp_policy *made = calloc(1, sizeof(*made));
    int status;

    *complaint = NULL;
    if (!made)
        return -ENOMEM;
    status = fill(made, named ? named : SDP_SYSCONFDIR "/itapi/sdp.conf", named, complaint);
    if (status != 0) {
        sdp_policy_free(made);
        return status;
    }
    find_key(made);
    made->settings.key_file = made->key;
    made->settings.interface = made->interface;
    *policy = made;
    return 0;
}

void sdp_policy_free(struct sdp_policy *policy)
{
    free(policy->rules);
    free(policy->file);
    free(policy->key);
    free(policy->interface);
    free(policy);
}

char *sdp_policy_home_key(void)
{
    const char *folder = secure_getenv("XDG_CONFIG_HOME");
    const char *home = secure_getenv("HOME");
    char *path = NULL;

    if (folder && *folder == '/')
        return asprintf(&path, "%s/itapi/sdp.key", folder) < 0 ? NULL : path;
    if (!home || *home != '/')
        return NULL;
    return asprintf(&path, "%s/.config/itapi/sdp.key", home) < 0 ? NULL : path;
}

/* ---- Questions ------------------------------------------------------------------------------ */

void sdp_policy_ask(const struct sdp_policy *policy, enum sdp_policy_role role, const char *program,
                    const struct sockaddr *address, struct sdp_policy_answer *answer)
{
    *answer = (struct sdp_policy_answer){.file = "built in", .text = "no rule"};
    for (size_t i = 0; i < policy->rules_count; i++) {
        const struct sdp_rule *rule = &policy->rules[i];

        if (!sdp_rule_matches(rule, role, program, address))
            continue;
        answer->sdp = rule->sdp;
        answer->line = rule->line;
        answer->text = rule->text;
        if (rule->line > 0)
            answer->file = policy->file;
        return;
    }
}

const struct sdp_policy_settings *sdp_policy_settings(const struct sdp_policy *policy)
{
    return &policy->settings;
}

const char *sdp_policy_program(void)
{
    return program_invocation_short_name;
}
