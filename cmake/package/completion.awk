# SPDX-License-Identifier: MIT
# Shell completion from help texts: of mxq, then of each command, each after a line "@ COMMAND"
# ("@" alone for mxq's own).
#   awk -v shell=bash|zsh|fish -f completion.awk
function quoted(text) { # for single quotes, without what the shells' tables give a meaning to
  gsub(/'/, "", text)
  gsub(/\[|\]|:|\\/, " ", text)
  return text
}
/^@/ { command = $2; part = ""; usage = 0; next }
/^[A-Z][a-z]+:$/ { part = $0; next }
part == "Commands:" && /^  [a-z]/ {
  names[++count] = $1
  summary = $0
  sub(/^ +[^ ]+ +/, "", summary)
  summaries[$1] = quoted(summary)
}
part == "Usage:" && command != "" && /^  mxq / {
  if ($3 ~ /^(NAME|\[?PATTERN)/) takes_names[command] = 1
  if ($3 ~ /^[a-z]+\|[a-z|]+$/) { words[command] = $3; gsub(/\|/, " ", words[command]) }
}
part == "Options:" && match($0, /--[a-z-]+/) {
  option = substr($0, RSTART + 2, RLENGTH - 2)
  rest = substr($0, RSTART + RLENGTH)
  value = ""
  if (match(rest, /^ [^ ]+ /)) value = substr(rest, 2, RLENGTH - 2)
  sub(/^( [^ ]+)? +/, "", rest)
  options[command] = options[command] " --" option
  option_count[command]++
  key = command SUBSEP option_count[command]
  option_names[key] = option
  option_values[key] = value
  option_helps[key] = quoted(rest)
}
function bash(   i, name) {
  print "# bash completion for mxq, made from its --help"
  print "_mxq() {"
  print "  local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} options= words= names="
  print "  COMPREPLY=()"
  printf "  if ((COMP_CWORD == 1)); then\n    COMPREPLY=($(compgen -W '"
  for (i = 1; i <= count; i++) printf "%s ", names[i]
  print "--help --version' -- \"$current\"))\n    return\n  fi"
  print "  case $command in"
  for (i = 1; i <= count; i++) {
    name = names[i]
    printf "    %s) options='%s' words='%s' names=%s ;;\n", name, substr(options[name], 2), words[name], takes_names[name]
  }
  print "  esac"
  print "  if [[ $current == -* ]]; then"
  print "    COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))"
  print "  elif [[ -n $words ]]; then"
  print "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))"
  print "  elif [[ -n $names && ${COMP_WORDS[COMP_CWORD-1]} != -* ]]; then"
  print "    COMPREPLY=($(compgen -W \"$(\"${COMP_WORDS[0]}\" list 2>/dev/null)\" -- \"$current\"))"
  print "  fi"
  print "}\ncomplete -o default -F _mxq mxq"
}
function zsh(   i, k, name, key) {
  print "#compdef mxq\n# Made from mxq --help.\n_mxq() {\n  local -a commands\n  commands=("
  for (i = 1; i <= count; i++) printf "    '%s:%s'\n", names[i], summaries[names[i]]
  print "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    return\n  fi"
  print "  case $words[2] in"
  for (i = 1; i <= count; i++) {
    name = names[i]
    printf "    %s)\n      _arguments", name
    for (k = 1; k <= option_count[name]; k++) {
      key = name SUBSEP k
      printf " \\\n        '--%s[%s]%s'", option_names[key], option_helps[key], option_values[key] == "" ? "" : ":" quoted(option_values[key]) ":_files"
    }
    printf " \\\n        '*:operand:%s' ;;\n", words[name] != "" ? "(" words[name] ")" : takes_names[name] ? "($(mxq list 2>/dev/null))" : "_files"
  }
  print "  esac\n}\n_mxq \"$@\""
}
function fish(   i, k, name, key) {
  print "# fish completion for mxq, made from its --help"
  for (i = 1; i <= count; i++) {
    name = names[i]
    printf "complete -c mxq -n __fish_use_subcommand -f -a %s -d '%s'\n", name, summaries[name]
    for (k = 1; k <= option_count[name]; k++) {
      key = name SUBSEP k
      printf "complete -c mxq -n '__fish_seen_subcommand_from %s' -l %s%s -d '%s'\n", name, option_names[key], option_values[key] == "" ? "" : " -r", option_helps[key]
    }
    if (words[name] != "") printf "complete -c mxq -n '__fish_seen_subcommand_from %s' -f -a '%s'\n", name, words[name]
    else if (takes_names[name]) printf "complete -c mxq -n '__fish_seen_subcommand_from %s' -f -a '(mxq list 2>/dev/null)'\n", name
  }
}
END {
  if (shell == "bash") bash()
  else if (shell == "zsh") zsh()
  else fish()
}
