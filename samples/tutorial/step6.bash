# SPDX-License-Identifier: BSD-2-Clause
# For scripts that try a step 6, of C or of another language; to be sourced behind common/server.bash.
# They set `bin`, the folder of the steps in C, and `factor`, that of all time limits.

tcp=$'echo by TCP: one\necho by TCP: two words'
rdma=$'echo by RDMA: one\necho by RDMA: two words'

expect() { # expect TEXT LINES
    [ "$2" = "$1" ] || fail "not \"$1\" but: $2"
}

# client PROGRAM...: what it prints.
client() {
    timeout $((60 * factor)) "$@" client 127.0.0.1 "$port" one 'two words' 2>&1 || fail "$*: the client fails"
}

# serve_clients PROGRAM...: as the server of clients of TCP and of RDMA at once.
serve_clients() {
    local clients=() number
    start_server "$@" server
    # Connected, and silent: it holds nobody up.
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    for number in 1 2 3 4; do
        timeout $((60 * factor)) "$bin/step4" client 127.0.0.1 "$port" one 'two words' >"$folder/client$number" 2>&1 &
        clients+=($!)
    done
    expect "$tcp" "$(client "$bin/step1")"
    for number in 1 2 3 4; do
        wait "${clients[number - 1]}" || fail "client $number: $(cat "$folder/client$number")"
        expect "$rdma" "$(cat "$folder/client$number")"
    done
    exec 3>&-
    expect "$rdma" "$(client "$bin/step4")"
    end_server
}
