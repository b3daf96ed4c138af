#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test_it_perf_trouble.sh IT_PERF: what cannot be done is refused in one line, what goes wrong is told, and nothing is left behind.
set -euo pipefail
factor=${ITAPI_TIME_FACTOR:-1} # of all time limits
here=$(dirname "${BASH_SOURCE[0]}")
. "$here/../samples/common/server.bash"

it_perf=$1
client=
trap '[ -z "$client" ] || kill -KILL "$client" 2>/dev/null || true; end_server; rm -rf "$folder"' EXIT
few=(--runs 1 --iters 20)
# Longer than any of these tests waits.
endless=(--runs 1 --seconds 3600 --measure bw --size 64k)

# ends STATUS TEXT COMMAND...: the command has that exit status and one line with TEXT on stderr.
ends() {
    local status=0
    timeout $((60 * factor)) "${@:3}" >"$folder/output" 2>"$folder/errors" || status=$?
    [ "$status" = "$1" ] || fail "exit status $status, not $1: ${*:3}: $(cat "$folder/errors")"
    [ -z "$2" ] || grep -qi -- "$2" "$folder/errors" || fail "nothing about \"$2\": ${*:3}: $(cat "$folder/errors")"
}

# server_tells COUNT TEXT: at least COUNT lines of the server hold TEXT (the client that is killed may add one). A guest's line may come after the next guest is served.
server_tells() {
    timeout $((60 * factor)) bash -c 'until [ "$(grep -c -- "$1" "$2")" -ge "$0" ]; do sleep 0.1; done' "$1" "$2" "$folder/server.log" ||
        fail "the server does not say $1 times: $2"
}

refused() { # refused TEXT ARGUMENTS...: wrong usage
    ends 2 "$1" "$it_perf" "${@:2}"
    [ "$(wc -l <"$folder/errors")" = 1 ] || fail "more than a line: ${*:2}: $(cat "$folder/errors")"
    [ ! -s "$folder/output" ] || fail "output of wrong usage: ${*:2}"
}

refused 'wanted is "server"'
refused 'wanted is' --loopback server
refused 'wanted is' client
refused 'wanted is' compare one
refused "unrecognized option '--nothing'" --loopback --nothing
refused "'--size' requires an argument" --loopback --size
while read -r option text; do
    refused "^it_perf: --$option takes .*, not \"$text\"$" --loopback "--$option" "$text"
done <<'END'
op fetch
measure all
size 2g
size -1
sizes 4k:64
sizes 1,,2
mode sleep
spin -1
crc yes
depth 0
transport verbs
reference itapi
seconds 0
seconds 0x1
seconds nan
iters 0
runs 1001
pin 1
pin 0,1024
port 65536
port http
congestion a-name-that-is-too-long
END
refused '--size or --sizes' --loopback --size 1 --sizes 1,2
refused '--iters .* or .* --seconds' --loopback --seconds 1 --iters 1
refused '--spin is for --mode wait' --loopback --spin 5
refused '--coalesce is for' --loopback --coalesce
refused '--local is for' --loopback --local
refused '--local is not for plain TCP' --loopback --measure bw --local --reference tcp
refused 'percentiles' --loopback --measure bw --percentiles
refused 'wakes no thread' --loopback --op write --measure lat --mode wait
refused 'wakes no thread' --loopback --op write --measure lat --mode client
refused '--mode client is not for TCP' --loopback --measure bw --mode client --reference tcp
refused 'nothing to measure' --loopback --sizes 1,0 --measure bw
refused '--reference' --loopback --transport tcp --reference tcp
refused '--ia' --loopback --transport all --ia uiwarp
for option in --verify --strict-heap --coalesce --local '--crc off' '--ia uiwarp'; do
    # shellcheck disable=SC2086
    refused 'not for plain TCP' --loopback --measure bw --transport tcp $option
done
refused '--congestion is for plain TCP' --loopback --congestion reno
refused '--sums is for plain TCP' --loopback --sums
refused '--once is for "server"' --loopback --once
refused '--tolerance is for "compare"' client localhost --tolerance 1
refused '--port' client localhost --port 0
refused '--size is for the client' server --size 64
refused '--json is not for' compare --json one two
refused 'No such file' compare "$folder/none" "$folder/none"
ends 1 'congestion control "nowhere"' "$it_perf" --loopback --transport tcp --congestion nowhere
ends 1 'it_ia_create of "nowhere0"' "$it_perf" --loopback --ia nowhere0
[ "$(wc -l <"$folder/errors")" = 1 ] || fail "a second line, about the other process: $(cat "$folder/errors")"
ends 1 'cannot connect' "$it_perf" client 127.0.0.1 --port 1
ends 1 'Name or service not known\|name resolution' "$it_perf" client nobody.invalid

# ---- Output that is lost

ends 1 'output is lost' sh -c '"$@" >/dev/full' sh "$it_perf" --loopback "${few[@]}"
ends 1 'output is lost' sh -c '"$@" >/dev/full' sh "$it_perf" --loopback "${few[@]}" --json
ends 1 'output is lost' sh -c '"$@" >/dev/full' sh "$it_perf" --help
# If stdout is closed, a socket with its number would get the table.
ends 1 'output is lost' sh -c '"$@" >&-' sh "$it_perf" --loopback "${few[@]}"
ends 0 '' sh -c '"$@" <&- 2>&-' sh "$it_perf" --loopback "${few[@]}"

# A line of progress appears only on a terminal. A message has its own line.
ends 0 '' "$it_perf" --loopback "${few[@]}"
[ ! -s "$folder/errors" ] || fail "progress without a terminal: $(cat "$folder/errors")"
if command -v script >/dev/null; then
    on_terminal() {
        timeout $((60 * factor)) script -qec "'$it_perf' --loopback $*" "$folder/terminal" >/dev/null </dev/null || true
    }
    on_terminal --runs 2 --iters 20
    grep -q 'send lat, 64 bytes: uiwarp, run 2 of 2' "$folder/terminal" || fail 'no progress on a terminal'
    on_terminal --ia nowhere0
    grep -q "$(printf '\r\033\\[Kit_perf: it_ia_create')" "$folder/terminal" || fail 'a message behind a line of progress'
fi

# An interruption loses the current run, but no finished results.
if command -v python3 >/dev/null; then
    python3 - "$it_perf" <<'END' || fail 'an interrupted run loses its results'
import json, os, pty, signal, subprocess, sys
terminal, shown = pty.openpty()
client = subprocess.Popen([sys.argv[1], "--loopback", "--json", "--sizes", "1,2,4", "--runs", "100", "--iters", "20"],
                          stdout=subprocess.PIPE, stderr=shown)
progress = b""
while b"2/3 " not in progress:
    progress += os.read(terminal, 4096)
client.send_signal(signal.SIGINT)
results = json.loads(client.communicate(timeout=60)[0])
assert client.returncode == 128 + signal.SIGINT, client.returncode
assert results and [result["size"] for result in results] == [1, 2, 4][:len(results)], results
END
fi

# ---- Peers

# client_runs: starts the client as $client in the background; returns when the server has its
# connection.
client_runs() {
    "$it_perf" client 127.0.0.1 --port "$port" "${endless[@]}" >/dev/null 2>"$folder/errors" &
    client=$!
    for _ in {1..500}; do
        ! grep -qsE " [0-9A-F]+:$(printf %04X "$port") [0-9A-F]+:[0-9A-F]{4} 01 " /proc/net/tcp /proc/net/tcp6 || return 0
        sleep 0.05
    done
    fail 'the client does not connect'
}

# Another program listens there.
if command -v python3 >/dev/null; then
    start_server python3 -c '
import socket
listener = socket.create_server(("127.0.0.1", 0))
print("listening on port", listener.getsockname()[1], flush=True)
connection = listener.accept()[0]
connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
connection.recv(4096)'
    ends 1 "the server on 127.0.0.1 port $port is not an it_perf" "$it_perf" client 127.0.0.1 --port "$port" "${few[@]}"
    wait_server || true
fi

start_server "$it_perf" server --port 0
ends 1 'cannot listen' "$it_perf" server --port "$port"
# Guests do not keep a server from serving the next client.
exec 3<>"/dev/tcp/127.0.0.1/$port"
printf 'GET / HTTP/1.0\r\n' >&3 || fail 'the server does not take what is said to it'
ends 0 '' "$it_perf" client 127.0.0.1 --port "$port" "${few[@]}"
exec 3>&-
client_runs
kill -KILL "$client"
wait "$client" 2>/dev/null || true
client=
ends 0 '' "$it_perf" client 127.0.0.1 --port "$port" "${few[@]}"
# Nor does a client that dies after it has sent its parameters and before it connects.
if command -v python3 >/dev/null; then
    for transport in itapi tcp; do
        python3 "$here/cut_client.py" "$port" "$transport" "$it_perf" client 127.0.0.1 --transport "$transport" "${few[@]}" ||
            fail "a client that is cut off, $transport"
        ends 0 '' "$it_perf" client 127.0.0.1 --port "$port" "${few[@]}"
    done
    server_tells 2 'the client left before it connected'
fi
server_tells 1 'the client is not an it_perf'

client_runs
kill -KILL "$server_pid"
status=0
wait "$client" || status=$?
client=
[ "$status" = 1 ] || fail "exit status $status of a client whose server died"
[ -s "$folder/errors" ] || fail 'nothing is said of a server that died'
wait_server 2>/dev/null || true

# ---- The other process of --loopback

is_alive() {
    grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$1/status"
}

for signal in TERM KILL; do
    "$it_perf" --loopback "${endless[@]}" >/dev/null 2>&1 &
    client=$!
    for _ in {1..500}; do
        child=$(grep -lsx "PPid:[[:space:]]*$client" /proc/[0-9]*/status || true)
        [ -z "$child" ] || break
        sleep 0.05
    done
    [ -n "$child" ] || fail 'there is no second process'
    child=$(basename "$(dirname "$child")")
    kill -"$signal" "$client"
    wait "$client" 2>/dev/null || true
    client=
    for _ in {1..500}; do
        is_alive "$child" || break
        sleep 0.05
    done
    ! is_alive "$child" || fail "SIG$signal leaves the server behind"
done
