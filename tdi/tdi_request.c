/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_socket_request: passes a live socket to a listen point. */
#include "tdi/tdi_socket.h"
#include "ual/object/ual_provider.h"

#include <fcntl.h>
#include <unistd.h>

static it_status_t tdi_request_check(const char *call, const struct ual_ia *ia, int sd)
{
    struct tdi_socket stream;
    it_status_t status;

    if (!tdi_socket_examine(sd, &stream))
        return base_refuse(IT_ERR_INVALID_CONVERSION, call,
                           "sd %d is no established TCP connection", sd);
    status = ia->provider->has_address(ia, &stream.local);
    if (status == IT_SUCCESS || status == IT_ERR_RESOURCES)
        return status;
    return base_refuse(IT_ERR_INVALID_CONVERSION, call, "sd %d has no address of %s", sd, ia->name);
}

it_status_t itx_socket_request(int sd, it_listen_handle_t listen_handle)
{
    struct ual_listen *listen = ual_listen_from(listen_handle);
    struct ual_ia *ia;
    it_status_t status;
    int fd;

    if (!listen)
        return base_refuse_handle(IT_ERR_INVALID_LISTEN, __func__, listen_handle);
    ia = ual_ia_of(&listen->object);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    status = tdi_request_check(__func__, ia, sd);
    if (status != IT_SUCCESS)
        return status;
    if (!VP_PROVIDER_HAS(ia->provider, socket_request))
        return base_refuse(IT_ERR_OP_NOT_SUPPORTED, __func__,
                           "%s takes connections only from its own ports", ia->name);
    fd = fcntl(sd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return IT_ERR_RESOURCES;
    status = ia->provider->socket_request(listen, fd);
    if (status != IT_SUCCESS)
        (void)close(fd); /* cannot lose data: it is a duplicate */
    return status;
}
