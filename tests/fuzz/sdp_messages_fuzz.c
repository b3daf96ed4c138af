/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What SDP decodes outside of its machine: messages and both Hellos, the notes of the agreement,
 * and rules of the policy. The first octet chooses the kind. A note that is accepted has the same
 * octets after encoding, any other thing the same content.
 */
#include "agree/sdp_agree_message.h"
#include "policy/sdp_rule.h"
#include "wire/sdp_message.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void try_message(const uint8_t *data, size_t size)
{
    unsigned char octets[SDP_HEAD_OCTETS + SDP_EXTENSION_OCTETS];
    struct sdp_message message;
    size_t head;

    if (!sdp_message_get(data, size, &message))
        return;
    head = sdp_message_put(octets, &message);
    require(head == sdp_message_head(message.mid) && head <= size);
    require(message.payload_octets == size - head);
    require(message.payload_octets == 0 || message.payload == data + head);
}

static void try_hello(const uint8_t *data, size_t size)
{
    unsigned char octets[SDP_HELLO_OCTETS];
    struct sdp_hello hello, again;

    memset(&hello, 0, sizeof(hello));
    memset(&again, 0, sizeof(again));
    if (!sdp_hello_get(data, size, &hello))
        return;
    sdp_hello_put(octets, &hello);
    require(sdp_hello_get(octets, sizeof(octets), &again));
    require(hello.bufs == again.bufs && hello.port == again.port);
    require(hello.receive_size == again.receive_size && hello.ip_version == again.ip_version);
    require(memcmp(hello.source, again.source, sizeof(hello.source)) == 0);
}

static void try_hello_ack(const uint8_t *data, size_t size)
{
    unsigned char octets[SDP_HELLO_ACK_OCTETS];
    struct sdp_hello hello, again;

    memset(&hello, 0, sizeof(hello));
    memset(&again, 0, sizeof(again));
    if (!sdp_hello_ack_get(data, size, &hello))
        return;
    sdp_hello_ack_put(octets, &hello);
    require(sdp_hello_ack_get(octets, sizeof(octets), &again));
    require(hello.bufs == again.bufs && hello.receive_size == again.receive_size);
}

static void try_note(const uint8_t *data, size_t size)
{
    static const uint8_t key[SDP_KEY_OCTETS] = {1};
    uint8_t octets[SDP_NOTE_OCTETS];
    struct sdp_note note, again;

    if (!sdp_note_get(data, size, &note))
        return;
    require(size == SDP_NOTE_OCTETS);
    (void)sdp_note_tagged(data, key);
    sdp_note_put(&note, key, octets);
    require(sdp_note_tagged(octets, key) && sdp_note_get(octets, sizeof(octets), &again));
    require(note.type == again.type && note.kind == again.kind);
    require(memcmp(&note.tuple, &again.tuple, sizeof(note.tuple)) == 0);
}

static void try_rule(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct sdp_rule rule;

    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = 0;
    if (!sdp_rule_parse(text, 1, &rule)) {
        require(memchr(rule.program, 0, sizeof(rule.program)) != NULL);
        require(memchr(rule.text, 0, sizeof(rule.text)) != NULL);
        require(rule.prefix <= 128 && rule.port[0] <= rule.port[1]);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const tries[])(const uint8_t *data, size_t size) = {
        try_message, try_hello, try_hello_ack, try_note, try_rule};
    uint8_t *copy; /* so that the octet behind the end is not ours */

    if (size == 0)
        return 0;
    copy = malloc(size - 1 ? size - 1 : 1);
    if (!copy)
        abort();
    memcpy(copy, data + 1, size - 1);
    tries[data[0] % (sizeof(tries) / sizeof(tries[0]))](copy, size - 1);
    free(copy);
    return 0;
}
