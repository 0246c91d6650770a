#!/usr/bin/env bash
# Makes the Debian package: controller/packages/debian.sh WHEEL FOLDER, for `make deb`. Debian's tools want a folder `debian` and leave much in
# it, so they work in a copy.
set -euo pipefail
wheel=$(realpath "$1") folder=$(realpath "$2")
packages=$(dirname "$(realpath "$0")")
version=$(basename "$wheel" | cut -d- -f2)
for tool in dpkg-buildpackage dh; do
    command -v $tool > /dev/null || { echo "$tool is not there: apt install dpkg-dev debhelper"; exit 2; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/wayname"
cp -r "$packages/debian" "$work/wayname/debian"
# Not by its own name: debhelper would put it in the place of the package's changelog.
cp "$packages/../../CHANGELOG.md" "$work/wayname/NEWS.md"
cd "$work/wayname"
# Same sources, same package: its times are those of the last commit.
epoch=${SOURCE_DATE_EPOCH:-$(git -C "$packages" log -1 --format=%ct 2> /dev/null || date +%s)}
export SOURCE_DATE_EPOCH=$epoch PACKAGES=$packages WHEEL=$wheel
cat > debian/changelog <<END
wayname ($version) stable; urgency=medium

  * What is new stands in /usr/share/doc/wayname/NEWS.md.gz.

 -- Wayname <wayname@localhost>  $(date -R -d "@$epoch")
END
# dpkg-checkbuilddeps would ask for what `make deb` has by other ways.
dpkg-buildpackage --build=binary --no-sign --no-check-builddeps > build.log 2>&1 || { tail -30 build.log; exit 1; }
mkdir -p "$folder"
cp "$work"/*.deb "$folder/"
ls "$folder"/wayname_"$version"_*.deb
