#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# release.sh SOURCE WORK: tests tools/dev/release.sh in a repository in WORK with the files of SOURCE: first a dry run,
# then a release in which stand-ins replace the long steps.
set -euo pipefail
source=$1 work=$2
git -C "$source" rev-parse HEAD >/dev/null 2>&1 || { echo "the sources are no git repository"; exit 77; }
rm -rf "$work"
mkdir -p "$work/tree"
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
(cd "$source" && git ls-files -z --cached --others --exclude-standard --deduplicate | xargs -0 ls -d 2>/dev/null | tar -c --no-recursion -T - -f -) | tar -x -C "$work/tree"
cd "$work/tree"
git init -q .
git add -Af .
git commit -qm sources
version=$(tools/dev/project.sh)

fail() {
    printf 'release.sh: %s\n%s\n' "$*" "$(cat "$work/output")" >&2
    exit 1
}

# expect STATUS TEXT ARGUMENT...: tools/dev/release.sh with these arguments exits with STATUS and prints TEXT.
expect() {
    local status=0 wanted=$1 text=$2
    shift 2
    tools/dev/release.sh "$@" >"$work/output" 2>&1 || status=$?
    [ $status = "$wanted" ] || fail "$*: exit status $status, not $wanted"
    grep -qF -- "$text" "$work/output" || fail "$*: '$text' was not printed"
}

steps="check version interface commit matrix all packages wheel bundle site tag checksums"
expect 0 "To publish it:" --dry-run "$version"
[ "$(sed -n 's/^== \([a-z]*\)$/\1/p' "$work/output" | paste -sd ' ')" = "$steps" ] || fail "the steps are not $steps"
for command in tools/dev/matrix.sh './bootstrap.sh test --all' tools/dev/deb.sh tools/dev/wheel.sh tools/dev/bundle.sh './bootstrap.sh docs'; do
    grep -qF "    $command" "$work/output" || fail "the dry run does not print $command"
done
for machine in x86_64 aarch64; do
    grep -q "    tools/dev/wheel.sh .*/python $machine " "$work/output" || fail "the dry run makes no wheel for $machine"
done
[ -z "$(git status --porcelain)" ] && [ ! -e build-release ] && [ -z "$(git tag)" ] || fail "the dry run changed the tree"
expect 1 "not three numbers" --dry-run 1.0rc1
expect 1 "there is no step 'nothing'" --from nothing "$version"
expect 1 "CHANGELOG.md has no section '## 9.9.9, unreleased'" --dry-run 9.9.9
expect 2 "release.sh [--dry-run]"
echo >>README.md
expect 1 "the tree has changes" --dry-run "$version"
git checkout -q README.md

# A release of the next version: one step fails, and the next run continues with that step.
next=7.8.9
for script in tools/dev/{matrix,deb,wheel,bundle}.sh tools/dev/interface.py bootstrap.sh; do
    cat >$script <<'END'
#!/bin/bash
[ $(basename "$0") != bundle.sh ] || [ -e ../mended ] || { echo "bundle.sh fails"; exit 1; }
[ -z "${1-}" ] || [ "${1#/}" = "$1" ] || { mkdir -p "$1" && echo "$0" >"$1/file"; }
[ "${1-}" != docs ] || { mkdir -p build-docs/html && echo site >build-docs/html/index.html; }
END
done
sed -i "0,/^## .*/s//## $next, unreleased/" CHANGELOG.md
sed -i "1s/(.*)/($next)/" debian/changelog
echo 'build*/' >>.git/info/exclude
git commit -qam "stand-ins"
mkdir "$work/bin"
printf '#!/bin/sh\n[ "$1" = -c ] && [ "$2" = "import pycparser" ] || exec %s "$@"\n' "$(command -v python3)" >"$work/bin/python3"
chmod +x "$work/bin/python3"
PATH=$work/bin:$PATH
expect 1 "the step bundle failed; when it is mended: tools/dev/release.sh --from bundle $next" "$next"
[ -z "$(git tag)" ] || fail "a tag of an unfinished release"
touch ../mended
expect 0 "git push origin HEAD \"v$next\"" --from bundle "$next"
! grep -q '^== matrix' "$work/output" || fail "a step was repeated"
[ "$(git tag)" = "v$next" ] && [ "$(git log -1 --format=%s "v$next")" = "Collet $next" ] || fail "the tag is $(git tag)"
[ "$(git show "v$next:include/collet/types.h" | grep -c "\"$next\"")" = 1 ] || fail "types.h has not the version"
grep -qx "## $next, $(date -u +%Y-%m-%d)" CHANGELOG.md || fail "CHANGELOG.md has no date"
(cd "build-release/$next" && sha256sum --quiet -c SHA256SUMS && [ "$(wc -l <SHA256SUMS)" = 4 ]) || fail "$(cat "build-release/$next/SHA256SUMS")"
expect 1 "the tag v$next exists" "$next"
