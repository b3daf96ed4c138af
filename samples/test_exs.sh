#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test_exs.sh EXS_PROGRAM...: runs each sample of Extended Sockets with files of several sizes.
set -euo pipefail
factor=${ITAPI_TIME_FACTOR:-1} # of all time limits
. "$(dirname "${BASH_SOURCE[0]}")/common/server.bash"

head -c 0 /dev/urandom >"$folder/empty"
head -c 1 /dev/urandom >"$folder/one"
head -c 3000003 /dev/urandom >"$folder/large"

# run PROGRAM CLIENT_ARGUMENT...
run() {
    timeout $((60 * factor)) "$1" client 127.0.0.1 "$port" "${@:2}" >"$folder/client.log" 2>"$folder/client.err" ||
        { cat "$folder/client.err"; fail "${1##*/} ${*:2}: the client failed"; }
}

for program; do
    name=${program##*/}
    status=0
    "$program" nonsense 2>"$folder/usage" || status=$?
    [ "$status" = 2 ] && grep -q 'client HOST PORT FILE' "$folder/usage" || fail "$name: usage"
    start_server "$program" server
    for file in empty one large; do
        length=$(stat -c %s "$folder/$file")
        run "$program" "$folder/$file" $([ "$name" != exs_many ] || echo 20)
        if [ "$name" = exs_files ]; then
            cmp "$folder/$file" "$folder/client.log" || fail "$name: $file is another one"
        else
            grep -q "^$length octets came back" "$folder/client.log" || fail "$name: $file"
        fi
    done
    # The server has outlived a client that was killed.
    if [ "$name" = exs_many ] || [ "$name" = exs_files ]; then
        timeout -s KILL 0.05 "$program" client 127.0.0.1 "$port" "$folder/large" 50 >/dev/null 2>&1 || true
        run "$program" "$folder/one"
    fi
    kill -0 "$server_pid" || fail "$name: the server has ended"
    end_server
done

status=0
timeout $((60 * factor)) "$1" client 127.0.0.1 1 "$folder/one" 2>"$folder/client.log" || status=$?
[ "$status" = 1 ] && grep -q 'Connection refused' "$folder/client.log" || fail 'connecting to nobody'
