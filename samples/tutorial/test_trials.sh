#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test_trials.sh SOURCE_DIR BUILD_DIR: the faults that docs/tutorial.md proposes to try, done to copies of the steps, show
# what it says.
set -euo pipefail
factor=${ITAPI_TIME_FACTOR:-1} # of all time limits
source=$1 build=$2
. "$source/samples/common/server.bash"

cp "$source"/samples/tutorial/*.[ch] "$folder"
cd "$folder"
export ITAPI_LOG=info

compile() { # compile NAME STEP FILE EXPRESSION [FILE EXPRESSION]: the step, with files changed
    local name=$1 step=$2 files=(sockets.c objects.c convert.c)
    shift 2
    rm -rf "$name.d"
    mkdir "$name.d"
    cp ./*.[ch] "$name.d"
    while [ $# -gt 0 ]; do
        sed -i "$2" "$name.d/$1"
        ! cmp -s "$1" "$name.d/$1" || fail "$name: nothing has changed in $1"
        shift 2
    done
    (cd "$name.d" && "${CC:-cc}" -DITAPI_ENABLE_V21_BINDINGS -I"$source/include" -o "../$name" "$step.c" "${files[@]}" \
        -L"$build/lib" -litapi -Wl,-rpath,"$build/lib")
}

# shown WORDS CLIENT: whether it fails, and it or the server says the words.
shown() {
    local status=0
    timeout $((60 * factor)) "$2" client 127.0.0.1 "$port" one >client.log 2>&1 || status=$?
    end_server
    [ "$status" = 1 ] && grep -qF "$1" client.log server.log
}

shows() {
    shown "$@" || { cat client.log; fail "$2: no word of \"$1\""; }
}

compile unknown step2 objects.c 's/"uiwarp"/"nowarp"/'
start_server "$build/bin/tutorial/step2" server
shows 'no Interface nowarp' ./unknown

compile silent step4 objects.c '/it_post_recv/s/ | IT_NOTIFY_FLAG//; s/IT_TIMEOUT_INFINITE/300000/'
# An echo that arrives before the wait begins, or after it has ended, shows nothing: a matter of luck.
for ((tries = 0; tries < 50; tries++)); do
    start_server "$build/bin/tutorial/step4" server
    ! shown 'time is up, and 1 event is in the queue' ./silent || break
done
[ "$tries" -lt 50 ] || { cat client.log; fail 'the wait does not say that its event is there'; }

compile unready step4 objects.c '/make_endpoint(rdma);/,$s/^    rdma_post_receive(rdma);//'
start_server ./unready server
shows 'no receive was posted' "$build/bin/tutorial/step4"

compile small step4 objects.c '/rdma_piece(rdma, IN_AT, LINE_SIZE)/s/LINE_SIZE/2/'
start_server ./small server
shows 'the receive was too small' "$build/bin/tutorial/step4"

compile closed step5 objects.c 's/IT_PRIV_LOCAL | IT_PRIV_REMOTE/IT_PRIV_LOCAL/'
start_server "$build/bin/tutorial/step5" server
shows 'a key was refused' ./closed
