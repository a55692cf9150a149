# Prints what zsh offers for the line in $1, one a line, by completing it in an interactive zsh. The
# script that completes lies here as _runner.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PROMPT= PS2=; fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D'
zpty -w shell 'unset zle_bracketed_paste; bindkey "^I" complete-word'
# Every candidate goes through compadd, which is asked here for those that match.
zpty -w shell 'compadd() {
  local -a matching
  if [[ ${@[1,(i)(-|--)]} != *-[OAD]\ * ]]; then
    builtin compadd -O matching "$@"
    for candidate in $matching; do echo "OFFER:$IPREFIX$candidate"; done
  fi
  builtin compadd "$@"
}'
zpty -w shell 'echo REA""DY'
zpty -r shell out '*READY*'
zpty -w -n shell "$1"$'\t'
# Empties the line, whatever was put into it.
zpty -w shell $'\x15echo DO""NE'
zpty -r shell out '*DONE*'
print -r -- ${out//$'\r'/} | grep -a 'OFFER:' | sed 's/.*OFFER://'
exit 0
