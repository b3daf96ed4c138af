#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test_gallery.sh BIN_DIR: each program of the gallery does what its first lines say; all, with the tutorial, have less
# than 200 lines.
set -euo pipefail
factor=${ITAPI_TIME_FACTOR:-1} # of all time limits
here=$(dirname "${BASH_SOURCE[0]}")
. "$here/../common/server.bash"

bin=$1

run() { # run PROGRAM ARGUMENT...: what it prints
    timeout $((60 * factor)) "$bin/$1" "${@:2}" 2>&1 || fail "$1 fails"
}

expect() { # expect TEXT LINES
    [ "$2" = "$1" ] || fail "not \"$1\" but: $2"
}

# together COUNT PROGRAM ARGUMENT...: as many at once; their output, sorted.
together() {
    local clients=() number
    for ((number = 0; number < $1; number++)); do
        timeout $((60 * factor)) "$bin/$2" "${@:3}" >"$folder/client$number" 2>&1 &
        clients+=($!)
    done
    for ((number = 0; number < $1; number++)); do
        wait "${clients[number]}" || fail "$2 fails: $(cat "$folder/client$number")"
    done
    sort -n "$folder"/client[0-9]*
    rm "$folder"/client[0-9]*
}

start_server "$bin/read_write" server
expect $'found: welcome\nwritten: one' "$(run read_write client 127.0.0.1 "$port" one)"
expect $'found: one\nwritten: two' "$(run read_write client 127.0.0.1 "$port" two)"
end_server

start_server "$bin/counter" server
expect "$(seq 0 79)" "$(together 4 counter client 127.0.0.1 "$port" 20)"
end_server

head -c 12345678 /dev/urandom >"$folder/file"
start_server "$bin/file_copy" server "$folder/file"
expect 'copied: 12345678 octets' "$(run file_copy client 127.0.0.1 "$port" "$folder/copy")"
cmp "$folder/file" "$folder/copy"
end_server

printf '%s\n' 'colour blue' 'size nine and a half' 'colour green' >"$folder/pairs"
start_server sh -c 'exec "$0" server <"$1"' "$bin/kv_cache" "$folder/pairs"
# The pairs come in while the first clients ask.
for ((tries = 0; tries < 100 * factor; tries++)); do
    output=$(timeout $((60 * factor)) "$bin/kv_cache" client 127.0.0.1 "$port" colour size) && [[ $output == *green* ]] && break
    sleep 0.05
done
expect $'colour: green\nsize: nine and a half' "$output"
! timeout $((60 * factor)) "$bin/kv_cache" client 127.0.0.1 "$port" weight >"$folder/log" || fail 'a key is found that is not there'
expect 'weight is not there' "$(cat "$folder/log")"
end_server

for server in callbacks many_clients; do
    start_server "$bin/$server"
    expect "$(printf 'echo: %s\n' one{,,,,,,,} two{,,,,,,,})" "$(together 8 echo_client 127.0.0.1 "$port" one two)"
    expect 'echo: two words' "$(run echo_client 127.0.0.1 "$port" 'two words')"
    if [ "$server" = callbacks ]; then
        kill "$server_pid" # SIGTERM ends it in order
        wait_server || fail 'callbacks fails at its end'
        grep -qx 'served: 17 messages' "$folder/server.log" || fail 'callbacks has counted something else'
    fi
    end_server
done

for file in "$here"/*.[ch] "$here"/../hello*.c "$here"/../tutorial/*; do
    [ "$(wc -l <"$file")" -lt 200 ] || fail "200 lines or more: $file"
done
