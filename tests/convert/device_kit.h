/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steps of the cases of convert_device_test: an end on the device, its TCP stream, plain octets and
 * frames on it, and RDMA between two ends.
 */
#ifndef ITAPI_TESTS_CONVERT_DEVICE_KIT_H
#define ITAPI_TESTS_CONVERT_DEVICE_KIT_H

#include "support/it_fixture.h"
#include "tdi/agree/agree_frame.h"

#include <netinet/in.h>

#define KIT_MESSAGE  3001u
#define KIT_MESSAGES 8u
#define KIT_AREA     100000u

/* The device and address of the test. main sets them. */
extern const char *kit_device;
extern struct sockaddr_in kit_address;
extern uint8_t kit_kind; /* enum agree_kind */

struct kit_end {
    struct fx_node node;
    it_ep_handle_t ep;
    int sd;
    struct fx_buf out, in, area;
};

void kit_open_node(struct fx_node *node);
it_ep_handle_t kit_open_ep(const struct fx_node *node);
void kit_open_end(struct kit_end *end);
void kit_close_end(struct kit_end *end);
/* Connects two sockets over the device's address. */
void kit_tcp_pair(int *a, int *b);

/* Sends plain octets both ways. Each must arrive, and no others. */
void kit_talk(int a, int b, uint32_t seed);
void kit_hear(int sd, const char *text);
void kit_hears_end(int sd);

void kit_say(int sd, const void *octets, size_t length);
struct agree_terms kit_terms(uint16_t port); /* network order */
void kit_say_terms(int sd, enum agree_type type, const struct agree_terms *terms);
void kit_say_end(int sd, enum agree_type type, enum agree_reason reason);
struct agree_frame kit_hear_frame(int sd, enum agree_type type);
void kit_hear_last(int sd, enum agree_type type, enum agree_reason reason);

void kit_post_receives(const struct kit_end *end);
void kit_send_messages(const struct kit_end *from, const struct kit_end *to, uint32_t seed);
void kit_write_and_read(const struct kit_end *near, const struct kit_end *far);

#endif
