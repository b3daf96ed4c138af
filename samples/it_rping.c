/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_rping: pings by RDMA, understood by rping of the package rdmacm-utils on the other side.
 *
 *     client                                   server
 *     ------                                   ------
 *     Send: where the source is          ->
 *                                        <-    RDMA Read of the source
 *                                        <-    Send: go on
 *     Send: where the sink is            ->
 *                                        <-    RDMA Write into the sink, of what was read
 *                                        <-    Send: go on
 *
 * Each ping does that once; then the client disconnects.
 */
#include "it_rping_client.h"
#include "it_rping_server.h"

int main(int argc, char *argv[])
{
    struct adapter adapter;
    struct options options;
    bool done;
    int status;

    report_program("it_rping");
    status = options_parse(argc, argv, &options);
    if (status >= 0)
        return status;
    report_traces(options.debug);
    if (!adapter_open(&adapter, options.ia))
        return EXIT_FAILED;
    done = options.server ? server_run(&adapter, &options) : client_run(&adapter, &options);
    adapter_close(&adapter);
    return done ? EXIT_FINE : EXIT_FAILED;
}
