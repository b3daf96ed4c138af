#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test_it_info.sh IT_INFO LIBITAPI SANITIZER: text, JSON, lines for dat.conf, exit statuses, and why a
# module is missing.
set -euo pipefail

it_info=$1 library=$2 sanitizer=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# status WANTED COMMAND...: leaves what it prints in $folder/out and $folder/err.
status() {
    local wanted=$1 got=0
    shift
    "$@" >"$folder/out" 2>"$folder/err" || got=$?
    [ "$got" = "$wanted" ] || fail "exit status $got, not $wanted: $* $(cat "$folder/err")"
}

has() { # has PATTERN: in what was printed
    grep -qE -- "$1" "$folder/out" || fail "no line like $1 in: $(cat "$folder/out")"
}

status 0 "$it_info"
has '^uiwarp +iwarp .*127\.0\.0\.1'
has '^uiwarp:lo +iwarp .*127\.0\.0\.1'
has '^Take uiwarp'
[ "$(grep -c '^uiwarp ' "$folder/out")" = 1 ] || fail 'more than a line of uiwarp'
status 2 "$it_info" --all uiwarp
status 0 "$it_info" --all
has '^uiwarp: iwarp$'
has '^ +addresses +127\.0\.0\.1$'
! grep -qE '^    vendor$' "$folder/out" || fail 'a heading without anything below it'
has '^ +requests +[1-9][0-9]*$'
has '^ +socket_conversion +yes$'
status 0 "$it_info" uiwarp
[ "$(grep -c '^[^ ]' "$folder/out")" = 1 ] || fail 'uiwarp alone was asked for'
status 3 "$it_info" nowhere
grep -q 'no Interface nowhere' "$folder/err" || fail 'an unknown name is not complained about'
status 2 "$it_info" --nonsense
status 2 "$it_info" one two
status 0 "$it_info" --help
status 0 "$it_info" --version
has '^it_info 2\.'
status 1 sh -c '"$0" >/dev/full' "$it_info"
grep -q 'output is lost' "$folder/err" || fail 'a full disk is not told of'
status 1 sh -c '"$0" --json >&-' "$it_info"
status 3 "$it_info" --json nowhere

status 0 "$it_info" --json
has '^  "version": "'
has '"name": "uiwarp",$'
has '"online": true,$'
has '"connect_to": \[$'
if command -v python3 >/dev/null; then
    python3 - "$folder/out" <<'END' || fail 'JSON of another shape'
import json, sys
told = json.load(open(sys.argv[1]))
uiwarp = [i for i in told["interfaces"] if i["name"] == "uiwarp"][0]
assert uiwarp["transport"] == "iwarp"
assert "127.0.0.1" in uiwarp["spigots"][0]["addresses"]
assert uiwarp["limits"]["ird"] > 0 and uiwarp["limits"]["message_bytes"] > 0
assert uiwarp["features"]["atomics"] is True and uiwarp["features"]["datagrams"] is False
providers = {p["name"]: p for p in told["providers"]}
assert providers["uiwarp"]["obstacle"] == "none" and providers["uiwarp"]["interfaces"] > 0
for p in providers.values():
    assert (p["obstacle"] == "none") == (p["detail"] == ""), p
    assert "\n" not in p["detail"]
END
fi

# Lines for dat.conf: eight fields each, the names as uDAPL programs give them.
status 0 "$it_info" --dat-conf
has '^itapi u2\.0 nonthreadsafe default "libdaplitapi\.so\.1" itapi\.2\.0 "uiwarp" ""$'
has '^itapi-lo u2\.0 .* "uiwarp:lo" ""$'
! grep -qEv '^#|^itapi[^ ]* u2\.0 nonthreadsafe default "[^" ]+" itapi\.2\.0 "[^" ]+( sigpipe=ignore)?" ""$' "$folder/out" ||
    fail "a line that is none of dat.conf: $(cat "$folder/out")"
[ -z "$(grep -v '^#' "$folder/out" | cut -d ' ' -f 1 | sort | uniq -d)" ] || fail 'a name twice'
status 0 "$it_info" --dat-conf=/there/lib.so uiwarp:lo
[ "$(cat "$folder/out")" = 'itapi-lo u2.0 nonthreadsafe default "/there/lib.so" itapi.2.0 "uiwarp:lo" ""' ] ||
    fail "another line: $(cat "$folder/out")"
status 3 "$it_info" --dat-conf nowhere
status 2 "$it_info" --dat-conf --json

# What follows starts a copy of the library that has no module beside it. A library is found by its
# folder; sanitizers find theirs by other ways.
[ "$sanitizer" = none ] || exit 0
mkdir "$folder/lib"
cp "$library" "$folder/lib/libitapi.so.2"

# copy STATUS ARGUMENTS...: it_info with that copy.
copy() {
    local wanted=$1
    shift
    status "$wanted" env LD_PRELOAD="$folder/lib/libitapi.so.2" "$it_info" "$@"
}

copy 0
if ! grep -q 'no module itapi_verbs.so' "$folder/out"; then
    copy 0 --json # one is installed on this machine: then that is used
    has '"name": "verbs"'
else
    has '^provider verbs: no module itapi_verbs\.so'
    copy 0 --dat-conf
    has '^# provider verbs: no module itapi_verbs\.so'
    copy 0 --json
    has '"obstacle": "module"'
fi

mkdir "$folder/lib/itapi"
echo 'no library' >"$folder/lib/itapi/itapi_verbs.so"
copy 0 --json
has '"obstacle": "library"'
has 'itapi_verbs\.so: '

# One for other users. Who may read everything gives that up, as far as it is possible.
chmod 000 "$folder/lib/itapi/itapi_verbs.so"
chmod 755 "$folder" "$folder/lib" "$folder/lib/itapi"
barred=()
[ ! -r "$folder/lib/itapi/itapi_verbs.so" ] || barred=(setpriv --reuid=65534 --clear-groups)
if "${barred[@]}" test -x "$it_info" -a -r "$folder/lib/libitapi.so.2" 2>/dev/null &&
    "${barred[@]}" test ! -r "$folder/lib/itapi/itapi_verbs.so" && [ ! -e /usr/local/lib/itapi/itapi_verbs.so ]; then
    status 0 "${barred[@]}" env LD_PRELOAD="$folder/lib/libitapi.so.2" "$it_info"
    has '^provider verbs: .*/itapi_verbs\.so may not be read: Permission denied$'
fi
chmod 644 "$folder/lib/itapi/itapi_verbs.so"

# One that is linked with what is not there any more.
if command -v "${CC:-cc}" >/dev/null; then
    echo 'int gone(void) { return 0; }' >"$folder/gone.c"
    echo 'int gone(void); int uses(void); int uses(void) { return gone(); }' >"$folder/uses.c"
    "${CC:-cc}" -shared -fPIC -o "$folder/libgone.so" "$folder/gone.c"
    "${CC:-cc}" -shared -fPIC -o "$folder/lib/itapi/itapi_verbs.so" "$folder/uses.c" \
        -Wl,--no-as-needed -L"$folder" -lgone
    rm "$folder/libgone.so"
    copy 0
    has '^provider verbs: libgone\.so: cannot open shared object file'

    # A library, but no provider.
    "${CC:-cc}" -shared -fPIC -o "$folder/lib/itapi/itapi_verbs.so" "$folder/gone.c"
    copy 0 --json
    has '"obstacle": "module"'
fi
