# SPDX-License-Identifier: BSD-2-Clause
# Makes the folder of an image: kernel and modules unpacked, siw built and put among them.

# build_image FOLDER RELEASE VERSION COUNT APT-OPTION... PACKAGE...: all but the initramfs.
build_image() {
    local folder=$1 root=$1/root release=$2 version=$3 options=("${@:5:$4}") package
    shift $((4 + $4))
    mkdir "$root" "$folder/download"
    (cd "$folder/download" && apt-get "${options[@]}" download "${@/%/=$version}")
    for package in "$folder"/download/*.deb; do
        case ${package##*/} in
        linux-source-*) ;;
        *) dpkg-deb -x "$package" "$root" ;;
        esac
    done
    # Some releases have / merged into /usr in the package already.
    [ -d "$root/lib/modules" ] || mv "$root/usr/lib/modules" "$root/lib/"
    siw_build "$folder"/download/linux-source-*.deb "$root" "$release"
    depmod -b "$root" "$release-amd64"
    mv "$root/boot/vmlinuz-$release-amd64" "$folder/vmlinuz"
    mkdir "$folder/lib"
    mv "$root/lib/modules" "$folder/lib/"
    rm -rf "$root" "$folder/download"
    printf '%s-amd64\n' "$release" >"$folder/release"
}
