#!/bin/sh
# SPDX-License-Identifier: MIT
# Man pages and shell completion from what the built programs print for --help.
#   describe.sh MXQ MXQ_BENCH VERSION FOLDER
set -eu
here=$(dirname "$0")
mxq=$1 bench=$2 version=$3 out=$4
rm -rf "$out"
mkdir -p "$out/man"
export LC_ALL=C

commands=$("$mxq" --help | awk '/^[A-Z]/ { on = /^Commands:/ } on && /^  / { print $1 }')
[ -n "$commands" ]
pages='mxq-bench(1)'
for command in $commands; do pages="$pages, mxq-$command(1)"; done

page() { # title, what else to see; the help on standard input
  awk -v title="$1" -v version="$version" -v see="$2" -f "$here/man.awk"
}
"$mxq" --help | page MXQ "$pages" >"$out/man/mxq.1"
"$bench" --help | page MXQ-BENCH 'mxq(1)' >"$out/man/mxq-bench.1"
{
  echo @
  "$mxq" --help
} >"$out/helps"
for command in $commands; do
  "$mxq" "$command" --help >"$out/help"
  page "MXQ-$(echo "$command" | tr a-z A-Z)" 'mxq(1)' <"$out/help" >"$out/man/mxq-$command.1"
  {
    echo "@ $command"
    cat "$out/help"
  } >>"$out/helps"
done
for shell in bash zsh fish; do
  awk -v shell=$shell -f "$here/completion.awk" <"$out/helps" >"$out/mxq.$shell"
done
rm "$out/help" "$out/helps"
