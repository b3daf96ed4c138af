# SPDX-License-Identifier: BSD-2-Clause
# Chooses the kernel: the newest one whose image, headers and source have the same version.

apt_options=(-q -o APT::Sandbox::User=root)

# Our own package lists, which need no root, in case the machine has none or outdated ones.
version_own_lists() {
    apt_options+=(-o "Dir::State::Lists=$cache/apt/lists" -o "Dir::Cache=$cache/apt")
}

version_update() {
    say 'fetching package lists'
    mkdir -p "$cache/apt/lists/partial" "$cache/apt/archives/partial"
    version_own_lists
    if ! apt-get "${apt_options[@]}" -o APT::Update::Error-Mode=any update >"$cache/log" 2>&1; then
        rm -rf "$cache/apt"
        return 1
    fi
    touch "$cache/apt/lists"
}

version_releases() { # the kernel releases that have an image, newest first
    local wanted=${ITAPI_VM_KERNEL-}
    apt-cache "${apt_options[@]}" pkgnames "linux-image-$wanted" |
        sed -n 's/^linux-image-\([0-9].*\)-amd64-unsigned$/\1/p' |
        grep -Ev -e '-(rt|cloud)$' | sort -rV
}

version_in_all() { # version_in_all PACKAGE...: newest version that each of them has
    apt-cache "${apt_options[@]}" madison "$@" |
        awk -F ' *[|] *' -v all=$# '
            { sub(/^ */, "", $1) }
            !(($1, $2) in seen) { seen[$1, $2]; if (++count[$2] == all) print $2 }' |
        sort -rV | head -n 1
}

# version_find: sets release, version and packages (image, headers, common, kbuild, source).
version_find() {
    local series kbuild
    [ ! "$cache/apt/lists" -nt /var/lib/apt/lists ] || version_own_lists
    while read -r release; do
        series=$(grep -oE '^[0-9]+\.[0-9]+' <<<"$release")
        for kbuild in "$release" "$series"; do
            packages=("linux-image-$release-amd64-unsigned" "linux-headers-$release-amd64"
                "linux-headers-$release-common" "linux-kbuild-$kbuild" "linux-source-$series")
            version=$(version_in_all "${packages[@]}")
            [ -z "$version" ] || return 0
        done
    done < <(version_releases)
    return 1
}
