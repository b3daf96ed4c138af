/* SPDX-License-Identifier: BSD-2-Clause */
/* PERSISTENT RESERVE IN and OUT (SPC-4 6.15, 6.16). */
#include "pdu/iser_octets.h"
#include "scsi/iser_lu.h"

#include <stdlib.h>
#include <string.h>

/* ---- PERSISTENT RESERVE IN ----------------------------------------------------------------- */

enum {
    READ_KEYS,
    READ_RESERVATION,
    REPORT_CAPABILITIES,
    READ_FULL_STATUS
};

#define FULL_STATUS_MAX (256u << 10)

bool iser_prin_begin(struct iser_scsi_command *command)
{
    iser_parameters_in(command, iser_get16(command->cdb + 7), FULL_STATUS_MAX);
    return true;
}

/* Puts PRGENERATION and the length of what follows. */
static void put_header(struct iser_scsi_command *command, size_t length)
{
    uint8_t header[8];

    iser_put32(header, command->lu->generation);
    iser_put32(header + 4, (uint32_t)length);
    iser_parameters_put(command, header, sizeof(header));
}

static void read_keys(struct iser_scsi_command *command)
{
    const struct iser_lu *lu = command->lu;
    uint8_t key[8];

    put_header(command, (size_t)8 * lu->registration_count);
    for (const struct iser_registration *r = lu->registrations; r; r = r->next) {
        iser_put64(key, r->key);
        iser_parameters_put(command, key, sizeof(key));
    }
}

static const struct iser_registration *holder_of(const struct iser_lu *lu)
{
    const struct iser_registration *registration = lu->registrations;

    while (registration && !registration->holder)
        registration = registration->next;
    return registration;
}

static void read_reservation(struct iser_scsi_command *command)
{
    const struct iser_lu *lu = command->lu;
    const struct iser_registration *holder = holder_of(lu);
    uint8_t reservation[16] = {0};

    put_header(command, lu->reservation ? sizeof(reservation) : 0);
    if (!lu->reservation)
        return;
    if (holder)
        iser_put64(reservation, holder->key);
    reservation[13] = lu->reservation;
    iser_parameters_put(command, reservation, sizeof(reservation));
}

static void report_capabilities(struct iser_scsi_command *command)
{
    const struct iser_lu *lu = command->lu;
    uint8_t capabilities[8] = {0, 8};

    if (lu->target->state)
        capabilities[2] = 0x01;                       /* PTPL_C */
    capabilities[3] = (uint8_t)(0x80 | lu->persists); /* TMV, PTPL_A */
    capabilities[4] = 0xea;                           /* types 1, 3, 5, 6, 7 */
    capabilities[5] = 0x01;                           /* type 8 */
    iser_parameters_put(command, capabilities, sizeof(capabilities));
}

/*
 * Builds the TransportID of an iSCSI initiator port: padded to a multiple of 4, at least 20 octets.
 * Returns its length.
 */
static size_t transport_id(const char *port, uint8_t id[4 + ISER_PORT_MAX + 4])
{
    size_t length = (strlen(port) + 4) / 4 * 4;

    if (length < 20)
        length = 20;
    memset(id, 0, 4 + ISER_PORT_MAX + 4);
    id[0] = strstr(port, ",i,0x") ? 0x45 : 0x05;
    iser_put16(id + 2, (uint16_t)length);
    /* Zeros follow. NOLINTNEXTLINE(bugprone-not-null-terminated-result) */
    memcpy(id + 4, port, strlen(port));
    return 4 + length;
}

static void read_full_status(struct iser_scsi_command *command)
{
    const struct iser_lu *lu = command->lu;
    uint8_t id[4 + ISER_PORT_MAX + 4];
    size_t length = 0;

    for (const struct iser_registration *r = lu->registrations; r; r = r->next)
        length += 24 + transport_id(r->port, id);
    put_header(command, length);
    for (const struct iser_registration *r = lu->registrations; r; r = r->next) {
        bool holder = r->holder || iser_reservation_is_all(lu->reservation);
        uint8_t status[24] = {0};

        iser_put64(status, r->key);
        status[12] = holder;
        status[13] = holder ? lu->reservation : 0;
        iser_put16(status + 18, r->tag);
        length = transport_id(r->port, id);
        iser_put32(status + 20, (uint32_t)length);
        iser_parameters_put(command, status, sizeof(status));
        iser_parameters_put(command, id, length);
    }
}

void iser_prin_run(struct iser_scsi_command *command)
{
    switch (command->cdb[1] & 0x1f) {
    case READ_KEYS:
        read_keys(command);
        break;
    case READ_RESERVATION:
        read_reservation(command);
        break;
    case REPORT_CAPABILITIES:
        report_capabilities(command);
        break;
    default:
        read_full_status(command);
        break;
    }
}

/* ---- PERSISTENT RESERVE OUT ------------------------------------------------------------------ */

enum {
    REGISTER,
    RESERVE,
    RELEASE,
    CLEAR,
    PREEMPT,
    PREEMPT_AND_ABORT,
    REGISTER_AND_IGNORE
};

#define LIST_LENGTH 24u
#define APTPL       0x01u

/* The parts of a PERSISTENT RESERVE OUT. */
struct request {
    struct iser_scsi_command *command;
    struct iser_lu *lu;
    struct iser_scsi_nexus *nexus;
    struct iser_registration *own; /* of the nexus; NULL: not registered */
    uint8_t action, type, scope;
    uint64_t key;
    uint64_t service_key;
    bool persists;
};

bool iser_prout_begin(struct iser_scsi_command *command)
{
    uint8_t action = command->cdb[1] & 0x1f;

    if (iser_get32(command->cdb + 5) != LIST_LENGTH)
        return iser_fault(command, ISER_LIST_LENGTH);
    if (action != REGISTER && action != REGISTER_AND_IGNORE && action != CLEAR &&
        (command->cdb[2] >> 4 != 0 || !iser_reservation_is_type(command->cdb[2] & 0x0f)))
        return iser_fault_field(command, ISER_FIELD_CDB, 2);
    return iser_parameters_out(command, LIST_LENGTH);
}

static void conflict(const struct request *request)
{
    request->command->status = ISER_RESERVATION_CONFLICT;
}

/* Sets an attention for the nexuses of another initiator's present or former registration. */
static void tell(const struct request *request, const struct iser_registration *registration,
                 iser_attention_t attention)
{
    struct iser_scsi_nexus *nexus = request->lu->target->nexuses;

    for (; nexus; nexus = nexus->next)
        if (nexus->tag == registration->tag && strcmp(nexus->port, registration->port) == 0)
            iser_attention_set(nexus, request->lu, attention);
}

static void tell_registrants(const struct request *request, iser_attention_t attention)
{
    for (const struct iser_registration *r = request->lu->registrations; r; r = r->next)
        if (r != request->own)
            tell(request, r, attention);
}

/* Removes a registration from the list. */
static void drop(struct iser_lu *lu, struct iser_registration *registration)
{
    struct iser_registration **link = &lu->registrations;

    /* It is in the list. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
    while (*link != registration)
        link = &(*link)->next;
    *link = registration->next;
    lu->registration_count--;
    free(registration);
}

/* Ends the reservation; registrants that shared its rights get an attention. */
static void release(const struct request *request)
{
    struct iser_lu *lu = request->lu;

    if (lu->reservation >= 5)
        tell_registrants(request, ISER_ATTENTION_RELEASED);
    lu->reservation = 0;
    for (struct iser_registration *r = lu->registrations; r; r = r->next)
        r->holder = false;
}

static void reserve(const struct request *request)
{
    request->lu->reservation = request->type;
    request->own->holder = !iser_reservation_is_all(request->type);
}

static bool holds(const struct request *request)
{
    return request->own->holder || iser_reservation_is_all(request->lu->reservation);
}

/* ---- Service actions ---------------------------------------------------------------------- */

static void unregister(struct request *request)
{
    struct iser_lu *lu = request->lu;
    bool last = lu->registration_count == 1;

    if (lu->reservation && (request->own->holder || last))
        release(request);
    drop(lu, request->own);
    request->own = NULL;
}

/* The caller has compared the key for REGISTER. */
static void do_register(struct request *request)
{
    struct iser_lu *lu = request->lu;

    if (request->service_key == 0) {
        if (request->own)
            unregister(request);
    } else if (request->own) {
        request->own->key = request->service_key;
    } else if (!iser_registration_add(lu, request->nexus->port, request->nexus->tag,
                                      request->service_key)) {
        iser_fault(request->command, ISER_NO_REGISTRATIONS);
        return;
    }
    lu->persists = request->persists;
    lu->generation++;
}

static void do_reserve(struct request *request)
{
    if (request->lu->reservation == 0)
        reserve(request);
    else if (!holds(request) || request->lu->reservation != request->type)
        conflict(request);
}

static void do_release(struct request *request)
{
    if (request->lu->reservation == 0 || !holds(request))
        return;
    if (request->lu->reservation != request->type)
        iser_fault(request->command, ISER_BAD_RELEASE);
    else
        release(request);
}

static void do_clear(struct request *request)
{
    tell_registrants(request, ISER_ATTENTION_PREEMPTED);
    iser_registrations_free(request->lu);
    request->own = NULL;
    request->lu->generation++;
}

/* Ends the commands of initiators that are no longer registered. */
static void abort_commands(const struct request *request,
                           const struct iser_registration *registration)
{
    struct iser_scsi_nexus *nexus = request->lu->target->nexuses, *next;

    for (; nexus; nexus = next) {
        next = nexus->next;
        if (nexus != request->nexus && nexus->preempted && nexus->tag == registration->tag &&
            strcmp(nexus->port, registration->port) == 0) {
            nexus->preempted(nexus->argument, request->command->lun);
            request->command->aborts = true;
        }
    }
}

/*
 * Removes the registrations with the key, or all, except the request's own. Returns their number.
 */
static unsigned remove_others(const struct request *request, bool all)
{
    struct iser_registration *r = request->lu->registrations, *next;
    unsigned removed = 0;

    for (; r; r = next) {
        next = r->next;
        if (r == request->own || (!all && r->key != request->service_key))
            continue;
        tell(request, r, ISER_ATTENTION_UNREGISTERED);
        if (request->action == PREEMPT_AND_ABORT)
            abort_commands(request, r);
        drop(request->lu, r);
        removed++;
    }
    return removed;
}

/* Returns true if the request preempts the reservation, and not only registrations. */
static bool preempts_reservation(const struct request *request)
{
    const struct iser_registration *holder = holder_of(request->lu);

    if (request->lu->reservation == 0)
        return false;
    if (iser_reservation_is_all(request->lu->reservation))
        return request->service_key == 0;
    return holder && holder->key == request->service_key;
}

static void do_preempt(struct request *request)
{
    struct iser_lu *lu = request->lu;
    bool taken = preempts_reservation(request);

    if (request->service_key == 0 && !taken) {
        iser_fault_field(request->command, ISER_FIELD_LIST, 8);
        return;
    }
    if (remove_others(request, taken && request->service_key == 0) == 0 && !taken) {
        conflict(request);
        return;
    }
    if (taken) {
        if (lu->reservation != request->type)
            tell_registrants(request, ISER_ATTENTION_RELEASED);
        for (struct iser_registration *r = lu->registrations; r; r = r->next)
            r->holder = false;
        reserve(request);
    }
    lu->generation++;
}

static bool parse_request(struct iser_scsi_command *command, struct request *request)
{
    const uint8_t *list = command->data;

    *request = (struct request){.command = command,
                                .lu = command->lu,
                                .nexus = command->nexus,
                                .action = command->cdb[1] & 0x1f,
                                .type = command->cdb[2] & 0x0f,
                                .key = iser_get64(list),
                                .service_key = iser_get64(list + 8),
                                .persists = (list[20] & APTPL) != 0};
    request->own = iser_registration_find(command->lu, command->nexus->port, command->nexus->tag);
    /* SPEC_I_PT and ALL_TG_PT are not supported, APTPL only with a state file. */
    if ((list[20] & ~APTPL) || (request->persists && !command->lu->target->state))
        return iser_fault_field(command, ISER_FIELD_LIST, 20);
    return true;
}

static bool key_matches(const struct request *request)
{
    if (request->action == REGISTER_AND_IGNORE)
        return true;
    if (!request->own)
        return request->action == REGISTER && request->key == 0;
    return request->own->key == request->key;
}

void iser_prout_run(struct iser_scsi_command *command)
{
    static void (*const actions[])(struct request *) = {
        [REGISTER] = do_register,
        [RESERVE] = do_reserve,
        [RELEASE] = do_release,
        [CLEAR] = do_clear,
        [PREEMPT] = do_preempt,
        [PREEMPT_AND_ABORT] = do_preempt,
        [REGISTER_AND_IGNORE] = do_register,
    };
    struct request request;
    bool persisted = command->lu->persists;

    if (!parse_request(command, &request))
        return;
    if (!key_matches(&request)) {
        conflict(&request);
        return;
    }
    if ((persisted || request.persists) && !iser_undo_begin(command)) {
        iser_fault(command, ISER_INTERNAL_FAILURE);
        return;
    }
    command->lu->target->changes++;
    actions[request.action](&request);
    if (command->status == ISER_GOOD && command->fault.key == 0 &&
        (persisted || command->lu->persists) && !iser_state_snapshot(command))
        iser_fault(command, ISER_INTERNAL_FAILURE);
}
