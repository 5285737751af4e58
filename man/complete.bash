# Completion of @NAME@ in bash, made from its --help.                    -*- shell-script -*-

# Words of these kinds; "files" gives none.
@FUNCTION@_words() {
    local kind
    for kind; do
        case $kind in
        files) ;;
        backends) COLLET_PROBE=off backend-info 2>/dev/null | sed -n '/^$/q; s/^[* ] \([^ ]*\) .*/\1/p' ;;
        ops) COLLET_PROBE=off backend-bench --list 2>/dev/null | sed '1d; s/ .*//' ;;
        *) echo "$kind" ;;
        esac
    done
}

@FUNCTION@() {
    local rows='
@ROWS@
'
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' commands='' section word
    local where options many kinds value known='' found='' list='' wanted='' before=''
    # "--name=value" is three words.
    if [ "$cur" = "=" ]; then
        cur=''
    elif [ "$prev" = "=" ] && [ "$COMP_CWORD" -gt 2 ]; then
        prev=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    commands=$(sed -n 's/^\([^|]*\)|@|.*/\1/p' <<<"$rows")
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        if grep -qxF -e "$word" <<<"$commands"; then
            command=$word
            break
        fi
    done
    # A command without options of its own has the program's.
    section=$command
    [[ $rows == *$'\n'"$command|"[^@]* ]] || section=''
    while IFS='|' read -r where options many kinds value; do
        [ -n "$many" ] && [ "$where" = "$section" ] || continue
        if [ -z "$options" ]; then
            [ -n "$found" ] || wanted=$kinds
            continue
        fi
        [ "$options" = "@" ] || known+=" $options"
        if [ -n "$value" ] && [[ " $options " == *" $prev "* ]]; then
            found=1 wanted=$kinds list=$many
        fi
    done <<<"$rows"
    if [ -z "$found" ] && [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$known" -- "$cur")
        return
    fi
    [ -n "$found" ] || [ -n "$command" ] || wanted+=" $commands"
    if [ "$list" = list ] && [[ $cur == *,* ]]; then
        before=${cur%,*},
    fi
    # shellcheck disable=SC2086 # a list
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$(@FUNCTION@_words $wanted)" -- "${cur##*,}")
    if [[ " $wanted " == *" files "* ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$cur")
    fi
}
complete -F @FUNCTION@ @NAME@
