# SPDX-License-Identifier: BSD-2-Clause
# For scripts that run a server in the background; to be sourced. Such a server prints
# "listening on port N" first.

folder=$(mktemp -d)
server_pid=
reader_pid=
trap 'end_server; rm -rf "$folder"' EXIT

fail() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    end_server
    [ ! -s "$folder/server.log" ] || sed 's/^/server | /' "$folder/server.log" >&2
    exit 1
}

# start_server COMMAND...: returns when the server listens; sets port. What it prints goes to
# $folder/server.log.
start_server() {
    local line output
    coproc SERVER { exec "$@" 2>&1; }
    server_pid=$SERVER_PID
    exec {output}<&"${SERVER[0]}"
    read -r -t 60 line <&"$output" || line="the server did not start"
    printf '%s\n' "$line" >"$folder/server.log"
    cat <&"$output" >>"$folder/server.log" &
    reader_pid=$!
    exec {output}<&-
    port=${line##* }
    [[ $line == "listening on port "* ]] || fail "$line"
}

# wait_server: its exit status, when it ends by itself.
wait_server() {
    local status=0
    wait "$server_pid" || status=$?
    server_pid=
    wait "$reader_pid" || true
    return "$status"
}

end_server() {
    if [ -n "$server_pid" ]; then
        kill "$server_pid" 2>/dev/null || true
        wait_server || true
    fi
}

# has_ipv6: whether ::1 is there.
has_ipv6() {
    grep -qs '^0\{31\}1 ' /proc/net/if_inet6
}
