# Prints what zsh offers for the line in $1, one a line, by completing it in an interactive zsh. The
# script that completes lies here as _runner.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PROMPT= PS2=; fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D'
zpty -w shell 'unset zle_bracketed_paste'
# Every candidate goes through compadd, which is asked here for those that match.
zpty -w shell 'compadd() {
  local -a matching
  if [[ ${@[1,(i)(-|--)]} != *-[OAD]\ * ]]; then
    builtin compadd -O matching "$@"
    for candidate in $matching; do echo "OFFER:$IPREFIX$candidate"; done
  fi
  builtin compadd "$@"
}'
# Both marks are printed by the line editor: a key that comes before it reads is one of the terminal.
zpty -w shell 'zle-line-init() { echo REA""DY }; complete() { zle complete-word; echo DO""NE }'
zpty -w shell 'zle -N complete; bindkey "^I" complete; zle -N zle-line-init'
zpty -r shell out '*READY*'
zpty -w -n shell "$1"$'\t'
zpty -r shell out '*DONE*'
print -r -- ${out//$'\r'/} | grep -a 'OFFER:' | sed 's/.*OFFER://'
exit 0
