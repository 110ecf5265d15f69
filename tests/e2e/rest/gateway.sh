#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Functions for tests of the REST gateway, beside those of lib.sh: a certificate, a gateway that runs, and requests.
# shellcheck disable=SC2034,SC2154	# set here, used there, and the other way round
command -v curl >/dev/null && command -v openssl >/dev/null || { echo "curl or openssl is not installed"; exit 77; }

rest_port=$((20000 + $$ % 20000))
url=https://127.0.0.1:$rest_port

# new_certificate NAME: makes NAME.key and NAME.crt, of this machine.
new_certificate() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$1.key" -out "$1.crt" -days 2 \
		-subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 >openssl.log 2>&1 ||
		fail "openssl: $(<openssl.log)"
}

# served_here: prints the settings of a gateway to our qosd that serves at $url with the certificate "tls".
served_here() {
	printf '%s\n' "listen: 127.0.0.1:$rest_port" "certificate: $work/tls.crt" "key: $work/tls.key" "socket: $sock"
}

# start_rest SETTINGS LOG: starts a gateway and waits until it serves; sets rest_pid.
start_rest() {
	chmod 600 "$1"
	: >"$2"
	"$build/qosd-rest" -c "$1" >"$2" 2>&1 &
	rest_pid=$!
	pids+=("$rest_pid")
	until_ 10 grep -q 'serving at' "$2" || fail "qosd-rest does not start: $(<"$2")"
}

# rest METHOD PATH [BODY]: prints the status and the answer of a request by the user "k8s".
rest() { rest_as k8s:secret "$@"; }
rest_as() {
	local data=()
	[ $# -lt 4 ] || data=(-H 'Content-Type: application/json; charset=utf-8' --data-binary "$4")
	rest_curl "ufmRest/$3" -u "$1" -X "$2" "${data[@]}"
}
rest_token() {	# rest_token TOKEN METHOD PATH [BODY]
	rest_curl "ufmRestV3/$3" -H "Authorization: Basic $1" -X "$2" ${4:+--data-binary "$4"}
}
rest_curl() {	# rest_curl PATH [ARGUMENT...]
	curl -s -g --max-time 20 --cacert tls.crt -w '\n%{http_code}\n' "${@:2}" "$url/$1" | grep . | tac | paste -sd' '
}
rest_json() { rest GET "$1" | sed 's/^200 //' | jq -c "$2"; }	# rest_json PATH FILTER
