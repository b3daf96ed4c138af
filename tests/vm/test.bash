# SPDX-License-Identifier: BSD-2-Clause
# For test_*.sh of this folder: sets factor, vm (the script) and folder (empty, from the argument).

factor=${ITAPI_TIME_FACTOR:-1} # of all time limits
vm=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)/vm
mkdir -p "$1"
folder=$(cd "$1" && pwd -P)
stdout=$folder/stdout
stderr=$folder/stderr
# With two processors a machine boots in twice the time of the host's.
export ITAPI_VM_CPUS=${ITAPI_VM_CPUS:-1}
"$vm" stop "$folder/guest"
rm -rf "${folder:?}"/*
trap '"$vm" stop "$folder/guest"; rm -rf "$folder"' EXIT

fail() {
    echo "${0##*/}: line ${BASH_LINENO[${level:-0}]}: $*" >&2
    exit 1
}

is() { # is VALUE EXPECTED
    [ "$1" = "$2" ] || level=1 fail "is: $1; expected: $2"
}

expect() { # expect STATUS COMMAND...
    local expected=$1 status=0
    shift
    "$@" >"$stdout" 2>"$stderr" </dev/null || status=$?
    [ "$status" = "$expected" ] ||
        level=1 fail "$*: status $status, expected $expected: $(tail -n 5 "$stderr")"
}

wait_for() { # wait_for COMMAND...: to succeed, for up to a minute times the factor of all time limits
    local deadline=$((SECONDS + 60 * factor))
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$deadline" ] || level=1 fail "not in time: $*"
        sleep 0.05
    done
}
