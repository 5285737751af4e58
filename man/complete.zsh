#compdef @NAME@
# Completion of @NAME@ in zsh, made from its --help.

# LIST KIND...: adds words of these kinds.
@FUNCTION@_words() {
    local list=$1 kind
    local -a words
    shift
    for kind; do
        case $kind in
        files) _files ;;
        backends) words+=(${(f)"$(COLLET_PROBE=off backend-info 2>/dev/null | sed -n '/^$/q; s/^[* ] \([^ ]*\) .*/\1/p')"}) ;;
        ops) words+=(${(f)"$(COLLET_PROBE=off backend-bench --list 2>/dev/null | sed '1d; s/ .*//')"}) ;;
        *) words+=($kind) ;;
        esac
    done
    (( $#words )) || return
    if [[ $list == list ]]; then
        _sequence -s , compadd - $words
    else
        compadd -a words
    fi
}

@FUNCTION@() {
    local rows='
@ROWS@
'
    local command section line word text option
    local -a specs commands row names
    for line in ${(f)rows}; do
        row=("${(@s:|:)line}")
        [[ $row[2] != @ ]] || commands+=("$row[1]:$row[6]")
    done
    for word in ${words[2,CURRENT-1]}; do
        if (( ${commands[(I)$word:*]} )); then
            command=$word
            break
        fi
    done
    # A command without options of its own has the program's.
    section=$command
    [[ $rows == *$'\n'"$command|"[^@]* ]] || section=
    for line in ${(f)rows}; do
        row=("${(@s:|:)line}")
        [[ $row[1] == "$section" && $row[2] != @ ]] || continue
        text=${${${row[6]//\[/\\[}//\]/\\]}//:/\\:}
        names=(${=row[2]})
        for option in $names; do
            if [[ -z $row[5] ]]; then
                specs+=("($names)${option}[$text]")
            elif [[ $option == --* ]]; then
                specs+=("($names)${option}=[$text]:${row[5]//:/\\:}:{@FUNCTION@_words $row[3] $row[4]}")
            else
                specs+=("($names)${option}+[$text]:${row[5]//:/\\:}:{@FUNCTION@_words $row[3] $row[4]}")
            fi
        done
        (( $#names )) || specs+=("*: :{ @FUNCTION@_words one $row[4]; [[ -n '$command' ]] || _describe command commands }")
    done
    [[ -n $command || -n ${(M)specs:#\*: :*} ]] || specs+=("*: :{ _describe command commands }")
    _arguments -s : $specs
}
@FUNCTION@ "$@"
