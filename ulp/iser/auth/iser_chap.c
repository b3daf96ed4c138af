/* SPDX-License-Identifier: BSD-2-Clause */
#include "auth/iser_chap.h"

#include "auth/iser_digest.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(ISER_CHALLENGE <= ISER_DIGEST_MAX, "iser_binary_put takes a challenge");

/* One text of the peer, and the text that answers it. */
struct step {
    struct iser_chap *chap;
    const char *text;
    size_t length;
    struct iser_text *out;
};

static const char *find(const struct step *step, const char *key)
{
    return iser_text_find(step->text, step->length, key);
}

/* Returns true if the comma-separated list contains the word. */
static bool list_has(const char *list, const char *word)
{
    size_t length = strlen(word);

    while (list) {
        if (strncmp(list, word, length) == 0 && (list[length] == ',' || list[length] == '\0'))
            return true;
        list = strchr(list, ',');
        if (list)
            list++;
    }
    return false;
}

const char *iser_chap_complaint(const struct itiser_secret *incoming,
                                const struct itiser_secret *outgoing)
{
    const struct itiser_secret *secrets[] = {incoming, outgoing};

    for (int i = 0; i < 2; i++) {
        if (secrets[i]->length > 0 && secrets[i]->length < ISER_SECRET_MIN)
            return "a secret of CHAP has 12 octets at least";
        if (secrets[i]->length > 0 && (!secrets[i]->name || !*secrets[i]->name))
            return "a secret of CHAP needs a name";
    }
    if (outgoing->length > 0 && incoming->length == 0)
        return "a target proves its name only to initiators that prove theirs";
    if (incoming->length > 0 && incoming->length == outgoing->length &&
        memcmp(incoming->secret, outgoing->secret, incoming->length) == 0)
        return "the secrets of the two directions have to differ";
    return NULL;
}

/* ---- Proofs ------------------------------------------------------------------------- */

static bool make_challenge(struct iser_chap *chap)
{
    return RAND_bytes(&chap->id, 1) == 1 &&
           RAND_bytes(chap->challenge, sizeof(chap->challenge)) == 1;
}

static void put_challenge(const struct step *step)
{
    iser_text_put_number(step->out, "CHAP_I", step->chap->id);
    iser_binary_put(step->out, "CHAP_C", step->chap->challenge, ISER_CHALLENGE);
}

/* Returns true if the peer has proved the secret and given the name that belongs to it. */
static bool check_response(const struct step *step, const struct itiser_secret *secret)
{
    const struct iser_chap *chap = step->chap;
    const char *name = find(step, "CHAP_N"), *response = find(step, "CHAP_R");
    uint8_t said[ISER_DIGEST_MAX], digest[ISER_DIGEST_MAX];
    size_t length;
    bool same;

    if (!name || !response || !iser_binary_decode(response, said, sizeof(said), &length) ||
        length != iser_digest_length(chap->algorithm) ||
        !iser_digest(chap->algorithm, chap->id, secret->secret, secret->length, chap->challenge,
                     ISER_CHALLENGE, digest))
        return false;
    same = CRYPTO_memcmp(said, digest, length) == 0;
    return same && strcmp(name, secret->name) == 0;
}

/* Answers the peer's challenge. Refuses to answer this side's own challenge, or a trivial one. */
static bool put_response(const struct step *step, const struct itiser_secret *secret)
{
    const struct iser_chap *chap = step->chap;
    const char *id = find(step, "CHAP_I"), *challenge = find(step, "CHAP_C");
    uint8_t octets[ISER_CHALLENGE_MAX], digest[ISER_DIGEST_MAX];
    uint64_t number;
    size_t length;

    if (!id || !challenge || !iser_text_number(id, 255, &number) ||
        !iser_binary_decode(challenge, octets, sizeof(octets), &length) ||
        length < ISER_CHALLENGE_MIN)
        return false;
    if (length == ISER_CHALLENGE && memcmp(octets, chap->challenge, length) == 0)
        return false;
    if (!iser_digest(chap->algorithm, (uint8_t)number, secret->secret, secret->length, octets,
                     length, digest))
        return false;
    iser_text_put(step->out, "CHAP_N", secret->name);
    iser_binary_put(step->out, "CHAP_R", digest, iser_digest_length(chap->algorithm));
    return true;
}

/* ---- Target --------------------------------------------------------------------------- */

/* Returns the first algorithm of the initiator's list that is supported; 0: none. */
static unsigned choose(const char *list)
{
    while (list && *list) {
        char *end;
        unsigned long algorithm = strtoul(list, &end, 10);

        if (end != list && (*end == ',' || !*end) && algorithm < 256 &&
            iser_digest_length((unsigned)algorithm) > 0)
            return (unsigned)algorithm;
        list = strchr(list, ',');
        if (list)
            list++;
    }
    return 0;
}

static iser_chap_verdict_t take_algorithm(const struct step *step)
{
    const char *list = find(step, "CHAP_A");

    step->chap->algorithm = list ? choose(list) : 0;
    if (step->chap->algorithm == 0 || !make_challenge(step->chap))
        return ISER_CHAP_FAILED;
    iser_text_put_number(step->out, "CHAP_A", step->chap->algorithm);
    put_challenge(step);
    step->chap->stage = ISER_CHAP_RESPONSE;
    return ISER_CHAP_MORE;
}

static iser_chap_verdict_t take_method(const struct step *step, bool proof)
{
    const char *methods = find(step, "AuthMethod");

    if (!methods)
        return ISER_CHAP_MORE;
    if (!list_has(methods, proof ? "CHAP" : "None"))
        return ISER_CHAP_FAILED;
    iser_text_put(step->out, "AuthMethod", proof ? "CHAP" : "None");
    step->chap->stage = proof ? ISER_CHAP_ALGORITHM : ISER_CHAP_OVER;
    if (!proof)
        return ISER_CHAP_DONE;
    return find(step, "CHAP_A") ? take_algorithm(step) : ISER_CHAP_MORE;
}

static iser_chap_verdict_t take_response(const struct step *step,
                                         const struct itiser_secret *incoming,
                                         const struct itiser_secret *outgoing)
{
    bool asks = find(step, "CHAP_I") || find(step, "CHAP_C");

    if (!check_response(step, incoming))
        return ISER_CHAP_FAILED;
    if (asks && (outgoing->length == 0 || !put_response(step, outgoing)))
        return ISER_CHAP_FAILED;
    step->chap->stage = ISER_CHAP_OVER;
    return ISER_CHAP_DONE;
}

iser_chap_verdict_t iser_chap_step(struct iser_chap *chap, const struct itiser_secret *incoming,
                                   const struct itiser_secret *outgoing, const char *text,
                                   size_t length, struct iser_text *out)
{
    struct step step = {.chap = chap, .text = text, .length = length, .out = out};

    if (iser_chap_complaint(incoming, outgoing))
        return ISER_CHAP_FAILED;
    switch (chap->stage) {
    case ISER_CHAP_METHOD:
        return take_method(&step, incoming->length > 0);
    case ISER_CHAP_ALGORITHM:
        return take_algorithm(&step);
    case ISER_CHAP_RESPONSE:
        return take_response(&step, incoming, outgoing);
    case ISER_CHAP_OVER:
        break;
    }
    return ISER_CHAP_FAILED; /* there is nothing to answer */
}

/* ---- Initiator ------------------------------------------------------------------------- */

static iser_chap_verdict_t offer_method(const struct step *step)
{
    if (step->length == 0) {
        iser_text_put(step->out, "AuthMethod", "CHAP");
        return ISER_CHAP_MORE;
    }
    if (!find(step, "AuthMethod") || strcmp(find(step, "AuthMethod"), "CHAP") != 0)
        return ISER_CHAP_FAILED;
    iser_text_put(step->out, "CHAP_A", "8,7,6,5");
    step->chap->stage = ISER_CHAP_ALGORITHM;
    return ISER_CHAP_MORE;
}

static iser_chap_verdict_t answer_challenge(const struct step *step,
                                            const struct itiser_secret *own,
                                            const struct itiser_secret *target)
{
    const char *algorithm = find(step, "CHAP_A");

    step->chap->algorithm = algorithm ? choose(algorithm) : 0;
    if (step->chap->algorithm == 0 || !make_challenge(step->chap) || !put_response(step, own))
        return ISER_CHAP_FAILED;
    if (target->length > 0)
        put_challenge(step);
    step->chap->stage = ISER_CHAP_RESPONSE;
    return ISER_CHAP_MORE;
}

iser_chap_verdict_t iser_chap_initiate(struct iser_chap *chap, const struct itiser_secret *own,
                                       const struct itiser_secret *target, const char *text,
                                       size_t length, struct iser_text *out)
{
    struct step step = {.chap = chap, .text = text, .length = length, .out = out};

    if (iser_chap_complaint(own, target))
        return ISER_CHAP_FAILED;
    switch (chap->stage) {
    case ISER_CHAP_METHOD:
        return offer_method(&step);
    case ISER_CHAP_ALGORITHM:
        return answer_challenge(&step, own, target);
    case ISER_CHAP_RESPONSE:
        if (target->length > 0 && !check_response(&step, target))
            return ISER_CHAP_FAILED;
        chap->stage = ISER_CHAP_OVER;
        return ISER_CHAP_DONE;
    case ISER_CHAP_OVER:
        break;
    }
    return ISER_CHAP_FAILED;
}
