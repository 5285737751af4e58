#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# release.sh [--dry-run] [--from STEP] VERSION: makes a release of the last commit, step by step, in
# build-release/VERSION/. The script pushes and uploads nothing: its last lines say what to type.
#   --dry-run    checks what it can, writes the version only in a temporary clone, prints the other steps' commands
#   --from STEP  continues with this step after a failure; the steps before it are not repeated
# Steps: check, version, interface, commit (the version, the date, the frozen interface), matrix, all (every test),
# packages (Debian's), wheel (two, with the sdist), bundle, site, tag (signed if git has a key), checksums.
# Needs a section "## VERSION, unreleased" in CHANGELOG.md, and VERSION as the first entry of debian/changelog.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
steps=(check version interface commit matrix all packages wheel bundle site tag checksums)
dry='' from='' version=''

fail() {
    echo "release.sh: $*" >&2
    exit 1
}

usage() {
    sed -n 's/^# \{0,1\}//; 3,9p' "$0" >&2
    exit 2
}

while [ $# != 0 ]; do
    case $1 in
    --dry-run) dry=1 ;;
    --from)
        from=${2-}
        [[ " ${steps[*]} " == *" $from "* ]] || fail "--from: there is no step '$from'; there are: ${steps[*]}"
        shift
        ;;
    -*) usage ;;
    *) [ -z "$version" ] && version=$1 || usage ;;
    esac
    shift
done
[ -n "$version" ] || usage
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "the version is '$version', not three numbers such as 0.1.0"
out=$PWD/build-release/$version
today=$(date -u +%Y-%m-%d)

# run COMMAND...: prints and runs the command; a dry run only prints it, and fails if the command does not exist.
run() {
    echo "    $*"
    [ -n "$dry" ] || { "$@"; return; }
    command -v "$1" >/dev/null || fail "$1 cannot be run"
}

step_check() {
    local first
    [ -z "$(git status --porcelain)" ] || fail "the tree has changes that are not committed: commit or remove them"
    ! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || fail "the tag v$version exists: choose the next version"
    tools/dev/project.sh check
    grep -qxE "## ${version//./\\.}, unreleased" CHANGELOG.md || fail "CHANGELOG.md has no section '## $version, unreleased': write it"
    first=$(sed -n '1s/^collet (\([^)]*\)) .*/\1/p' debian/changelog)
    [ "$first" = "$version" ] || fail "the first entry of debian/changelog is of '$first': add one of $version"
    python3 -c 'import pycparser' 2>/dev/null || [ -n "$dry" ] || fail "pycparser is missing: apt-get install python3-pycparser"
}

# Writes the version and today's date into the files of the current directory.
write_version() {
    tools/dev/project.sh set "$version"
    tools/dev/project.sh check
    sed -i "s/^## $version, unreleased\$/## $version, $today/" CHANGELOG.md
    sed -i "1s/ UNRELEASED;/ unstable;/; 0,/^ -- /s/^\( -- .*>  \).*/\1$(date -uR)/" debian/changelog
}

step_version() {
    local clone
    if [ -z "$dry" ]; then
        write_version
        return
    fi
    clone=$(mktemp -d)
    git clone -q --shared --no-checkout . "$clone"
    git -C "$clone" sparse-checkout set --no-cone '/*' '!/tests/' '!/docs/' # neither has the version
    git -C "$clone" checkout -q
    (cd "$clone" && write_version && git diff --stat)
    rm -rf "$clone"
}

step_interface() { run tools/dev/interface.py; }
step_commit() {
    run git add -A
    run git commit -q -m "Collet $version"
}
step_matrix() { run tools/dev/matrix.sh; }
step_all() { run ./bootstrap.sh test --all; }
step_packages() { run tools/dev/deb.sh "$out/debian"; }
step_wheel() {
    local machine
    for machine in x86_64 aarch64; do
        run tools/dev/wheel.sh "$out/python" "$machine" "$out/sysroot/$machine"
    done
}
step_bundle() {
    run rm -rf "$out/collet-bundle"
    run tools/dev/bundle.sh "$out/collet-bundle"
    run tar -C "$out" -caf "$out/collet-bundle-$version.tar.xz" collet-bundle
}
# ./bootstrap.sh docs writes the site into build-docs/html.
step_site() {
    run ./bootstrap.sh docs
    run tar -C build-docs -caf "$out/collet-site-$version.tar.xz" html
}
step_tag() {
    local how=-a
    [ -z "$(git config user.signingkey)" ] || how=-s
    run git tag "$how" "v$version" -m "Collet $version"
}
step_checksums() {
    echo "    sha256sum of every file, in $out/SHA256SUMS"
    [ -n "$dry" ] || (cd "$out" && find . -type f -not -path './sysroot/*' -not -path './collet-bundle/*' \
        -not -name SHA256SUMS -print0 | sort -z | xargs -0 sha256sum >SHA256SUMS)
}

[ -n "$dry" ] || mkdir -p "$out"
for step in "${steps[@]}"; do
    [ -z "$from" ] || [ "$from" = "$step" ] || continue
    from=''
    start=$SECONDS
    echo "== $step"
    # The step runs in a shell of its own, where an error ends it.
    set +e
    (set -e && "step_$step")
    status=$?
    set -e
    [ $status = 0 ] || fail "the step $step failed; when it is mended: tools/dev/release.sh --from $step $version"
    printf '== %s: %d s\n' "$step" $((SECONDS - start))
done
cat <<END

Collet $version is in $out. To publish it:
    git push origin HEAD "v$version"
    twine upload $out/python/*
    dput ftp-master $out/debian/*.changes   # or copy the packages into your archive
and the other files of $out with SHA256SUMS to the page of the release. Then write the sha256 of its source archive into
packaging/conda/recipe.yaml and packaging/spack/package.py, and offer them to conda-forge and Spack.
END
