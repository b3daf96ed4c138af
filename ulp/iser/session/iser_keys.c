/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/iser_keys.h"

#include <stddef.h>
#include <string.h>

#define KEYS_LENGTH_MAX 16777215u
#define KEYS_RECEIVE    8192u /* TargetRecvDataSegmentLength: what a receive of RDMA has room for */

enum key_kind {
    KEY_AND,
    KEY_OR,
    KEY_MIN,
    KEY_MAX,
    KEY_DIGEST,
    KEY_SAID,       /* the initiator declares a number */
    KEY_SAID_TRUTH, /* the initiator declares Yes or No */
    KEY_IRRELEVANT,
    KEY_ELSEWHERE /* neither negotiated nor answered here */
};

struct key {
    const char *name;
    enum key_kind kind;
    size_t at; /* in struct iser_params */
    uint32_t initial, ours, least, most;
};

#define KEY_AT(member) offsetof(struct iser_params, member)
#define KEY_TRUTH(name, kind, member, i, o)                                                        \
    {                                                                                              \
        name, kind, KEY_AT(member), i, o, 0, 1                                                     \
    }
#define KEY_LENGTH(name, kind, member, i, o)                                                       \
    {                                                                                              \
        name, kind, KEY_AT(member), i, o, 512, KEYS_LENGTH_MAX                                     \
    }
#define KEY_OTHER(name, kind)                                                                      \
    {                                                                                              \
        name, kind, 0, 0, 0, 0, 0                                                                  \
    }

static const struct key keys[] = {
    KEY_TRUTH("HeaderDigest", KEY_DIGEST, header_digest, 0, 1),
    KEY_TRUTH("DataDigest", KEY_DIGEST, data_digest, 0, 1),
    KEY_TRUTH("InitialR2T", KEY_OR, initial_r2t, 1, 0),
    KEY_TRUTH("ImmediateData", KEY_AND, immediate_data, 1, 1),
    KEY_LENGTH("MaxBurstLength", KEY_MIN, max_burst, 262144, 1048576),
    KEY_LENGTH("FirstBurstLength", KEY_MIN, first_burst, 65536, 0),
    {"MaxOutstandingR2T", KEY_MIN, KEY_AT(max_r2t), 1, 1, 1, 65535},
    {"MaxConnections", KEY_MIN, KEY_AT(max_connections), 1, 1, 1, 65535},
    {"ErrorRecoveryLevel", KEY_MIN, KEY_AT(recovery_level), 0, 0, 0, 2},
    {"DefaultTime2Wait", KEY_MAX, KEY_AT(time2wait), 2, 0, 0, 3600},
    {"DefaultTime2Retain", KEY_MIN, KEY_AT(time2retain), 20, 0, 0, 3600},
    KEY_TRUTH("DataPDUInOrder", KEY_OR, pdu_in_order, 1, 1),
    KEY_TRUTH("DataSequenceInOrder", KEY_OR, sequence_in_order, 1, 1),
    KEY_TRUTH("IFMarker", KEY_AND, if_marker, 0, 0),
    KEY_TRUTH("OFMarker", KEY_AND, of_marker, 0, 0),
    KEY_OTHER("IFMarkInt", KEY_IRRELEVANT),
    KEY_OTHER("OFMarkInt", KEY_IRRELEVANT),
    KEY_LENGTH("MaxRecvDataSegmentLength", KEY_SAID, receive_max, 8192, 0),
    KEY_LENGTH("InitiatorRecvDataSegmentLength", KEY_MIN, initiator_receive_max, 8192, 262144),
    KEY_LENGTH("TargetRecvDataSegmentLength", KEY_MIN, target_receive_max, 8192, KEYS_RECEIVE),
    KEY_TRUTH("RDMAExtensions", KEY_AND, rdma, 0, 1),
    KEY_TRUTH("iSERHelloRequired", KEY_SAID_TRUTH, hello, 0, 0),
    KEY_TRUTH("TaggedBufferForSolicitedDataOnly", KEY_SAID_TRUTH, tagged_solicited, 0, 0),
    {"MaxOutstandingUnexpectedPDUs", KEY_SAID, KEY_AT(unexpected_max), 0, 0, 0, UINT32_MAX},
    {"MaxAHSLength", KEY_SAID, KEY_AT(ahs_max), 256, 0, 0, UINT32_MAX},
    KEY_OTHER("InitiatorName", KEY_ELSEWHERE),
    KEY_OTHER("InitiatorAlias", KEY_ELSEWHERE),
    KEY_OTHER("TargetName", KEY_ELSEWHERE),
    KEY_OTHER("TargetAlias", KEY_ELSEWHERE), /* declared by targets, like the next two */
    KEY_OTHER("TargetAddress", KEY_ELSEWHERE),
    KEY_OTHER("TargetPortalGroupTag", KEY_ELSEWHERE),
    KEY_OTHER("SessionType", KEY_ELSEWHERE),
    KEY_OTHER("AuthMethod", KEY_ELSEWHERE),
    KEY_OTHER("CHAP_A", KEY_ELSEWHERE),
    KEY_OTHER("CHAP_N", KEY_ELSEWHERE),
    KEY_OTHER("CHAP_R", KEY_ELSEWHERE),
    KEY_OTHER("CHAP_I", KEY_ELSEWHERE),
    KEY_OTHER("CHAP_C", KEY_ELSEWHERE),
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))
_Static_assert(KEYS <= 64, "one bit for each key");

static uint32_t *key_value(struct iser_params *params, const struct key *key)
{
    return (uint32_t *)(void *)((char *)params + key->at);
}

void iser_params_init(struct iser_params *params)
{
    memset(params, 0, sizeof(*params));
    for (size_t i = 0; i < KEYS; i++)
        if (keys[i].kind < KEY_IRRELEVANT)
            *key_value(params, &keys[i]) = keys[i].initial;
}

/* Returns true for keys that each connection of a session negotiates for itself. */
static bool key_is_of_connection(const struct key *key)
{
    if (key->kind == KEY_DIGEST || key->kind >= KEY_IRRELEVANT)
        return true;
    return key->at == KEY_AT(receive_max) || key->at == KEY_AT(initiator_receive_max) ||
           key->at == KEY_AT(target_receive_max) || key->at == KEY_AT(if_marker) ||
           key->at == KEY_AT(of_marker);
}

void iser_params_continue(struct iser_params *params, const struct iser_params *session)
{
    *params = *session;
    for (size_t i = 0; i < KEYS; i++)
        if (keys[i].kind < KEY_IRRELEVANT && key_is_of_connection(&keys[i]))
            *key_value(params, &keys[i]) = keys[i].initial;
}

/* ---------------------------------------------------------------- values */

static bool key_is_truth(const struct key *key)
{
    return key->kind == KEY_AND || key->kind == KEY_OR || key->kind == KEY_SAID_TRUTH;
}

/* Returns false if the key cannot have this value. */
static bool key_read(const struct key *key, const char *value, uint32_t *read)
{
    uint64_t number;

    if (key_is_truth(key)) {
        *read = strcmp(value, "Yes") == 0;
        return *read || strcmp(value, "No") == 0;
    }
    if (!iser_text_number(value, key->most, &number) || number < key->least)
        return false;
    *read = (uint32_t)number;
    return true;
}

static bool list_has(const char *list, const char *wanted, const char **rest)
{
    size_t length = strcspn(list, ",");

    *rest = list[length] ? list + length + 1 : NULL;
    return length == strlen(wanted) && memcmp(list, wanted, length) == 0;
}

/*
 * Chooses the first digest of the initiator's list that is acceptable. Returns false if there is
 * none.
 */
static bool key_choose_digest(const char *value, bool welcome, uint32_t *chosen)
{
    for (const char *rest; value; value = rest) {
        *chosen = list_has(value, "CRC32C", &rest);
        if ((*chosen && welcome) || list_has(value, "None", &rest))
            return true;
    }
    return false;
}

static uint32_t key_ours(const struct key *key, const struct iser_terms *terms)
{
    if (key->at == KEY_AT(initial_r2t))
        return terms->initial_r2t;
    if (key->at == KEY_AT(immediate_data))
        return !terms->no_immediate;
    if (key->at == KEY_AT(rdma))
        return terms->rdma;
    if (key->at == KEY_AT(first_burst))
        return terms->first_burst;
    return key->ours;
}

static uint32_t key_result(enum key_kind kind, uint32_t theirs, uint32_t ours)
{
    switch (kind) {
    case KEY_AND:
    case KEY_MIN:
        return theirs < ours ? theirs : ours;
    case KEY_OR:
    case KEY_MAX:
        return theirs > ours ? theirs : ours;
    case KEY_DIGEST:
    case KEY_SAID:
    case KEY_SAID_TRUTH:
    case KEY_IRRELEVANT:
    case KEY_ELSEWHERE:
        break;
    }
    return theirs;
}

/* ---------------------------------------------------------------- one key */

static const struct key *key_find(const char *name, size_t length)
{
    for (size_t i = 0; i < KEYS; i++)
        if (strlen(keys[i].name) == length && memcmp(keys[i].name, name, length) == 0)
            return &keys[i];
    return NULL;
}

static uint64_t key_bit(const struct key *key)
{
    return UINT64_C(1) << (key - keys);
}

static void key_answer(const struct key *key, uint32_t result, struct iser_text *out)
{
    if (key->kind == KEY_SAID || key->kind == KEY_SAID_TRUTH)
        return;
    if (key->kind == KEY_DIGEST)
        iser_text_put(out, key->name, result ? "CRC32C" : "None");
    else if (key_is_truth(key))
        iser_text_put(out, key->name, result ? "Yes" : "No");
    else
        iser_text_put_number(out, key->name, result);
}

static void key_negotiate(struct iser_params *params, const struct iser_terms *terms,
                          const struct key *key, const char *value, struct iser_text *out)
{
    uint32_t theirs, result;
    bool legal;

    if (key->kind == KEY_ELSEWHERE)
        return;
    if (key->kind == KEY_IRRELEVANT) {
        iser_text_put(out, key->name, "Irrelevant");
        return;
    }
    if (key->kind == KEY_DIGEST)
        legal = key_choose_digest(value, terms->digests, &theirs);
    else
        legal = key_read(key, value, &theirs);
    if (!legal) {
        iser_text_put(out, key->name, "Reject");
        return;
    }
    result = key_result(key->kind, theirs, key_ours(key, terms));
    *key_value(params, key) = result;
    if (key->at == KEY_AT(tagged_solicited))
        params->tagged_told = 1;
    key_answer(key, result, out);
}

/* Takes the answer to an offer. Returns false if it does not follow from the offer. */
static bool key_take_answer(struct iser_params *params, const struct iser_terms *terms,
                            const struct key *key, const char *value)
{
    uint32_t theirs;

    if (!key_read(key, value, &theirs) ||
        key_result(key->kind, theirs, key_ours(key, terms)) != theirs)
        return false;
    *key_value(params, key) = theirs;
    return true;
}

/* Returns the MaxBurstLength that holds when the text has been negotiated. */
static uint32_t keys_burst(const struct iser_params *params, const char *text, size_t length)
{
    const struct key *key = key_find("MaxBurstLength", strlen("MaxBurstLength"));
    const char *value = iser_text_find(text, length, key->name);
    uint32_t theirs;

    if (!value || !key_read(key, value, &theirs))
        return params->max_burst;
    return key_result(key->kind, theirs, key->ours);
}

bool iser_keys_negotiate(struct iser_params *params, const struct iser_terms *terms,
                         const char *text, size_t length, struct iser_keys_said *said,
                         struct iser_text *out)
{
    const char *name, *value;
    size_t at = 0, name_length;
    struct iser_terms ours = *terms;
    uint32_t burst = keys_burst(params, text, length);

    /* A first burst cannot be longer than a burst. */
    if (ours.first_burst > burst)
        ours.first_burst = burst;

    while (iser_text_next(text, length, &at, &name, &name_length, &value)) {
        const struct key *key = key_find(name, name_length);
        char unknown[ISER_KEY_MAX + 1] = {0};
        uint64_t bit;

        if (!key) {
            memcpy(unknown, name, name_length);
            iser_text_put(out, unknown, "NotUnderstood");
            continue;
        }
        bit = key_bit(key);
        if (key->kind != KEY_ELSEWHERE && said->theirs & bit)
            return false;
        if (terms->connection && !key_is_of_connection(key))
            return false;
        said->theirs |= bit;
        if (!(said->offered & bit))
            key_negotiate(params, &ours, key, value, out);
        else if (!key_take_answer(params, &ours, key, value))
            return false;
    }
    /* RDMA has neither digests nor markers. A first burst cannot be longer than a burst. */
    if (params->rdma)
        params->header_digest = params->data_digest = 0;
    if (params->first_burst > params->max_burst)
        params->first_burst = params->max_burst;
    return true;
}

/*
 * Offers a value that can only be accepted or lowered, unless the key has been negotiated. Returns
 * true if it does.
 */
static bool keys_offer_one(struct iser_params *params, const char *name, uint32_t ours,
                           struct iser_keys_said *said, struct iser_text *out)
{
    const struct key *key = key_find(name, strlen(name));

    if ((said->theirs | said->offered) & key_bit(key))
        return false;
    said->offered |= key_bit(key);
    *key_value(params, key) = ours;
    key_answer(key, ours, out);
    return true;
}

bool iser_keys_offer(struct iser_params *params, const struct iser_terms *terms,
                     struct iser_keys_said *said, struct iser_text *out)
{
    if (terms->connection)
        return false; /* the session has its values */
    /* No answer is needed (RFC 7143 6.2.2). InitialR2T=Yes is the default and need not be said. */
    if (terms->no_immediate)
        (void)keys_offer_one(params, "ImmediateData", 0, said, out);
    return terms->first_burst_set && terms->first_burst < params->first_burst &&
           (params->immediate_data || !params->initial_r2t) &&
           keys_offer_one(params, "FirstBurstLength", terms->first_burst, said, out);
}

void iser_keys_declare(struct iser_params *params, const char *name, const char *value,
                       struct iser_text *out)
{
    const struct key *key = key_find(name, strlen(name));

    if (!key)
        iser_text_put(out, name, "NotUnderstood");
    else if (strcmp(name, "InitiatorAlias") != 0 &&
             (key->at != KEY_AT(receive_max) || !key_read(key, value, &params->receive_max)))
        iser_text_put(out, name, "Reject");
}
