# SPDX-License-Identifier: BSD-2-Clause
# Read by "programs": starts pairs of uDAPL programs and checks their output. A caller sets
#   name, address          of the IA: its name in dat.conf, and the address that a client uses
#   server_conf, client_conf
#   folder                 for their output
#   on_server, on_client   words in front of their commands, if any

factor=${ITAPI_TIME_FACTOR:-1} # of all time limits
on_server=() on_client=()
server=                        # its pid while it runs

say() { printf '%s\n' "$*"; }

fail() {
    printf 'programs: %s\n' "$*" >&2
    for output in server client; do
        [ ! -s "$folder/$output" ] || { echo "-- $output:" && tail -n 25 "$folder/$output"; } >&2
    done
    exit 1
}

kill_server() {
    [ -z "$server" ] || kill -KILL "$server" 2>/dev/null || true
}

# A started program costs the virtual machine as much as the pause itself: the shell waits for a pipe that nobody writes.
exec {nothing}<> <(:)
pause() { read -r -t "$1" -u "$nothing" || true; }

# wait_until COMMAND...: waits until it succeeds, for up to 30 s times the factor. The server must live.
wait_until() {
    local deadline=$((SECONDS + 30 * factor))
    until "$@"; do
        kill -0 "$server" 2>/dev/null || fail "the server has ended: $server_command"
        [ "$SECONDS" -lt "$deadline" ] || fail "not in time: $*: $server_command"
        pause 0.02
    done
}

# listens PORT: succeeds if a TCP socket of any process listens there.
listens() {
    local hex table sockets
    printf -v hex ':%04X' "$1"
    for table in tcp tcp6; do
        sockets=$(<"/proc/net/$table")
        [[ ! $sockets =~ $hex\ [0-9A-F]+:0000\ 0A ]] || return 0
    done
    return 1
}

# The programs have line-buffered output, so that the lines of a killed program are not lost.
start_server() { # start_server COMMAND...
    server_command=$*
    DAT_OVERRIDE=$server_conf "${on_server[@]}" stdbuf -oL "$@" >"$folder/server" 2>&1 </dev/null &
    server=$!
}

# server_ends: waits for it for up to 30 s times the factor.
server_ends() {
    local deadline=$((SECONDS + 30 * factor))
    while kill -0 "$server" 2>/dev/null && [ "$SECONDS" -lt "$deadline" ]; do
        pause 0.02
    done
    ! kill -0 "$server" 2>/dev/null
}

# finish_server: waits for its end. It must be successful.
finish_server() {
    local status=0
    server_ends || fail "the server does not end: $server_command"
    wait "$server" || status=$?
    server=
    [ "$status" = 0 ] || fail "status $status: $server_command"
}

client() { # client COMMAND...: must end well
    local status=0
    DAT_OVERRIDE=$client_conf timeout $((60 * factor)) "${on_client[@]}" stdbuf -oL "$@" \
        >"$folder/client" 2>&1 </dev/null ||
        status=$?
    [ "$status" = 0 ] || fail "status $status: $*"
}

# said OUTPUT PATTERN / silent OUTPUT PATTERN
said() {
    grep -qE -- "$2" "$folder/$1" || fail "the $1 does not say '$2'"
}
silent() {
    ! grep -qE -- "$2" "$folder/$1" || fail "the $1 says '$2'"
}

# too_early: dtest's server prints its address a moment before it listens. A device refuses a client
# that is faster, and the client ends. uiwarp tries again for 300 ms; a server on a busy machine may
# take longer.
too_early() {
    grep -qs 'conn event : 0x4003' "$folder/client" &&
        say "$1 was refused: again"
}

# loses_count PROGRAM: dtestcm's server counts events and frees an EP at each of them, of any kind. If
# one EP is established after another has ended, it frees that EP and waits for its end for ever.
loses_count() {
    [ "$1" = dtestcm ] && ! server_ends && say "$1 has lost count of its events: again"
}

# loses_sends PROGRAM: dtestsrq's client disconnects when it has the last message. On rxe that can overtake
# the acknowledgement, and the server's Send is flushed.
loses_sends() {
    [ "$name" != itapi-lo ] && [ "$1" = dtestsrq ] && server_ends &&
        grep -qs 'ERROR: DTO REQ size 0, status 1' "$folder/server" && say "$1's client has left too soon: again"
}

pairs=0 again=0 # all of a run, and what of them was started again

tell_again() {
    [ "$pairs" = 0 ] || say "== $again of $pairs pairs were started again"
}

# answered_too_soon: an initiator on siw fails if the responder's first message is there before it
# has read the Reply. dapltest's client then waits for the end of that connection for ever; dtest's ends.
answered_too_soon() {
    [ "$name" != itapi-lo ] &&
        grep -qsE 'conn_event_wait .*NON_PEER_REJECTED|CONN_ERR event=0x6 status=-22' "$folder/client" &&
        say 'the client was answered too soon: again'
}

# left_too_soon: the server disconnects when it has the client's last message. On rxe that can overtake the
# acknowledgement, and the client's Send is flushed.
left_too_soon() {
    [ "$name" != itapi-lo ] && grep -qs 'Client_Sync_Send-reaping DTO problem' "$folder/client" &&
        say "dapltest's server has left too soon: again"
}

# dapltest_client ARGUMENT...: must end well. If the server was too fast, both start again.
dapltest_client() {
    local client attempt status=0
    for ((attempt = 0; attempt < 5; attempt++)); do
        DAT_OVERRIDE=$client_conf timeout $((60 * factor)) "${on_client[@]}" stdbuf -oL dapltest "$@" \
            >"$folder/client" 2>&1 </dev/null &
        client=$!
        while kill -0 "$client" 2>/dev/null && ! answered_too_soon >/dev/null; do
            pause 0.02
        done
        pairs=$((pairs + 1))
        answered_too_soon || left_too_soon || break
        again=$((again + 1))
        kill "$client" 2>/dev/null || true
        kill_server
        wait "$client" "$server" 2>/dev/null || true
        dapltest_server
    done
    wait "$client" || status=$?
    [ "$status" = 0 ] || fail "status $status: dapltest $*"
}

# pair READY PROGRAM SERVER-ARGUMENTS -- CLIENT-ARGUMENTS: READY is the port on which the server reports its address, or
# what it prints when it listens.
pair() {
    local ready=(listens "$1") program=$2 arguments=() attempt
    [[ $1 =~ ^[0-9]+$ ]] || ready=(grep -q "$1" "$folder/server")
    shift 2
    while [ "$1" != -- ]; do
        arguments+=("$1")
        shift
    done
    shift
    for ((attempt = 0; attempt < 5; attempt++)); do
        start_server "$program" -P "$name" "${arguments[@]}"
        wait_until "${ready[@]}"
        client "$program" -P "$name" -h "$address" "$@"
        pairs=$((pairs + 1))
        too_early "$program" || answered_too_soon || loses_count "$program" || loses_sends "$program" || break
        again=$((again + 1))
        kill_server
        wait "$server" 2>/dev/null || true
    done
    finish_server
}
