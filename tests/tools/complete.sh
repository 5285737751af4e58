#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# complete.sh SHELL FILES: completes command lines in SHELL, bash or zsh, with the files of man/complete.sh in FILES. The programs
# are found in PATH.
set -euo pipefail
shell=$1 files=$(cd "$2" && pwd)
command -v "$shell" >/dev/null || { echo "$shell is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
touch film.h5 film.txt weights.npy

# Each line is COMMAND LINE|WORDS. The words before "-" must be completions of the command line, the words after it must
# not.
lines='backend-bench --dtype f3|f32 - f64
backend-bench --dtype=f32,bf|f32,bf16 - f16
backend-bench --backend cpu_s|cpu_scalar
backend-bench ban|bandwidth - dispatch
backend-bench matm|matmul
backend-bench --thr|--threads - --json
backend-bench calibrate --dry|--dry-run
backend-info cpu|cpu_scalar
backend-info --require |gpu
backend-info --explain matm|matmul
backend-check --quick cpu_sc|cpu_scalar
collet-extract --pbc no|nojump none - whole
collet-extract --drift li|linear - angular
collet-extract --each re|residue
collet-extract film.|film.h5 film.txt - weights.npy
collet-ternary |pack unpack info run
collet-ternary pack --format tq|tq2_0 tq1_0 - planes
collet-ternary pack --lay|- --layer
collet-ternary unpack --lay|--layer
collet-ternary run --labels we|weights.npy
collet-rsoxs view --field |fraction S theta psi
collet-rsoxs make |sphere core-shell cylinders euler
collet-rsoxs val|validate
collet-rsoxs --dtype f|f32 f64 - f16
collet-merge --outp|--output - --quiet
collet-analyse --periodic x|x xy - y
collet-analyse film.|film.h5
collet-analyse film.h5 diffusion-|diffusion-tensor
collet-analyse film.h5 pmf --jaco|--jacobian'

# in_bash LINE: prints the completions, one a line. As in bash itself, "=" is a separate word.
in_bash() {
    bash --norc -c '
        . "$1"
        read -ra COMP_WORDS <<<"${2//=/ = }"
        [[ $2 != *" " ]] || COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$2 COMP_POINT=${#2}
        compopt() { :; }
        function=$(complete -p "${COMP_WORDS[0]}" | sed "s/.* -F \([^ ]*\) .*/\1/")
        "$function" "${COMP_WORDS[0]}"
        printf "%s\n" "${COMPREPLY[@]}"' bash "$files/bash/${1%% *}" "$1"
}

# in_zsh LINE: prints the completions in zsh, which needs a terminal. The words that zsh's completion adds are written
# to the file `hits`.
cat >.zshrc <<END
PROMPT= RPROMPT=
fpath=("$files/zsh" \$fpath)
autoload -Uz compinit && compinit -u -D
zstyle ':completion:*' completer _complete
compadd() {
    [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]] || {
        local -a hits
        builtin compadd -A hits "\$@"
        print -lr -- \$hits >>"$work/hits"
    }
    builtin compadd "\$@"
}
finish() { _main_complete; print end >>"$work/hits" }
zle -C finish complete-word finish
bindkey '^I' finish
print ready >>"$work/ready"
END
in_zsh() {
    rm -f hits ready
    ZDOTDIR=$work TERM=dumb zsh -f -c '
        zmodload zsh/zpty
        zpty inner zsh -i
        wait_for() { local i; for i in {1..200}; do grep -qx "$1" "$2" 2>/dev/null && return; zpty -rt inner _; sleep 0.05; done }
        wait_for ready ready
        zpty -n -w inner "$1"$'"'\\t'"'
        wait_for end hits
        zpty -d inner' zsh "$1"
    grep -vx end hits || true
}

failed=0
while IFS='|' read -r line words; do
    # The completions of collet-analyse are made only if Python has NumPy.
    [[ $line != collet-analyse* ]] || [ -e "$files/bash/collet-analyse" ] || continue
    found=$(in_"$shell" "$line")
    wanted=1
    for word in $words; do
        [ "$word" != - ] || { wanted=0; continue; }
        # zsh's completions lack the text before a comma, and the "=" after an option.
        has=0
        if grep -qxF -e "$word" -e "${word##*,}" -e "$word=" <<<"$found"; then has=1; fi
        [ $has = $wanted ] || { echo "'$line': $word: expected $wanted, found: ${found//$'\n'/ }" >&2; failed=1; }
    done
done <<<"$lines"
exit $failed
