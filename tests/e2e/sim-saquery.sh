#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Compares the records that saquery gets from OpenSM and from qosd, which takes the subnet over
# unchanged: by each record type, option and filter that saquery knows, with and without the
# SM_Key.  Then compares the records of clients' registrations (groups and members, services,
# subscriptions), which the same hosts make with both SMs, and QoS tables that both write.  All
# must be the same sets of records except for the differences explained below.  At the end, with
# the tables of a policy, compares the SA's records with the devices.
#
# The test checks that it covers all of saquery --help.
# sim-oracle.sh and sim-pathref.sh test many more paths, by policies and with partitions.
#
#   SAQUERY_TREE	arguments of gentopo for another large fat tree than that of 432 hosts:
#			"--levels 3 --radix 18" has 1,458
#   SAQUERY_LMC		its LMC, default 1
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim cuts an answer down to its first record"
for program in opensm saquery smpquery; do
	command -v $program >/dev/null || { echo "$program is not installed"; exit 77; }
done

# --- queries ---

# records DIR NUMBER...: prints the records in saquery's output files NUMBER.out and NUMBER.err, one a line:
# the number, a tab, and "field|field|...", in any order.
records() {
	local i files=()
	for i in "${@:2}"; do files+=("$1/$i.out" "$1/$i.err"); done
	awk '
		function out() { if (record != "") print number "\t" record; record = "" }
		FNR == 1 {
			out()
			number = FILENAME; sub(/.*\//, "", number); errors = sub(/\.err$/, "", number); sub(/\.out$/, "", number)
			if (number != last) dumps = 0
			last = number
		}
		errors && !/ERROR|^Query SA failed/ { next }
		/^[^ \t]/ || !/dump/ && !dumps { out() }
		/ dump:/ { dumps = 1 }		# else a record is a line
		NF { gsub(/[ \t]+/, " "); gsub(/\.\.+/, "="); record = record "|" $0 }
		END { out() }' "${files[@]}"
}

# send_query NODE FILE QUERY...: runs saquery, with its output in FILE.out and FILE.err.  If no answer came in a
# second, as happens on a busy machine, it asks again and waits longer.
send_query() {
	local patience
	on "$1" saquery "${@:3}" >"$2.out" 2>"$2.err"
	[ -s "$2.err" ] && grep -q 'timed out' "$2.err" || return 0
	look_busy
	on "$1" saquery -t $((2000 * patience)) "${@:3}" >"$2.out" 2>"$2.err"
}

# ask NODE QUERY...: prints the records of the answer, in any order.
ask() {
	local dir=asked.$BASHPID
	mkdir -p "$dir"
	send_query "$1" "$dir/0" "${@:2}"
	records "$dir" 0 | cut -f 2- | sort
}

# ask_all NODE DIR: sends each query of the list, two at a time, and writes its records to a file of its own.
# In the list, ~ stands for a blank within a word.
ask_all() {
	local i half words askers=()
	mkdir "$2"
	printf '%s\n' "${queries[@]}" >>asked
	for half in 0 1; do
		for ((i = half; i < ${#queries[@]}; i += 2)); do
			read -ra words <<<"${queries[i]}"
			send_query "$1" "$2/$i" "${words[@]//\~/ }"
			: >"$2/$i"
		done &
		askers+=($!)
	done
	wait "${askers[@]}"
	# One awk and one sort for all, because most of this test's time goes to starting processes.
	records "$2" "${!queries[@]}" | sort -t $'\t' -k 1,1n -k 2 | awk -F '\t' -v dir="$2" '
		file != dir "/" $1 { close(file); file = dir "/" $1 }
		{ print substr($0, length($1) + 2) >file }'
}

# choose_queries: chooses the LIDs for the queries: of the SM, a host, a switch and a host far
# from both, and an unused one.
choose_queries() {
	local own=$1 switch=$2 host=$3 nobody=40000 ca name guid l
	ca=$(on "$far" ibstat -l | head -n 1)
	# in some fabrics many nodes have the same name, and the answer might be any of them
	name=$(sed -nE 's/.*NodeDescription=([^|]*)$/\1/p' nodes | sort | uniq -u | tail -n 1 | tr ' ' '~')
	[ -n "$name" ] || fail "no node has a name of its own"
	guid=$(ask "$far" NR "$host" | sed -nE 's/.*port_guid=(0x[0-9a-f]+).*/\1/p')
	# -g to MCMR: queries for the IPoIB broadcast group, which has no members yet
	queries=(-g -m MCMR "${trusted}-g" "${trusted}MCMR" "--mgid $ipoib::ffff:ffff MCMR"
		CPI NR -N -D -s PIR LR -x LFTR MFTR GIR SWIR SMIR PKTR "--smkey 1 PKTR"
		"-O $host" "-U $guid" "-L $name" "-l $name" "-G $name" "-x $host" "-x $switch $own"
		-c "-C $ca NR" "-P 1 NR" "-C $ca -P 1 -t 5000 -e NR"
		"-z /dev/null NR" "-v NR" "-d NR $host" "-N --node-name-map names" "-D --node-name-map names"
		"--list" "-N $name" "NR $name" "$name" ClassPortInfo NodeRecord "PortInfoRecord $host" "LinkRecord $host"
		"LFTRecord $switch" "MFTRecord $switch" "GUIDInfoRecord $host" "SwitchInfoRecord $switch"
		"SMInfoRecord $own" "${trusted}PKeyTableRecord $host" "--smkey 2 NR" "--smkey 2 -K PKTR $host"
		"-K SMIR" "$trusted-K SMIR" "LR $name $switch")
	local of="--slid $own --dlid $host"
	for l in "" "--reversible 0" "--reversible 1" "--numb_path 1" "--numb_path 2" "--numb_path 127" \
		"--pkey 0xffff" "--pkey 0x7fff" "--pkey 0x1234" "--qos_class 0" "--qos_class 1" "--sl 0" "--sl 1" \
		"--tclass 0" "--tclass 1" "--flow_label 0" "--flow_label 1" "--hop_limit 0" "--hop_limit 1" \
		"--service_id 0" "--service_id 0x106ca" "--mtu 0x84" "--mtu 0x83" "--mtu 0x04" "--mtu 0x44" \
		"--rate 0x83" "--rate 0x82" "--rate 0x92" "--rate 0x02" "--rate 0x42" "--pkt_lifetime 0x92" "--pkt_lifetime 0x81" \
		"--pkt_lifetime 0x01" "--pkt_lifetime 0x53"; do
		queries+=("$of $l PR")
	done
	queries+=("--src-to-dst $own:$host" "--src-to-dst $name:$switch" "--src-to-dst $host:$own -p"
		"--sgid-to-dgid ${gids[0]}-${gids[1]}" "--sgid ${gids[2]} --dgid ${gids[3]} PR"
		"--sgid ${gids[2]} --dlid $host -p" "$of PathRecord" "--slid $host PR" "--dlid $host PR"
		"--sgid ${gids[0]} PR" "--dgid ${gids[0]} PR" "--slid $nobody --dlid $host PR")
	echo "0x$(sed -nE "s/.* lid=$host\\|.*node_guid=0x([0-9a-f]+).*/\1/p" nodes) \"another name\"" >names
	for l in "$own" "$switch" "$host" $((host + 1)) $((switch + 1)) $nobody; do
		queries+=("NR $l" "PIR $l" "PIR $l/1" "PIR $l/0" "PIR $l/7" "PIR $l/1/128" "PIR $l/1/0"
			"LR $l" "LR $l/1" "LR $l/2" "LR $l/0" "LR $l $switch" "LR $l/1 $switch" "LR $switch $l/1"
			"LR $switch/1 $l/1" "LFTR $l" "LFTR $l/0" "LFTR $l/1" "LFTR $l/700" "MFTR $l" "MFTR $l/0"
			"MFTR $l/0/0" "GIR $l" "GIR $l/0" "GIR $l/2" "GIR $l/200" "SWIR $l" "SMIR $l"
			"--smkey 1 PKTR $l" "--smkey 1 PKTR $l/0" "--smkey 1 PKTR $l/1" "--smkey 1 PKTR $l/1/0"
			"--smkey 1 PKTR $l/0/0")
	done
}

# --- registrations of clients ---

trusted="--smkey 1 "	# makes a request a trusted one, with both SMs
ipoib=ff12:401b:ffff
site=ff15:1234::1
created="qkey=0xb1b pkey=0xffff tclass=0 sl=0 flow-label=0"	# the components that create a group
whole="$created mtu-sel=2 mtu=4 rate-sel=2 rate=3 life-sel=2 life=18 hop-limit=0"

# choose_clients: chooses four hosts and the querying host from the file nodes, with their GIDs.
choose_clients() {
	local all name
	mapfile -t all < <(cas "$topology")
	clients=("${all[1]}" "${all[${#all[@]} / 3]}" "${all[${#all[@]} / 2]}" "${all[-2]}" "$far")
	gids=()
	for name in "${clients[@]}"; do
		gids+=("$(gid "$(sed -nE "s/.*node_guid=0x${name#H-}.*port_guid=0x([0-9a-f]+).*/\1/p" nodes)")")
	done
}

# told REQUEST ANSWER: prints a client's request and the answer, separated by "|".
told() { printf '%s|%s\n' "$1" "$2"; }
member() { on_own "${clients[$1]}" "$tools/pathquery" "$2" member port-gid="${gids[$3]}" "${@:4}" 2>&1; }
join() { told "join $1 $2 $3" "$(member "$1" set "$1" mgid="$2" join-state="$3" "${@:4}")"; }
join_for() { told "join for $2, by $1, $3" "$(member "$1" set "$2" mgid="$3" join-state="$4")"; }
leave() { told "leave $1 $2 $3" "$(member "$1" delete "$1" mgid="$2" join-state="$3")"; }
sa_client() { on_own "${clients[$1]}" "$tools/saclient" "${@:2}" 2>&1; }
service() { told "service $*" "$(sa_client "$1" service "$2" gid="${gids[$1]}" "${@:3}")"; }
events() { told "events $*" "$(sa_client "$@")"; }

# register: the same hosts make the same requests to the present SM; prints the answers.
# shellcheck disable=SC2086 # they are words
register() {
	local i
	# the broadcast group, which the SM created: each kind of membership, also on behalf of another port
	for i in 0 1 2 3; do join $i $ipoib::ffff:ffff $((1 << i)); done
	join 4 $ipoib::ffff:ffff 3
	# groups with the same values
	join 0 $ipoib::77 1 mlid=0xc020 scope=2 $whole
	join 1 $ipoib::77 1
	join 2 $ipoib::77 4
	join_for 0 3 $ipoib::77 1
	join 1 $ipoib::16 1 mlid=0xc021 scope=2 $whole
	join 2 ff12:601b:ffff::1 1 mlid=0xc022 scope=2 $whole
	join 3 ff12:601b:ffff::1:ff00:99 1 mlid=0xc023 scope=2 $whole
	# other scopes and values
	join 1 $site 1 mlid=0xc030 scope=5 qkey=0x1234 pkey=0xffff tclass=0x20 sl=0 flow-label=0x45 \
		hop-limit=7 mtu-sel=2 mtu=3 rate-sel=2 rate=2 life-sel=2 life=16
	join 2 $site 3
	join 3 $site 2
	join 4 $site 1
	join 3 ff18::abcd 1 mlid=0xc031 scope=8 ${whole/0xffff/0x7fff} mtu-sel=1
	# the SA chooses the remaining values
	join 0 $ipoib::1 1 $created
	join 1 ff18::bad0 1 $created
	join 0 :: 1 $created
	# memberships that end, entirely or in part
	join 1 ff18::dead 1 mlid=0xc032 scope=8 $whole
	leave 1 ff18::dead 1
	leave 2 $site 2
	# refused requests
	join 3 ff18::beef 1
	join 3 ff18::beef 4 $whole
	join 3 ff18::abcd 0
	join 2 ff18::abcd 1 qkey=0x77
	join 2 ff18::abcd 1 mtu-sel=0 mtu=4
	join_for 0 3 ff18::abcd 1
	leave 2 ff18::abcd 1
	leave 2 $site 2
	join 1 fe18::1 1 $whole
	join 0 $ipoib::78 1 ${whole/0xb1b/0xb1c}

	service 0 set id=0x1000000000000001 name=store lease=3600 data8.1=7 data16.3=0x1234 \
		data32.2=0x56789abc data64.2=0x123456789abcdef0
	service 0 set id=0x1000000000000001 pkey=0x7fff name=limited
	service 1 set id=0x1000000000000001 pkey=0xffff name=other lease=0xffffffff key=0a0b0c
	service 2 set id=2 pkey=0xffff name=keyed lease=100000 key=00112233445566778899aabbccddeeff
	service 2 set id=2 pkey=0xffff name=changed lease=200000 key=00112233445566778899aabbccddeeff
	service 3 set id=3 pkey=0xffff name=gone
	service 3 delete id=3 pkey=0xffff
	service 3 delete id=3 pkey=0xffff
	service 4 set id=0xffffffffffffffff pkey=0xffff name="$(printf 'x%.0s' {1..63})"
	told "service of a group" "$(sa_client 3 service set id=4 pkey=0xffff gid=$site name=group)"
	told "service of nobody" "$(sa_client 3 service set id=4 pkey=0xffff name=nothing)"
	service 3 set pkey=0xffff name=nothing
	service 3 set id=5 pkey=0x1234 name=stranger
	service 0 get id=0x1000000000000001 pkey=0xffff
	service 1 get id=0x1000000000000001 pkey=0xffff name=other

	for i in 64 65 66 67; do events 0 subscribe trap=$i type=3 producer=4 resp=18; done
	events 1 subscribe
	events 1 subscribe generic=0 producer=0x2c9 trap=12
	events 2 subscribe lid=1-3 trap=128 type=1 producer=2
	told "events of a port" "$(sa_client 2 subscribe gid="${gids[0]}" trap=144)"
	events 3 subscribe trap=64
	events 3 subscribe trap=64
	events 3 subscribe trap=65
	events 3 unsubscribe trap=65 qpn=1
	events 3 unsubscribe trap=66 qpn=1
	events 3 subscribe trap=256
	events 3 -k 1 subscribe trap=257
	events 3 subscribe subscribe=2
	events 3 subscribe lid=9-4
	events 3 subscribe gid=fe80::1:2:3:4
}

# choose_client_queries: each option that saquery has for these records, with and without the SM_Key.
choose_client_queries() {
	local key g s
	queries=()
	for key in "" "$trusted"; do
		for s in -g -m "-m 0xc000" "-m 0xc020" "-m 0xc030" "-m 0xc032" MCMR MCMemberRecord \
			-S SR "-K ServiceRecord" -I IIR "-K InformInfoRecord"; do
			queries+=("$key$s")
		done
		for g in "${gids[@]}" fe80::1; do
			queries+=("${key}IIR $g" "$key--gid $g MCMR" "$key--mgid $site --gid $g MCMR")
		done
		for g in $ipoib::ffff:ffff $ipoib::77 $ipoib::2 ff12:601b:ffff::1 $site ff18::abcd ff18::bad0 ff18::dead; do
			queries+=("$key--mgid $g MCMR" "$key--mgid $g --gid ${gids[4]} MCMR")
		done
		for g in 0xc000 0xc020 0xc022 0xc030 0xc032 0xd000; do
			queries+=("$key--mlid $g MCMR" "$key--mlid $g --mgid $site MCMR")
		done
		# the two bits above the number are the selector: greater than, less than, exactly, largest
		for s in 0 1 2 3; do
			for g in 1 2 3 4 5; do queries+=("$key--mtu $((s << 6 | g)) MCMR"); done
			for g in 2 3 4 7 16; do queries+=("$key--rate $((s << 6 | g)) MCMR"); done
			for g in 1 15 16 17 18 19; do queries+=("$key--pkt_lifetime $((s << 6 | g)) MCMR"); done
		done
		for g in 1 2 3 4 5 8 15; do
			queries+=("$key--join_state $g MCMR" "$key--join_state $g --mgid $site MCMR")
		done
		for g in "--qkey 0xb1b" "--qkey 0x1234" "--qkey 5" "--tclass 0x20" "--tclass 1" "--pkey 0xffff" \
			"--pkey 0x7fff" "--pkey 0x1234" "--sl 0" "--sl 1" "--flow_label 0x45" "--flow_label 1" \
			"--hop_limit 0" "--hop_limit 7" "--hop_limit 255" "--scope 2" "--scope 5" "--scope 8" "--scope 14" \
			"--proxy_join 0" "--proxy_join 1" "--proxy_join 128" "--scope 5 --qkey 0x1234 --pkey 0xffff"; do
			queries+=("$key$g MCMR")
		done
	done
	# last, because the tables follow registrations with a short delay
	queries+=(MFTR MFTRecord "MFTR $switch" "MFTR $switch/0" "MFTR $switch/0/0" "MFTR $switch/1" "MFTR $switch/0/1")
}

# --- expected differences ---

# kind_of QUERY: sets $kind to the short name of the record type.
kind_of() {
	case " $1 " in
	*" PR "* | *PathRecord* | *" -p "* | *-to-d*) kind=PR ;;
	*" MCMR "* | *MCMemberRecord* | *" -g "* | *" -m "*) kind=MCMR ;;
	*" SR "* | *ServiceRecord* | *" -S "*) kind=SR ;;
	*" IIR "* | *InformInfoRecord* | *" -I "*) kind=IIR ;;
	*" CPI "* | *ClassPortInfo* | *" -c "*) kind=CPI ;;
	*" SMIR "* | *SMInfoRecord*) kind=SMIR ;;
	*" SWIR "* | *SwitchInfoRecord*) kind=SWIR ;;
	*" LFTR "* | *LFTRecord*) kind=LFTR ;;
	*" MFTR "* | *MFTRecord*) kind=MFTR ;;
	*" PKTR "* | *PKeyTableRecord*) kind=PKTR ;;
	*" PIR "* | *PortInfoRecord*) kind=PIR ;;
	*" SL2VL "* | *SL2VLTableRecord*) kind=SL2VL ;;
	*" VLAR "* | *VLArbitrationTableRecord*) kind=VLAR ;;
	*" LR "* | *LinkRecord* | *" -x "*) kind=LR ;;
	*) kind=other ;;
	esac
}

# answer_of DIR QUERY: prints the answer to another query of the list.
answer_of() {
	[ -n "${number[$2]:-}" ] || fail "no query $2"
	cat "$1/${number[$2]}"
}

# links_by DIR FROM [TO]: prints those of all links that begin (and end) at LID[/PORT].
links_by() {
	answer_of "$1" LR | awk -v from="$2/" -v to="${3:-}/" '
		BEGIN { split(from, f, "/"); split(to, t, "/") }
		function is(name, wanted) {
			match($0, name "=[0-9]+")
			return wanted == "" || substr($0, RSTART + length(name) + 1, RLENGTH - length(name) - 1) == wanted
		}
		is("FromLID", f[1]) && is("FromPort", f[2]) && is("ToLID", t[1]) && is("ToPort", t[2])'
}

# reached FILE: prints "SWITCH MLID PORT" for each MFTRecord entry to a host, by the links in the file hosts.
reached() {
	awk '
		function value(name) {
			match($0, name "=[0-9]+")
			return substr($0, RSTART + length(name) + 1, RLENGTH - length(name) - 1)
		}
		FILENAME == ARGV[1] { hosts[value("FromLID"), value("FromPort")]; next }
		{
			lid = value(" LID"); position = value("Position")
			for (i = 1; i <= NF; i++) {
				if ($i !~ /^0xc0[0-3]0$/)
					continue
				for (d = 0; d < 4; d++) {
					mask = index("0123456789abcdef", substr($(i + 1), 6 - d, 1)) - 1
					for (b = 0; b < 4; b++) {
						port = position * 16 + d * 4 + b
						if (int(mask / 2 ^ b) % 2 && (lid, port) in hosts)
							print lid, $i, port
					}
				}
			}
		}' hosts <(tr '|' ' ' <"$1") | sort
}

# port_of CLIENT MLID: prints the line that reached prints for this client.
port_of() {
	local lid
	lid=$(sed -nE "s/.*\| lid=([0-9]+)\|.*node_guid=0x${clients[$1]#H-}.*/\1/p" nodes)
	sed -nE "s/.*FromLID=([0-9]+)\| FromPort=([0-9]+)\|.*ToLID=$lid\b.*/\1 $2 \2/p" hosts
}

# explained QUERY DIR FILE: prints the records, of $kind, without the expected differences.
explained() {
	local query=$1 dir=$2 file=$2/$3 port='.*' lid
	case $kind in
	CPI)	# CapabilityMasks differ by design and are checked below.  TrapGID 0 means no traps,
		# and then the other Trap fields have no meaning (13.4.8.1).
		sed -E 's/\|[^|]*(Capability mask|Trap QKey)[^|]*//g' "$file" ;;
	SMIR)	# ActCount is a heartbeat (14.2.5.13) with an arbitrary value
		sed -E 's/ActCount=[0-9]+/ActCount=/' "$file" ;;
	SWIR)	# saquery omits MulticastFDBTop if ClassPortInfo does not say that the SM manages it
		sed -E 's/\| MulticastFDBTop=[^|]*//' "$file" ;;
	LFTR)	# the SMs choose different routes; below, the records are compared with the devices
		sed -E 's/\| LFT:.*//' "$file" ;;
	MFTR)	# The SMs build different trees, and qosd also has blocks of OpenSM's that it cleared.
		# Groups with several members must reach the same hosts, except that OpenSM also
		# delivers to send-only members (15.2.5.17).
		if [ "${dir%%.*}" = own ]; then reached "$file"; else
			reached "$file" | grep -vxE "$(port_of 2 0xc0[02]0)|$(port_of 3 0xc000)"
		fi ;;
	PKTR)
		if [[ $query != *"$trusted"* ]]; then
			# a request without the SM_Key is denied (15.2.2); OpenSM calls it invalid
			sed -E 's/0x0[27]00, SA\(SA_ERR_REQ_(INVALID|DENIED)\)/refused/' "$file"
			return
		fi
		# External ports of switches have a P_Key table for enforcement.  OpenSM writes all of
		# them; qosd writes those that enforce, and so does not know the others.
		# BlockNum is big-endian like everything (1.5.1), but OpenSM answers and saquery prints
		# it in host order.  OpenSM ignores the port number in a query for a CA; a CA has no
		# table of another port.
		[[ ! $query =~ PKTR\ [0-9]+/([0-9]+) ]] || port=${BASH_REMATCH[1]}
		grep -E "\\| Port=$port\\||ERROR" "$file" | awk -v switches="$switches" '
			BEGIN { n = split(switches, s, " "); for (i = 1; i <= n; i++) is_switch[s[i]] }
			/ LID=/ {
				match($0, / LID=[0-9]+/); lid = substr($0, RSTART + 5, RLENGTH - 5)
				match($0, / Port=[0-9]+/); port = substr($0, RSTART + 6, RLENGTH - 6)
				if (lid in is_switch && port != 0)
					next
			}
			match($0, / Block=[0-9]+/) {
				block = substr($0, RSTART + 7, RLENGTH - 7)
				if (block >= 256 && block % 256 == 0)
					sub(/ Block=[0-9]+/, " Block=" block / 256)
			}
			{ print }' | sort ;;
	PIR)	# Of most ports that are Down, OpenSM has only zeros, even for supported values; below,
		# these records are compared with the devices.  LocalPort is the port by which the SMP
		# entered a switch, which depends on the route.
		awk -F '|' 'NR == FNR { if (/LinkWidthSupported:=undefined/) empty[$4, $5]; next }
			!(($4, $5) in empty)' "osm/$3" "$file" | sed 's/LocalPort:=[0-9]*/LocalPort:=/' | sort ;;
	LR)	# The LMC applies to CAs and routers; a switch has its own, if any (14.2.5.6).  OpenSM
		# rounds every LID in a query down by the subnet's LMC, and so finds no links of a switch
		# whose LID is not a multiple.  Its table of all links has them.
		for lid in $query; do
			lid=${lid%/*}
			if [ "$dir" = osm ] && [[ " $switches " == *" $lid "* ]] && [ $((lid % (1 << lmc))) -ne 0 ]; then
				# shellcheck disable=SC2086 # they are words
				links_by osm ${query#* }
				return
			fi
		done
		cat "$file" ;;
	SL2VL)	# No packet leaves by its input port, and port 0 of a switch has one VL: OpenSM has
		# tables for these, too, with zeros for port 0.  OpenSM ignores the port numbers in a
		# query for a CA; a CA has no table of other ports.
		if [ "$dir" = own ]; then
			cat "$file"
			return
		fi
		[[ $query =~ \ [0-9]+/([0-9]*)/?([0-9]*) ]]
		awk -v in_port="${BASH_REMATCH[1]:-}" -v out_port="${BASH_REMATCH[2]:-}" -v switches="$switches" '
			BEGIN { n = split(switches, s, " "); for (i = 1; i <= n; i++) is_switch[s[i]] }
			{
				match($0, / LID=[0-9]+/); lid = substr($0, RSTART + 5, RLENGTH - 5)
				match($0, / InPort=[0-9]+/); i = substr($0, RSTART + 8, RLENGTH - 8)
				match($0, / OutPort=[0-9]+/); o = substr($0, RSTART + 9, RLENGTH - 9)
			}
			lid in is_switch ? i != o && o != 0 : (in_port == "" || in_port == i) && (out_port == "" || out_port == o)
			' "$file" ;;
	VLAR)	# Tables of up to 32 entries have no second block, and port 0 of a switch has none at
		# all: OpenSM answers zeros.  It also ignores the port number of a CA.
		[[ ! $query =~ \ [0-9]+/([0-9]+) ]] || port=${BASH_REMATCH[1]}
		if [ "$dir" = own ]; then cat "$file"; else
			grep -E "\\| Port=$port\\|" "$file" | grep -vE 'Block=[24]\||Port=0\|'
		fi ;;
	PR) explained_path "$query" "$dir" "$file" ;;
	MCMR) explained_member "$query" "$dir" "$file" ;;
	SR)	# If ServiceP_Key is missing, the default P_Key applies: OpenSM answers that to the
		# registration, but 0, which is no P_Key, to queries.  The lease is the remaining time.
		# The SA gives ServiceKey to requests with a secret SM_Key only; OpenSM also for SM_Key 1.
		sed -E 's/ServiceKey=0x[0-9a-f]{32}/ServiceKey=/; s/ServiceP_Key=0x0\|/ServiceP_Key=0xFFFF|/; s/ServiceLease=0x(E10|E0.|D..)\|/ServiceLease=3600|/
			s/ServiceLease=0x30(D40|D[0-3].|C..)\|/ServiceLease=200000|/' "$file" | sort ;;
	IIR)	# The enumeration tells subscriptions of one GID apart (15.2.5.12), but OpenSM has 0
		# in all.  OpenSM also accepts a LID range whose end is before its beginning.
		sed -E 's/SubscriberEnum=0x[0-9A-F]+/SubscriberEnum=/; /lid_range_begin=9\| lid_range_end=4\|/d' "$file" | sort ;;
	*) fail "nothing is explained of $query" ;;
	esac
}

# explained_path QUERY DIR FILE: the same for PathRecords (15.2.5.16).
explained_path() {
	if [ "$2" = own ]; then
		cat "$3"
	elif [[ $1 == *"--sl 1 "* ]]; then
		# The policy determines the SL, here 0, not the client.
		:
	elif [[ $1 =~ --rate\ (0x8[23])\  ]]; then
		# A path that is faster than requested can be used at the lower rate: OpenSM does so
		# for MTUs, but not for rates.
		answer_of osm "${1/--rate ${BASH_REMATCH[1]}/}" | sed "s/| rate=0x[0-9A-F]*|/| rate=${BASH_REMATCH[1]}|/"
	else
		# A record has the requested values: OpenSM has 0 in some if the path does not leave
		# the subnet, and in QoS-Class and Service-ID if it has no QoS policy.
		case $1 in
		*" --qos_class 1 "*) sed 's/qos_class=0x0|/qos_class=0x1|/' "$3" ;;
		*" --tclass 1 "*) sed 's/tclass=0x0$/tclass=0x1/; s/tclass=0x0|/tclass=0x1|/' "$3" ;;
		*" --flow_label 1 "*) sed 's/hop_flow_raw=0x0|/hop_flow_raw=0x100|/' "$3" ;;
		*" --hop_limit 1 "*) sed 's/hop_flow_raw=0x0|/hop_flow_raw=0x1|/' "$3" ;;
		*" --service_id 0x106ca "*) sed 's/service_id=0x0\{16\}|/service_id=0x00000000000106ca|/' "$3" ;;
		*) cat "$3" ;;
		esac
	fi |
		# NumbPath has a meaning in a request only, and only the order of preferences counts.
		sed -E 's/num_path_revers=0x[8-9A-F][0-9A-F]/num_path_revers=/; s/preference=0x[0-9A-F]+/preference=/' |
		if [[ $1 =~ ^--[sd](lid|gid)\ [^\ ]+\ PR$ && $topology != *tree.topo ]]; then
			# if links between switches differ, the slowest link depends on the route
			sed 's/| rate=0x[0-9A-F]*|/| rate=|/'
		else
			cat
		fi | sort
}

# by_lifetime SELECTOR CODE: prints the MCMemberRecords whose lifetime the selector and code match.
by_lifetime() {
	local record life
	while read -r record; do
		life=${record#*pkt_life=}
		life=$((${life%%|*} & 63))
		case $1 in
		0) [ "$life" -gt "$2" ] ;;
		1) [ "$life" -lt "$2" ] ;;
		2) [ "$life" -eq "$2" ] ;;
		esac && printf '%s\n' "$record"
	done
}

# explained_member QUERY DIR FILE: the same for MCMemberRecords (15.2.5.17).
explained_member() {
	local of_sa="ff12:401b:ffff::1|ff12:a01b:fe80::1?|ff18::bad0" key='' group=''
	[[ $1 != *"$trusted"* ]] || key=$trusted
	[[ ! $1 =~ (--mgid [0-9a-f:]+ ) ]] || group=${BASH_REMATCH[1]}
	if [ "${2%%.*}" = own ]; then
		cat "$3"
	elif [[ $2 = osm && -n $key ]]; then
		# A request with the SM_Key gets members; OpenSM then omits groups without members.
		answer_of osm "${1#"$trusted"}"
	elif [[ $1 =~ --gid\ ([0-9a-f:]+) && -z $key && ${BASH_REMATCH[1]} != "${gids[4]}" ]]; then
		# A request without the SM_Key gets no PortGIDs.  OpenSM leaves them out, but still
		# matches the PortGID in the query.
		:
	elif [[ $1 == *--join_state* && -z $key ]]; then
		# The same for JoinStates: OpenSM matches the JoinState of the creator, qosd none.
		answer_of "$2" "${group}MCMR"
	elif [[ $1 =~ --pkt_lifetime\ ([0-9]+) ]]; then
		# OpenSM ignores lifetimes
		answer_of "$2" "${key}MCMR" | by_lifetime $((BASH_REMATCH[1] >> 6)) $((BASH_REMATCH[1] & 63))
	elif [[ $1 == *"--pkey 0x7fff "* ]]; then
		# The limited P_Key names the same partition.  OpenSM finds no group by it, as if two
		# limited members had to communicate.
		answer_of "$2" "${1/0x7fff/0xffff}"
	elif [[ $1 == *--proxy_join* ]]; then
		# ProxyJoin is the first bit of its byte; saquery and OpenSM use the last one, which is
		# reserved, so this query means ProxyJoin 0.  OpenSM matches the group, not the member.
		# Requests without the SM_Key do not get ProxyJoin.
		answer_of "$2" "${key}MCMR" | grep -v "ProxyJoin=0x1${key:+$}"
	else
		cat "$3"
	fi |
		# The SA chooses values that the creator of a group leaves out, even the GID.  The scope
		# is the MGID scope (4.1.1), but OpenSM has 0.  IPoIB groups have the values of the
		# broadcast group (RFC 4391, 5), but OpenSM takes the rate of the creating port.
		case $1 in
		*--rate* | *--pkt_lifetime* | *--hop_limit* | *--scope*) sed -E "/MGID=($of_sa)\\|/d" ;;
		*) sed -E "/MGID=($of_sa)\\|/ { s/(ate|pkt_life|HopLimit|Scope)=0x[0-9a-fA-F]+/\\1=/g
			s/ScopeState=0x[28]?([0-9])\\|/ScopeState=\\1|/; s/a01b:fe80::1?\\|/a01b:fe80::|/ }" ;;
		esac | sed 's/ProxyJoin=0x[01]/ProxyJoin=/' | sort
}

# told_otherwise: prints requests with different answers: request, OpenSM's answer, qosd's answer.
told_otherwise() {
	cat <<-'END'
		# a component that it takes is missing: that has a status of its own (15.4.1)
		service of nobody|status=0x0200|status=0x0600
		service 3 set pkey=0xffff name=nothing|status=0x0200|status=0x0600
		# see the ServiceP_Key above
		service 0 get id=0x1000000000000001 pkey=0xffff|status=0x0300|record
		# what one has no right to is denied; a value that there is not is no value (13.4.7)
		events 3 subscribe trap=256|status=0x0200|status=0x0700
		events 3 subscribe subscribe=2|status=0x0200|status=0x001c
		events 3 subscribe lid=9-4||status=0x0200
		events 3 subscribe gid=fe80::1:2:3:4|status=0x0200|status=0x0500
	END
}
# explained_told FILE: prints the other answers without values that the SA chooses, and ProxyJoin as
# above.  The answer to a leave is the remaining membership; OpenSM fills only the fields of the
# request.
explained_told() {
	sed -E -e 's/^(leave [^|]*\|mgid=[^ ]* port-gid=[^ ]*) .* (scope=.*)/\1 \2/' \
		-e '/^join ([01] (ff12:401b:ffff::1|ff18::bad0|::) )/s/ (rate|life|hop-limit|scope)=[0-9]+//g' \
		-e 's/a01b:fe80::1? /a01b:fe80:: /' -e '/^join for/s/proxy-join=[01]//' "$1"
}

# difference FILE FILE: prints the first differences between records, field by field.
difference() {
	diff <(tr '|' '\n' <"$1" | sort | uniq -c) <(tr '|' '\n' <"$2" | sort | uniq -c) | head -n 12
}

# compare SUFFIX: compares the directories osm$1 and own$1.
compare() {
	local i answered=0 records=0 kind query theirs ours want got
	local -A number=() heard=()
	for i in "${!queries[@]}"; do number[${queries[i]}]=$i; done
	for i in "${!queries[@]}"; do
		query=${queries[i]}
		kind_of "$query"
		theirs=osm$1/$i ours=own$1/$i
		mapfile -t want <"$theirs"
		mapfile -t got <"$ours"
		# Most answers are the same as they are, and explaining takes a dozen processes.
		if [ "${want[*]}" != "${got[*]}" ] && [ "$kind" != other ]; then
			theirs=want ours=got
			explained "$query" "osm$1" "$i" >want
			explained "$query" "own$1" "$i" >got
			mapfile -t want <want
			mapfile -t got <got
		fi
		[ "${want[*]}" = "${got[*]}" ] || bad "saquery $query under OpenSM and under qosd: $(difference "$theirs" "$ours")"
		[ ${#got[@]} -eq 0 ] || answered=$((answered + 1))
		records=$((records + ${#got[@]}))
	done
	# the answers must not all be empty
	for query in "${!number[@]}"; do
		[ ! -s "own$1/${number[$query]}" ] || heard[${query%% *}]=1
	done
	heard[MFTR]=1 heard[MFTRecord]=1	# empty without members
	for query in "${queries[@]%% *}"; do
		[ -n "${heard[$query]:-}" ] || bad "no query by $query has an answer"
		heard[$query]=1
	done
	[ $((answered * 3)) -gt ${#queries[@]} ] || bad "only $answered of ${#queries[@]} queries have an answer"
	note "${#queries[@]} queries, $records records"
}

compare_told() {
	explained_told osm.told >want
	explained_told own.told >got
	expect "how many ask for something" "$(wc -l <want)" "$(wc -l <got)"
	paste -d '|' want <(sed 's/^[^|]*|//' got) | awk -F '|' '$2 != $3' | sed 's/|id=[^|]*$/|record/' >otherwise
	expect_same "what is told otherwise, and what is explained" <(told_otherwise | grep -v '^#') otherwise
	# a query that saquery cannot send
	expect_match "who is a member by another" "^mgid=$ipoib::77 port-gid=${gids[3]} [^m]* mlid=0xc020 .* proxy-join=1\$" \
		"$(on_own "$far" "$tools/pathquery" table member mgid=$ipoib::77 proxy-join=1 sm-key=1)"
	expect "subscriptions with an enumeration of their own" "$(ask "$far" IIR | wc -l)" \
		"$(ask "$far" IIR | cut -d '|' -f 4,5 | sort -u | wc -l)"
}

# --- one fabric under both SMs ---

# choose_lids: chooses LIDs of switches, the first switch and a host from the file nodes.
choose_lids() {
	local all
	switches=$(sed -nE 's/.*\| lid=([0-9]+).*node_type=Switch.*/\1/p' nodes | sort -n | xargs)
	switch=${switches%% *}
	mapfile -t all < <(sed -nE 's/.*\| lid=([0-9]+).*node_type=Channel.*/\1/p' nodes | sort -n)
	host=${all[${#all[@]} / 2]}
}

# in_turn TOPOLOGY LMC [clients]: compares the SMs on this fabric, with registrations of clients if asked for.
in_turn() {
	local lmc=$2
	topology=$1
	# promise: S8
	note "OpenSM, then qosd"
	note "$(basename "$topology"), LMC $2"
	node=$(first_ca "$topology")
	far=$(cas "$topology" | tail -n 1)
	rm -rf osm own osm.registered own.registered state
	start_sim "$topology"
	bring_up_opensm "$node" 40 --lmc "$2"
	ask "$far" NR >nodes
	choose_lids
	ask "$far" LR | awk -v switches="$switches" '
		BEGIN { n = split(switches, s, " "); for (i = 1; i <= n; i++) is_switch[s[i]] }
		match($0, /ToLID=[0-9]+/) && !(substr($0, RSTART + 6, RLENGTH - 6) in is_switch)' >hosts
	choose_clients
	choose_queries "$(on "$far" sminfo | sed -nE 's/.*sm lid ([0-9]+) .*/\1/p')" "$switch" "$host"
	ask_all "$far" osm
	fabric_queries=("${queries[@]}")
	if [ -n "${3:-}" ]; then
		choose_client_queries
		register >osm.told
		ask_all "$far" osm.registered
	fi
	end "$opensm"
	echo "lmc: $2" >qosd.yaml
	start_and_wait "$node" -c qosd.yaml
	queries=("${fabric_queries[@]}")
	ask_all "$far" own
	compare ""
	if [ -n "${3:-}" ]; then
		choose_client_queries
		register >own.told
		ask_all "$far" own.registered
		compare .registered
		compare_told
	fi
	# without a policy, qosd does not read these tables and has no records of them
	expect "SL2VL records without a policy" "" "$(ask "$far" SL2VL)"
	expect "VLArb records without a policy" "" "$(ask "$far" VLAR)"
	stop_qosd
	stop_sim
}

# --- QoS tables, which both SMs write ---

# qos_in_turn TOPOLOGY: compares QoS tables that OpenSM's options and a policy define alike.
qos_in_turn() {
	local l p
	topology=$1
	# promise: S8
	note "tables of QoS, by OpenSM, then by qosd"
	node=$(first_ca "$topology")
	far=$(cas "$topology" | tail -n 1)
	cat >opensm.conf <<-'END'
		qos TRUE
		qos_max_vls 8
		qos_high_limit 10
		qos_vlarb_high 3:64,7:1
		qos_vlarb_low 0:64,1:2,2:128,3:1,7:7
		qos_sl2vl 0,1,2,3,0,1,2,3,7,7,7,7,0,0,0,15
	END
	cat >policy.yaml <<-'END'
		fabric-setup:
		  sl2vl:
		    - {group: all, table: [0, 1, 2, 3, 0, 1, 2, 3, 7, 7, 7, 7, 0, 0, 0, 15]}
		  vlarb:
		    - {group: all, high: ["3:64", "7:1"], low: ["0:64", "1:2", "2:128", "3:1", "7:7"], high-limit: 10}
	END
	rm -rf osm own state
	start_sim "$topology"
	bring_up_opensm "$node" 40 -Q -F opensm.conf
	ask "$far" NR >nodes
	choose_lids
	# OpenSM crashes on a query for the SL-to-VL table of a port that a switch does not have
	queries=(SL2VL SL2VLTableRecord VLAR VLArbitrationTableRecord)
	for l in "$switch" "$host" 40000; do
		for p in "" / /0 /1 /1/0 /1/1 //1 /2/3 /0/0 //0; do queries+=("SL2VL $l$p"); done
		for p in "" /0 /1 /1/1 /1/2 /1/3 /1/4 /1/5 /2 /200 //1; do queries+=("VLAR $l$p"); done
	done
	ask_all "$far" osm
	end "$opensm"
	start_and_wait "$node" -p policy.yaml
	ask_all "$far" own
	compare ""
	stop_qosd
	stop_sim
}

"$tools/gentopo" fat-tree --levels 2 --radix 8 >fat-tree.topo || fail gentopo
# shellcheck disable=SC2086 # they are words
"$tools/gentopo" fat-tree ${SAQUERY_TREE:---levels 3 --radix 12} >large-tree.topo || fail gentopo
in_turn "$work/fat-tree.topo" 1 clients
# Under a sanitizer, the large fabric would take long and find nothing more.
[ -n "${QOSD_SANITIZE:-}" ] || in_turn "$work/large-tree.topo" "${SAQUERY_LMC:-1}" clients
in_turn "$top/examples/cluster.topo" 0 clients
real=$fabrics/psmn-x5.topo
if [ -e "$real" ]; then in_turn "$real" 0; else note "no dumps of real fabrics in $fabrics"; fi
sim_options=()		# default devices from here on
qos_in_turn "$work/fat-tree.topo"

# All of saquery's features: each line of the help that names a record, by both of its
# names, or an option, by one of its names.
# The two remaining options send no query.
# promise: S8
note "all that saquery has"
saquery --help 2>&1 | sed -nE -e 's/^  ([A-Za-z0-9]+) \(([A-Z0-9]+)\).*/\1\n\2/p' \
	-e 's/^  --[A-Za-z], (-[A-Za-z]) .*/\1/p' -e 's/^  (--[A-Za-z_-]{2,})(, (-[A-Za-z]))? .*/\1 \3/p' >offered
expect "options and records that saquery has, and that are not asked for" \
	"--help -h, --version -V" \
	"$(while read -r one other; do
		grep -qE -e "(^| )($one${other:+|$other})( |\$)" asked || printf '%s, ' "$one${other:+ $other}"
	done <offered | sed 's/, $//')"
[ "$(wc -l <offered)" -gt 80 ] || bad "saquery --help is not as it was: $(wc -l <offered)"

# --- the SA's records and the devices ---

note "the tables of a policy"
topology=$top/examples/cluster.topo
node=$(first_ca "$topology")
far=$(cas "$topology" | tail -n 1)
node017=H-248a070300a25c40 node017_guid=248a070300a25c41
gpu01=H-248a070300a25dd0 gpu01_guid=248a070300a25dd1
broadcast=ff12:401b:ffff::ffff:ffff
cat >policy.yaml <<'END'
partitions:
  Default: {pkey: 0x7fff, members: {all: full}, ipoib: {}}
  lab: {pkey: 0x10, members: {0x248a070300a25c41: full, 0x248a070300a25dd1: limited}}
fabric-setup:
  sl2vl:
    - {group: all, table: [0, 1, 2, 3, 0, 1, 2, 3, 7, 7, 7, 7, 0, 0, 0, 15]}
  vlarb:
    - {group: all, high: ["3:64", "7:1"], low: ["0:64", "1:2", "2:128", "3:1", "7:7"], high-limit: 10}
END
rm -rf state
start_sim "$topology"
echo "priority: 5" >qosd.yaml
start_and_wait "$node" -c qosd.yaml -p policy.yaml
ask "$far" NR >nodes
lid_of() { sed -nE "s/.*\| lid=([0-9]+).*port_guid=0x$1.*/\1/p" nodes; }
guid_of() { sed -nE "s/.*\| lid=$1\|.*port_guid=0x([0-9a-f]+).*/\1/p" nodes; }
host=$(lid_of $node017_guid)
read -r leaf leaf_port < <(ask "$far" LR "$host" | sed -nE 's/.*ToPort=([0-9]+)\| ToLID=([0-9]+).*/\2 \1/p')
uplink=$(ask "$far" LR "$leaf" | sed -nE 's/.*FromPort=([0-9]+)\|.*/\1/p' | sort -n | tail -n 1)
[ -n "$host$uplink" ] || fail "no links of LID '$host' and '${leaf:-}'"

# same WHAT: the files device and sa must be equal and not empty.
same() {
	[ -s device ] || bad "$1: the device says nothing"
	expect_same "$1 by the device and by the SA" device sa
}

# Only pairs of ports of which the SA has records; a device has tables of all pairs, even unwritten ones.
for at in "$leaf $leaf_port" "$leaf $uplink" "$host 0"; do
	read -r l p <<<"$at"
	ask "$far" SL2VL "$l//$p" | grep "OutPort=$p|" |
		sed -nE 's/.*InPort=([0-9]+)\|.*\| ?VL:(.*)$/\1 \2/p' | tr -s '| ' ' ' | sed 's/ $//' | sort >sa
	on "$far" smpquery sl2vl "$l" "$p" 2>/dev/null |
		sed -nE 's/^ports: in +([0-9]+), out +[0-9]+: \|(.*)$/\1 \2/p' | tr -s '| ' ' ' | sed 's/ $//' |
		awk 'NR == FNR { told[$1]; next } $1 in told' sa - | sort >device
	same "SL2VL of LID $l, out $p"
done
# the host has only four VLs
expect_match "tables of a host" ' 0 1 2 3 0 1 2 3 15 15 15 15 0 0 0 15$' "$(tail -n 1 device)"

# arbitration LID PORT: prints the SA's VL arbitration tables in the format of vlarb in lib.sh.
arbitration() {
	ask "$far" VLAR "$1/$2" | awk -F '|' '
		{
			n = 0; line = ""
			for (i = 1; i <= NF; i++) {
				if ($i ~ /Block=/) block = substr($i, index($i, "=") + 1)
				if ($i ~ /VL ?:/) { kind = "vl"; sub(/.*:/, "", $i) }
				if ($i ~ /Weight ?:/) { kind = "weight"; n = base; sub(/.*:/, "", $i) }
				if ($i ~ /^ *[0-9]+ *$/ && kind != "") {
					if (kind == "vl") { if (!fresh) { base = n; fresh = 1 } vl[n++] = $i + 0 }
					else { weight[n++] = $i + 0; fresh = 0 }
				}
			}
			last = 0
			for (i = 0; i < n; i++) if (vl[i] || weight[i]) last = i + 1
			for (i = 0; i < last; i++) line = line " " vl[i] ":" weight[i]
			if (block == 1) low = line; else if (block == 3) high = line
			kind = ""; fresh = 0
		}
		END { print "low:" low " high:" high }'
}
for at in "$leaf $leaf_port" "$leaf $uplink" "$host 1"; do
	read -r l p <<<"$at"
	vlarb "$far" "0x$(guid_of "$l")" "$p" >device
	arbitration "$l" "$p" >sa
	same "VL arbitration of LID $l, port $p"
done
expect_match "arbitration of a host" 'low: 0:64 1:2 2:128 3:1 high: 3:64$' "$(<sa)"

# The port of the leaf towards node017 enforces partitions.
for at in "$leaf $leaf_port" "$leaf 0" "$host 1"; do
	read -r l p <<<"$at"
	on "$far" smpquery pkeys "$l" "$p" 2>/dev/null | sed -nE 's/^ *[0-9]+: //p' | tr ' ' '\n' | grep 0x >device
	ask "$far" --smkey 1 PKTR "$l/$p" | sed 's/.*PKey Table://' | tr -s '| ' '\n' | grep 0x |
		head -n "$(wc -l <device)" >sa
	same "P_Keys of LID $l, port $p"
	[ "$p" = 0 ] || expect "P_Keys of LID $l, port $p" "0xffff 0x8010" "$(grep -v 0x0000 sa | xargs)"
done
[[ $(ask "$far" PKTR "$host") == *ERR_REQ_DENIED* ]] || bad "P_Keys without the SM_Key: $(ask "$far" PKTR "$host")"

# promise: S8
note "forwarding tables"
read_tables "$far"
ask "$far" LFTR | awk -F '|' '
	FILENAME == ARGV[1] {
		if ($0 ~ /=Switch/) { match($0, /port_guid=0x[0-9a-f]+/); g = substr($0, RSTART + 12, RLENGTH - 12); sub(/^0+/, "", g)
			match($0, /\| lid=[0-9]+/); guid[substr($0, RSTART + 6, RLENGTH - 6)] = g }
		next
	}
	{
		match($0, / LID=[0-9]+/); l = substr($0, RSTART + 5, RLENGTH - 5)
		for (i = 1; i <= NF; i++)
			if (split($i, e, " ") == 2 && e[1] ~ /^[0-9]+$/ && e[2] != 255)
				printf "%s %04x %d\n", guid[l], e[1], e[2]
	}' nodes - | sort >sa
sort lft.devices >device
same "linear forwarding tables"

on_own "$node017" "$tools/pathquery" set member mgid=$broadcast port-gid="$(gid $node017_guid)" join-state=1 >/dev/null
on_own "$gpu01" "$tools/pathquery" set member mgid=$broadcast port-gid="$(gid $gpu01_guid)" join-state=1 >/dev/null
multicast_by_device() {
	on "$far" ibroute -M "$leaf" 2>&1 | awk '
		/^0xc/ {
			line = $1
			for (p = 0; p <= 36; p++)
				if (substr($0, 13 + 2 * p, 1) == "x")
					line = line " " p
			print line
		}' >device
	[ -s device ]
}
multicast_by_sa() {
	ask "$far" MFTR "$leaf" | awk -F '|' '
		function hex(s,  n, i) {
			for (i = 3; i <= length(s); i++) n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
			return n
		}
		{
			match($0, /Position=[0-9]+/); pos = substr($0, RSTART + 9, RLENGTH - 9)
			for (i = 1; i <= NF; i++)
				if (split($i, e, " ") == 2 && e[1] ~ /^0xc/)
					for (b = 0; b < 16; b++)
						if (int(hex(e[2]) / 2 ^ b) % 2)
							print e[1], pos * 16 + b
		}' | sort -k 1,1 -k 2n | awk '{ line[$1] = line[$1] " " $2 } END { for (m in line) print m line[m] }' | sort >sa
	[ -s sa ]
}
# qosd may write recent changes between the two reads
multicast_is_same() { multicast_by_device && multicast_by_sa && cmp -s device sa; }
until_ 5 multicast_is_same || same "multicast forwarding tables"

# promise: S8
note "what ports and switches are"
for field in LinearFdbCap McastFdbCap LinearFdbTop PartEnforceCap; do
	on "$far" smpquery switchinfo "$leaf" 2>&1 | sed -nE "s/^$field:\.*([0-9]+)$/\1/p"
done >device
ask "$far" SWIR "$leaf" | tr '|' '\n' |
	sed -nE 's/^ (LinearFDBCap|MulticastFDBCap|LinearFDBTop|PartitionEnforcementCap)=(.*)/\2/p' |
	xargs printf '%d\n' >sa
same "SwitchInfo"
# a port that is Down, as for PIR above
down=$(ask "$far" PIR "$leaf" | sed -nE 's/.*PortNum=([0-9]+)\|.*LinkState:=Down.*/\1/p' | head -n 1)
for p in "$down" "$leaf_port"; do
	on "$far" smpquery portinfo "$leaf" "$p" 2>/dev/null | sed -nE 's/^([A-Za-z0-9]+):\.+(.*)$/\1 \2/p' |
		grep -v '^LocalPort ' >device
	ask "$far" PIR "$leaf/$p" | tr '|' '\n' | sed -nE 's/^ ([A-Za-z0-9]+):=(.*)$/\1 \2/p' |
		grep -v '^LocalPort ' >sa
	# smpquery prints M_Keys, and some fields in two lines
	sed -i '/^Mkey /d' device sa
	expect "fields of PortInfo of port $p that the SA does not tell as the device does" "" \
		"$(grep -vxFf device sa | head -n 3)"
	[ "$(wc -l <sa)" -gt 40 ] || bad "PortInfo of port $p has $(wc -l <sa) fields"
done

# promise: S8
note "another SM"
start_opensm_standby() {
	local as
	mkdir osm.standby
	as "$far"
	OSM_CACHE_DIR=$work/osm.standby OSM_TMP_DIR=$work/osm.standby "${as[@]}" \
		opensm -f osm.standby/log -p 0 >osm.standby/out 2>&1 &
	opensm=$!
	pids+=("$opensm")
}
start_opensm_standby
states() { ask "$node017" SMIR | sed -nE 's/.*SMState=([0-9])$/\1/p' | sort | xargs; }
both() {
	ctl sweep >/dev/null
	[ "$(states)" = "2 3" ]
}
until_ 20 both || bad "SMs by the SA: $(ask "$node017" SMIR)"
expect "SM_Keys shown" "" "$(ask "$node017" SMIR | grep -v 'SM_Key=0x0000000000000000')"
end "$opensm"
gone_again() {
	ctl sweep >/dev/null
	[ "$(ask "$node017" SMIR | wc -l)" = 1 ]
}
until_ 20 gone_again || bad "SMs by the SA after one has gone: $(ask "$node017" SMIR)"
stop_qosd || bad "exit status $?"
stop_sim
