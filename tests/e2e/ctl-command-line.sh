#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests how qosd-ctl reads its command line, and what it does on terminals: options in any place,
# abbreviations, mistyped words, help, completion by real shells, colours, the pager, --watch.
#
# promise: O11
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

topology=$top/examples/cluster.topo
node=H-f452140300811200
program=$build/qosd-ctl

# run ARGUMENT...: prints the exit status of qosd-ctl; its output is in the file out.
run() { timeout $((15 * slow)) "$program" "$@" >out 2>&1 </dev/null; echo $?; }
# says STATUS REGEXP ARGUMENT...: checks exit status and output.
says() {
	expect "exit status of '${*:3}'" "$1" "$(run "${@:3}")"
	expect_match "'${*:3}'" "$2" "$(<out)"
}

note "options in any place"
for line in "-s none status" "status -s none" "status --socket=none" "status --socket none" "-snone status" \
	"-js none status" "status -jsnone" "-s none -t1 status" "status -t 1 -s none" "policy -s none show --normal" \
	"policy --normal show -s none" "--normal -s none policy show" "route 1 -s none 2 --sl=3" \
	"route --sl 3 1 2 -s none" "--sl 3 -s none route 1 2" "-s none -- status" "status -s none --"; do
	read -ra words <<<"$line"
	says 2 "no daemon answers on none" "${words[@]}"
done
says 2 "no daemon answers on none" -s none sl2vl -- --help
says 1 "sl2vl: missing: PORT" sl2vl -s none --
says 1 "too many arguments: -s" status -- -s
says 1 "the option takes no value: --json" status --json=1
says 1 "the option needs a value: --socket" status --socket
says 1 "the option needs a value: --timeout" status -t
says 1 "no such option: -x" status -x
says 1 "timeout takes seconds.*not soon" status -t soon
says 1 "timeout takes seconds.* or a time with a unit .us, ms, s, m, h, d or w., not 1500ms" status -t 1500ms
says 2 "no daemon answers on none" -s none status -t 2m
says 1 "watch takes seconds.*or a time with a unit" status --watch=50ms
says 1 "color takes auto" status --color sometimes
says 1 "watch takes seconds" status --watch=0
says 2 "no such option: --frob" health --frob	# 1 would be a verdict

note "help"
says 0 "^usage: qosd-ctl .OPTION" --help
cp out help.all
expect "help" 0 "$(run help)"
expect_same "help and --help" help.all out
expect "-h" 0 "$(run -h)"
expect_same "help and -h" help.all out
for heading in "The subnet and its manager" "Ports, links and routes" "Partitions" "Subnet administrator" "Files"; do
	expect "heading $heading" 1 "$(grep -c "^$heading:$" help.all)"
done
expect "commands under their headings" "Partitions: Partitions: Subnet administrator: This program:" \
	"$(awk '/^[A-Z].*:$/ { h = $0 } /^  (partitions|partition apply|sa-stats|completion) / { print h }' help.all | paste -sd' ')"
for words in "help policy load" "policy load --help" "policy load -h" "--help policy load" "help pol lo" "policy -h load"; do
	read -ra line <<<"$words"
	says 0 "^usage: qosd-ctl policy load FILE \[--confirm SECONDS\] \[--force\] \[--wait\]" "${line[@]}"
	expect_match "'$words'" "--confirm SECONDS .*unless it is confirmed; 1 to 86400" "$(<out)"
	expect_match "'$words'" "FILE .*the policy; - is the standard input" "$(<out)"
	expect_match "'$words'" "qosd-ctl.8. describes it, at 'policy load'" "$(<out)"
done
says 0 "by KIND .*sort by one kind .groups mlids " help holdings
says 0 "usage: qosd-ctl holdings remove PORT.*usage: qosd-ctl holdings " help holdings
says 0 "usage: qosd-ctl policy history" help policy
says 1 "no such command: flie" help flie
# Each command, with each of its arguments, has a text, and is in the manual.
sed -nE 's/^  ([a-z][a-z0-9-]*( [a-z][a-z0-9-]*)?)( [A-Z[].*|  .*|)$/\1/p' help.all >commands
[ "$(wc -l <commands)" -ge 40 ] || bad "the commands are $(paste -sd, commands)"
while read -r words; do
	read -ra line <<<"$words"
	says 0 "usage: qosd-ctl $words" help "${line[@]}"
	expect "arguments of '$words' without a text" "" "$(grep -E '^  [A-Z-]' out | grep -vE ' {2,}[^ ].*[a-z]' | grep -vE '^  [^ ]+( [^ ]+)*$')"
	grep -qE "Ic ([a-z -]+, )*([a-z-]+ , )*$words( |$)" "$top/man/qosd-ctl.8" || bad "the manual does not have $words"
done <commands

note "abbreviations"
says 2 "no daemon answers" pol hist -s none
says 2 "no daemon answers" ev --foll -s none
says 2 "no daemon answers" sweep st -s none
says 2 "no daemon answers" port --sock none
says 0 "^usage: qosd-ctl routes " routes --he
says 1 "^qosd-ctl: ambiguous command: po could be ports or policy" po
says 1 "^qosd-ctl: ambiguous command: e could be events, errors, explain or export" e
says 1 "^qosd-ctl: no such command: policy x" policy x
says 1 "^qosd-ctl: partition: ambiguous command: a could be add or apply" partition a x
says 1 "^qosd-ctl: explain: ambiguous option: --w could be --why-not or --watch" explain 1 2 --w
# No word at all is no abbreviation.
says 1 "no such command: "$'\n' ""
says 1 "no such command: sweep" sweep "" -s none
# A name is never taken for the beginning of a longer one.
for name in route routes sweep partitions services mcast holdings; do
	expect "usage of $name" "usage: qosd-ctl $name" "$("$program" help "$name" | grep -oE "^usage: qosd-ctl $name( |$)" | head -n 1 | sed 's/ $//')"
done
says 1 "missing: DST" route 1 -s none
says 2 "no daemon" routes -s none
says 2 "no daemon" sweep -s none
# An operand is not: `mcast rem' asks for a group.
says 2 "no daemon" mcast rem -s none

note "mistyped words"
says 1 "no such command: helth; did you mean 'health'\?" helth
says 1 "no such command: policy hstory; did you mean 'policy history'\?" policy hstory
says 1 "no such command: sweep stpes; did you mean 'sweep steps'\?" sweep stpes
says 1 "no such option: --folow; did you mean '--follow'\?" events --folow
says 1 "no such option: --tiemout; did you mean '--timeout'\?" status --tiemout 3
says 1 "^qosd-ctl: no such command: frobnicate"$'\n' frobnicate
! grep -q "did you mean" out || bad "nothing is like frobnicate, but: $(<out)"
says 1 "policy: a second word is missing" policy

note "a subnet to ask"
start_sim "$topology"
printf 'qos-levels:\n  default: {sl: 0}\n  storage-traffic: {sl: 1}\npartitions:\n  computing: {pkey: 0x123, members: all}\n' >policy.yaml
start_and_wait "$node" -p policy.yaml
says 1 "^qosd-ctl: --help: no such port" sl2vl -s "$sock" -- --help
expect "a partition, by abbreviated words" 0 "$(run -s "$sock" partition ad j1 --abs 0x1=limited --pk=0x77 --wai 0x2)"
[ -n "$(ctl -j partition show j1)" ] || bad "no partition"
expect "its members" '0x0000000000000001 limited 0x0000000000000002 full' "$(ctl -j partition show j1 |
	jq -r '[.partitions[0].members[] | .who + " " + .membership] | join(" ")' 2>/dev/null)"
expect "a member twice" 1 "$(run -s "$sock" partition add j1 --absent-ok 0x1 0x1)"

note "exit statuses"
says 0 "" -s "$sock" status
says 1 "no such port" -s "$sock" sl2vl nowhere
says 2 "no daemon" -s none status
says 2 "no daemon" -s none health
says 1 "No such file" -s "$sock" plan missing.yaml
says 1 "" -s "$sock" dump /dev/null/x

note "completion"
mkdir -p bin site
ln -s "$program" bin/qosd-ctl
for shell in bash zsh fish; do
	says 0 "" completion $shell
	mv out "completion.$shell"
	[ -s "completion.$shell" ] || bad "no script for $shell"
done
says 1 "no such shell: csh" completion csh
# bash_completes WORD...: prints what bash would offer for the last word.
bash_completes() {
	PATH=$work/bin:$PATH bash --norc -c 'source ./completion.bash
		COMP_WORDS=(qosd-ctl "$@") COMP_CWORD=$# COMPREPLY=()
		_qosd_ctl
		printf "%s\n" "${COMPREPLY[@]}"' - "$@" | sort | paste -sd' '
}
expect "commands" "partition partitions" "$(bash_completes part)"
expect "second words" "history" "$(bash_completes policy h)"
expect "second words of an abbreviation" "confirm" "$(bash_completes pol c)"
expect "all second words" "add apply remove set show" "$(bash_completes partition '')"
expect "options" "--confirm" "$(bash_completes policy load --conf)"
expect "options of qosd-ctl" "--timeout" "$(bash_completes status --t)"
expect "options behind an operand" "--sl" "$(bash_completes route 1 2 --sl)"
expect "no options behind --" "" "$(bash_completes route -- --sl)"
expect "values" "services subscriptions" "$(bash_completes holdings --by s)"
expect "values behind =" "services subscriptions" "$(bash_completes holdings --by = s)"
expect "shells" "bash fish zsh" "$(bash_completes completion '')"
expect "topics of help" "history" "$(bash_completes help policy h)"
expect "files" "policy.yaml" "$(bash_completes plan pol)"
expect "folders" "site" "$(bash_completes dump si)"
expect "files of an option" "policy.yaml" "$(bash_completes convert x --output pol)"
expect "ports" 'node001\ HCA-1/P1' "$(bash_completes -s "$sock" sl2vl node001)"
expect "ports, quoted" 'node001 HCA-1/P1' "$(bash_completes -s "$sock" sl2vl '"node001 H')"
expect "partitions" "computing" "$(bash_completes -s "$sock" partition show co)"
expect "levels" "storage-traffic" "$(bash_completes -s "$sock" bandwidth --level st)"
expect "levels behind =" "storage-traffic" "$(bash_completes -s "$sock" bandwidth --level = st)"
expect "groups" "ff12" "$(bash_completes -s "$sock" mcast remove ff | grep -o 'ff12' | head -n 1)"
expect "ports without a daemon" "" "$(bash_completes -s none sl2vl node)"
if command -v fish >/dev/null; then
	fish_completes() {
		PATH=$work/bin:$PATH HOME=$work XDG_CONFIG_HOME=$work XDG_DATA_HOME=$work fish --no-config -c \
			"source completion.fish; complete -C '$1'" | cut -f1 | sort | paste -sd' '
	}
	expect "fish: commands" "partition partitions" "$(fish_completes 'qosd-ctl part')"
	expect "fish: second words" "history" "$(fish_completes 'qosd-ctl policy h')"
	expect "fish: options" "--confirm" "$(fish_completes 'qosd-ctl policy load --conf')"
	expect "fish: files" "policy.yaml" "$(fish_completes 'qosd-ctl plan pol')"
	expect "fish: partitions" "computing" "$(fish_completes "qosd-ctl -s $sock partition show co")"
else
	note "fish is not installed: its script is not tested"
fi
if command -v zsh >/dev/null; then
	cp completion.zsh site/_qosd-ctl
	# zsh_completes LINE: the line after zsh has completed it.
	zsh_completes() {
		PATH=$work/bin:$PATH zsh -f -c '
			zmodload zsh/zpty
			zpty z zsh -f -i
			zpty -w z "PS1=; fpath=($PWD/site \$fpath); autoload -U compinit; compinit -D -u; bindkey \"^X\" show; zle -N show; show() { print -r -- \"<<\$BUFFER>>\"; exit }"
			zpty -n -w z "$1"$'"'\\t\\x18'"'
			while zpty -r z line; do print -r -- "$line"; done' - "$1" 2>&1 | sed -nE 's/.*<<(qosd-ctl.*)>>.*/\1/p' | tail -n 1
	}
	expect "zsh: a command" "qosd-ctl subscriptions " "$(zsh_completes 'qosd-ctl subs')"
	expect "zsh: a second word" "qosd-ctl policy history " "$(zsh_completes 'qosd-ctl policy hi')"
	expect "zsh: an option" "qosd-ctl policy load --confirm " "$(zsh_completes 'qosd-ctl policy load --conf')"
	expect "zsh: a file" "qosd-ctl plan policy.yaml " "$(zsh_completes 'qosd-ctl plan poli')"
	expect "zsh: a partition" "qosd-ctl -s $sock partition show computing " "$(zsh_completes "qosd-ctl -s $sock partition show co")"
else
	note "zsh is not installed: its script is not tested"
fi

# terminal ROWS TYPED COMMAND...: what a terminal of so many rows shows.
terminal() { "$top/tests/tools/on-terminal" "$1" "$2" $((10 * slow)) env TERM=xterm "${@:3}" | tr -d '\r'; }
green=$'\e[32m' any=$'\e['
note "colours"
expect_match "an event on a terminal" $'\e\\[3[16]m(error|info)\e' "$(terminal 1000 '' "$program" -s "$sock" events)"
expect_match "a port on a terminal" $'\e\\[32mactive\e\\[0m   ' "$(terminal 1000 '' "$program" -s "$sock" ports)"
expect_match "health on a terminal" $'^\e\\[3[123]m(ok|warning|error)\e\\[0m: (this subnet manager is )?master' "$(terminal 1000 '' "$program" -s "$sock" health)"
says 0 "active" -s "$sock" ports
! grep -qF "$any" out || bad "colours in a file"
expect_match "colours by wish" $'\e\\[32mactive' "$("$program" -s "$sock" ports --color always)"
for how in "NO_COLOR=1 $program -s $sock ports" "$program -s $sock ports --color never" \
	"TERM=dumb $program -s $sock ports" "$program -s $sock -j ports"; do
	read -ra words <<<"$how"
	got=$(terminal 1000 '' env "${words[@]}")
	expect_match "$how" "active" "$got"
	[[ $got != *"$green"* ]] || bad "$how: in colour"
done
expect "with and without colours" "$(ctl ports | cksum)" "$("$program" -s "$sock" ports --color always | sed 's/\x1b\[[0-9]*m//g' | cksum)"

note "the pager"
printf '#!/bin/sh\nsed "s/^/paged: /"\n' >pager
chmod +x pager
export PAGER=$work/pager
expect_match "long text" "paged: .*HCA-1/P1" "$(terminal 10 '' "$program" -s "$sock" ports)"
expect_match "help" "paged: usage:" "$(terminal 10 '' "$program" --help)"
not_paged() {
	local got
	got=$(terminal "${@:2}")
	expect_match "$1" "[a-z]" "$got"
	[[ $got != *paged:* ]] || bad "$1 in the pager"
}
not_paged "short text" 1000 '' "$program" -s "$sock" ports
not_paged "what needs no pager" 10 '' "$program" -s "$sock" --no-pager ports
not_paged "JSON" 10 '' "$program" -s "$sock" -j ports
not_paged "events that go on" 3 '\x03' "$program" -s "$sock" events --follow
[[ $("$program" -s "$sock" ports) != *paged:* ]] || bad "the pager without a terminal"
expect "exit status with a pager" 2 "$("$top/tests/tools/on-terminal" 3 '' 10 "$program" -s none health >/dev/null; echo $?)"
PAGER=$work/missing
expect_match "a pager that is missing" "HCA-1/P1" "$(terminal 10 '' "$program" -s "$sock" ports)"
unset PAGER

note "progress"
expect_match "of dump on a terminal" "opensm-subnet.lst, 0%; 0\.0 MB in all"$'\e'"?" \
	"$(terminal 24 '' "$program" -s "$sock" dump dumped)"
"$program" -s "$sock" dump dumped >out 2>&1 || bad "dump: $(<out)"
expect "elsewhere" "" "$(<out)"

note "--watch"
look_busy	# three times in this time, on a busy machine, too
got=$("$top/tests/tools/on-terminal" 24 '' $((3 * patience)) env TERM=xterm "$program" -s "$sock" status --watch=0.2)
[ "$(grep -oF $'\e[2J' <<<"$got" | wc -l)" -ge 3 ] || bad "it does not show again"
[ "$(grep -c 'state  *master' <<<"$got")" -ge 3 ] || bad "it does not show the state again"
begin=$SECONDS
got=$("$top/tests/tools/on-terminal" 24 '\x03' $((30 * slow)) env TERM=xterm "$program" -s "$sock" status --watch)
expect "exit status after ^C" 130 $?
expect_match "the interval" "every 2 s" "$got"
[ $((SECONDS - begin)) -lt $((25 * slow)) ] || bad "^C did not end it"
look_busy
timeout $((2 * patience)) "$program" -s "$sock" --watch 0.2 sweep steps >out 2>&1
[ "$(grep -c '^standby' out)" -ge 3 ] || bad "it does not show again in a file"
! grep -qF "$any" out || bad "control sequences in a file"
says 1 "watch works only with commands that show" -s "$sock" reload --watch
says 1 "watch works only with commands that show" -s "$sock" events --follow --watch
stop_qosd || bad "exit status $? after SIGTERM"
