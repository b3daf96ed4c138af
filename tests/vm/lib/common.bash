# SPDX-License-Identifier: BSD-2-Clause
# Messages, statuses, processes.

readonly STATUS_SKIP=77    # this machine cannot run a guest
readonly STATUS_TIME=124   # the command was over its time
readonly STATUS_BROKEN=125 # the guest, not the command, failed

readonly FACTOR=${ITAPI_TIME_FACTOR:-1} # of all time limits

say() { printf 'vm: %s\n' "$*" >&2; }

broken() {
    say "$*"
    exit "$STATUS_BROKEN"
}

cannot() {
    say "cannot run here: $*"
    exit "$STATUS_SKIP"
}

# Another process may get the same pid later, but not the same pid and start time.
process_identity() { # process_identity PID
    local stat
    read -r stat 2>/dev/null <"/proc/$1/stat" || return 1
    # The name may have spaces and parentheses, so fields are counted from the last parenthesis.
    set -- "$1" ${stat##*) }
    # A zombie counts as gone.
    [ "$2" != Z ] && printf '%s.%s' "$1" "${21}"
}

process_alive() { # process_alive IDENTITY
    [ -n "$1" ] && [ "$(process_identity "${1%.*}")" = "$1" ]
}

# wait_gone IDENTITY SECONDS: waits until the process is gone, for SECONDS times the factor of all limits
wait_gone() {
    local deadline=$((SECONDS + $2 * FACTOR))
    while process_alive "$1"; do
        [ "$SECONDS" -lt "$deadline" ] || return 1
        sleep 0.02
    done
}

need_tools() { # need_tools COMMAND:PACKAGE...: all that are missing in one line
    local tool missing=''
    for tool in "$@"; do
        command -v "${tool%%:*}" >/dev/null || missing+=" ${tool##*:}"
    done
    [ -z "$missing" ] || cannot "missing packages:$missing"
}

need_space() { # need_space FOLDER MEBIBYTES
    local free
    free=$(($(df --output=avail -B 1M "$1" | tail -n 1)))
    [ "$free" -ge "$2" ] || cannot "no space: $free MiB free in $1, $2 needed"
}

# line_read DESCRIPTOR SECONDS: sets line. If the time ends in the middle of a line, line_part keeps
# the first part for the next call. A process may use one descriptor only.
line_part=''
line_read() {
    local status=0
    # Not "IFS= read": a trap that runs during the read would see that IFS.
    read -r -t "$2" -u "$1" || status=$?
    line_part+=$REPLY
    [ "$status" = 0 ] || return 1
    line=$line_part
    line_part=''
}
