#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests who comes in at the REST gateway and what clients can hold up, with a daemon that only answers: certificates
# of clients, clients that send slowly, proxies, pages of other sites, and changes that wait for each other.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rest/gateway.sh
. "$top/tests/e2e/rest/gateway.sh"

python3 "$top/tests/e2e/rest/fake_daemon.py" "$work/fake.sock" >fake.log 2>&1 &
pids+=("$!")
until_ 10 test -S fake.sock || fail "no daemon: $(<fake.log)"

# new_client NAME SUBJECT [EXTENSION]: makes NAME.crt and NAME.key, issued by ca.
new_client() {
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$1.key" -out "$1.csr" -subj "$2" >openssl.log 2>&1 &&
		openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -out "$1.crt" \
			-extfile <(echo "${3:-extendedKeyUsage=clientAuth}") >>openssl.log 2>&1 || fail "openssl: $(<openssl.log)"
}
new_certificate tls
new_certificate ca
new_client arm "/O=Test/CN=arm"
new_client leg "/O=Test/CN=leg"
new_client server "/O=Test/CN=arm" extendedKeyUsage=serverAuth
new_certificate self
subject=$(openssl x509 -in arm.crt -noout -subject -nameopt RFC2253 | sed 's/^subject= *//')
expect "a subject as openssl writes it" "CN=arm,O=Test" "$subject"
hash=$(echo secret | "$build/qosd-rest" --hash-password)
cat >rest.yaml <<END
listen: 127.0.0.1:$rest_port
certificate: $work/tls.crt
key: $work/tls.key
client-ca: $work/ca.crt
socket: $work/fake.sock
wait: 1s
request-timeout: 2s
users:
  k8s: {password: "$hash", right: partitions}
  arm: {subjects: ["$subject"], right: partitions}
END
"$build/qosd-rest" --check -c rest.yaml >check.log 2>&1 || bad "--check: $(<check.log)"
cp tls.key ca.good
sed "s|^client-ca: .*|client-ca: $work/ca.good|" rest.yaml >bad.yaml
"$build/qosd-rest" --check -c bad.yaml >check.log 2>&1 && bad "--check takes a key for a CA"
expect_match "what is no CA" 'ca.good: ' "$(<check.log)"
start_rest rest.yaml rest.log

# promise: J12
note "certificates of clients"
with() { rest_curl "$1/app/ufm_version" --cert "$2.crt" --key "$2.key" "${@:3}"; }
for base in ufmRest ufmRestV2 ufmRestV3; do
	expect_match "at $base" '^200 ' "$(with $base arm)"
done
expect_match "of no user" '^401 the certificate of CN=leg,O=Test belongs to no user' "$(with ufmRestV2 leg)"
expect_match "of a server" "^401 the client's certificate is refused: .*" "$(with ufmRestV2 server)"
expect_match "of another issuer" "^401 the client's certificate is refused: .*issuer" "$(with ufmRestV2 self)"
expect_match "none" '^401 credentials are missing' "$(rest_curl ufmRestV2/app/ufm_version)"
expect_match "a password beside it" '^200 ' "$(with ufmRest leg -u k8s:secret)"
expect_match "a wrong password beside it" '^401 ' "$(with ufmRest arm -u k8s:wrong)"
expect_match "who did it" '^200 ' "$(rest_curl ufmRestV2/resources/pkeys --cert arm.crt --key arm.key -d '{"pkey": "0x42", "guids": ["0002c90300000001"]}')"
until_ 5 grep -q 'user arm: POST ' rest.log || bad "not in the log: $(tail -n 3 rest.log)"

# promise: J18
note "a list of revoked certificates"
cat >ca.conf <<END
[ca]
default_ca = one
[one]
database = $work/revoked
default_md = sha256
default_days = 2
policy = any
[any]
END
: >revoked
# new_list NAME [OPTION...]: makes NAME of what was revoked so far, by ca.
new_list() {
	openssl ca -config ca.conf -cert ca.crt -keyfile ca.key -gencrl -out "$1" "${@:2}" >openssl.log 2>&1 || fail "openssl: $(<openssl.log)"
}
new_list clients.crl -crldays 1
# read_again WHAT: has the gateway read its settings again, until its log says so.
read_again() {
	local before
	before=$(grep -c "$1" rest.log)
	kill -HUP "$rest_pid"
	was_read() { [ "$(grep -c "$1" rest.log)" -gt "$before" ]; }
	until_ 10 was_read "$1" || bad "no '$1' in the log: $(tail -n 3 rest.log)"
}
sed -i "s|^client-ca: .*|&\nclient-crl: $work/clients.crl|" rest.yaml
read_again "read again"
expect_match "nobody is revoked" '^200 ' "$(with ufmRestV2 arm)"
openssl ca -config ca.conf -cert ca.crt -keyfile ca.key -revoke arm.crt >openssl.log 2>&1 || fail "openssl: $(<openssl.log)"
new_list clients.crl -crldays 1
expect_match "not read yet" '^200 ' "$(with ufmRestV2 arm)"
read_again "read again"
expect_match "revoked" "^401 the client's certificate is refused: it was revoked" "$(with ufmRestV2 arm)"
expect_match "another of that CA" '^401 the certificate of CN=leg,O=Test belongs to no user' "$(with ufmRestV2 leg)"
expect_match "a password beside it" '^200 ' "$(with ufmRest arm -u k8s:secret)"
cp tls.crt clients.crl
read_again "clients.crl: .*; the former settings stay"
expect_match "what is no list changes nothing" "^401 .*it was revoked" "$(with ufmRestV2 arm)"
rm clients.crl
"$build/qosd-rest" --check -c rest.yaml >check.log 2>&1 && bad "--check takes a list that is not there"
expect_match "why" 'clients.crl: .*No such file' "$(<check.log)"
new_certificate other
openssl ca -config ca.conf -cert other.crt -keyfile other.key -gencrl -crldays 1 -out clients.crl >openssl.log 2>&1 || fail "openssl: $(<openssl.log)"
"$build/qosd-rest" --check -c rest.yaml >check.log 2>&1 && bad "--check takes a list of another CA"
expect_match "why" 'clients.crl: list 1 is not signed by a CA of client-ca' "$(<check.log)"
new_list clients.crl -crl_lastupdate 20200101000000Z -crl_nextupdate 20200102000000Z
read_again "read again"
expect_match "the log" "clients.crl: .* is out of date: those of its issuer are refused" "$(<rest.log)"
expect_match "a list that is out of date" "^401 .*is out of date" "$(with ufmRestV2 leg)"
: >revoked
new_list clients.crl -crldays 1
read_again "read again"
expect_match "nobody is revoked any more" '^200 ' "$(with ufmRestV2 arm)"

# promise: J13
note "clients that send slowly, and too many of one"
auth="Authorization: Basic $(printf k8s:secret | base64)"
cat >clients.py <<'END'
"""hold N: opens N connections and sends nothing; prints how many stay open, and the seconds of the longest.
trickle HEAD: sends HEAD and then a byte now and then; prints the seconds until the connection is closed."""
import selectors, socket, ssl, sys, time

port, what, arg = int(sys.argv[1]), sys.argv[2], sys.argv[3]
begun = time.monotonic()


def since():
    return round(time.monotonic() - begun, 1)


if what == "hold":
    waiting, closed = selectors.DefaultSelector(), []
    for _ in range(int(arg)):
        waiting.register(socket.create_connection(("127.0.0.1", port)), selectors.EVENT_READ)
    refused = 0
    while waiting.get_map():
        ready = waiting.select(0.5)
        for key, _ in ready:
            waiting.unregister(key.fileobj)
            key.fileobj.close()
            closed.append(since())
        if not ready and not refused:
            refused = len(closed)
            print("up", flush=True)
    print(int(arg) - refused, max(closed))
else:
    context = ssl.create_default_context(cafile="tls.crt")
    try:
        with context.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname="localhost") as s:
            s.sendall(arg.encode().decode("unicode_escape").encode())
            s.settimeout(0.2)
            while since() < 20:
                s.sendall(b"x")
                try:
                    if not s.recv(4096):
                        break
                except TimeoutError:
                    pass
    except OSError:
        pass
    print(since())
END
expect_match "known before" '^200 ' "$(rest GET app/ufm_version)"
: >hold.out
python3 clients.py "$rest_port" hold 40 >hold.out 2>&1 &
hold=$!
until_ 10 grep -q up hold.out || bad "no connections: $(<hold.out)"
expect "all places of an address are taken" "000" "$(rest GET app/ufm_version)"
wait "$hold"
read -r served longest < <(tail -n 1 hold.out)
expect "connections of one address" 32 "$served"
expect_less "seconds of the longest" 10 "${longest%.*}"
expect_match "served again" '^200 ' "$(rest GET app/ufm_version)"
trickle() { python3 clients.py "$rest_port" trickle "$1" | sed 's/\..*//'; }
trickle 'GET /ufmRest/app/ufm_version HTTP/1.1\r\nX-Slow: ' >head.out &
head=$!
slow_body=$(trickle "POST /ufmRest/resources/pkeys HTTP/1.1\r\nHost: a\r\n$auth\r\nContent-Length: 10000\r\n\r\n")
wait "$head"
expect_less "seconds of a slow head" 10 "$(<head.out)"
expect_less "seconds of a slow body" 10 "$slow_body"

# promise: J13
note "pages of other sites"
from() { rest_curl ufmRest/app/ufm_version -u k8s:secret -H "Origin: $1"; }
expect_match "another" '^403 Origin' "$(from https://evil.example)"
expect_match "a sandbox" '^403 Origin' "$(from null)"
expect_match "its own" '^200 ' "$(from "$url")"

# promise: J13
note "a change that takes long"
echo 3 >slow
change() { rest POST resources/pkeys "{\"pkey\": \"$1\", \"guids\": [\"0002c90300000001\"]}"; }
change 0x42 >first.out &
first=$!
changing() { [ "$(grep -c '^partition change$' fake.log)" -gt "$(grep -c '^partition change answered' fake.log)" ]; }
until_ 5 changing || bad "no change: $(<fake.log)"
curl -s --cacert tls.crt -u k8s:secret -D head.out -d '{"pkey": "0x43", "guids": ["0002c90300000001"]}' "$url/ufmRest/resources/pkeys" >second.out
expect_match "another change meanwhile" '^other changes' "$(<second.out)"
expect_match "asks to be repeated" '^http/1.1 503 .*retry-after: 1' "$(tr -d '\r' <head.out | tr 'A-Z\n' 'a-z ')"
expect_match "a look meanwhile" '^200 ' "$(rest GET resources/pkeys)"
wait "$first"
expect "the first one" "200 {}" "$(<first.out)"

note "another server takes its place"
echo 1.5 >slow
change 0x44 >first.out &
first=$!
until_ 5 changing || bad "no change: $(<fake.log)"
sed -i 's/^wait: 1s/wait: 30s/' rest.yaml
kill -HUP "$rest_pid"
again() { change 0x45 >second.out; [ "$(<second.out)" = "200 {}" ]; }
rm slow
until_ 20 again || bad "the second change: $(<second.out)"
wait "$first"
expect "the first one" "200 {}" "$(<first.out)"
# no change begins before the one that came first is answered
expect "the order" "" "$(grep '^partition change' fake.log | awk '/answered/ { n--; next } { n++ } n > 1')"

# promise: J13
note "proxies"
cp rest.yaml proxy.yaml
sed -i "s|^listen: .*|listen: 127.0.0.1:$((rest_port + 1))|; /^certificate:/d; /^key:/d; /^client-ca:/d; /^client-crl:/d; /^  arm:/d; s|^users:|plain-http: true\n&|" proxy.yaml
end "$rest_pid" || bad "qosd-rest ends with exit status $?"
start_rest proxy.yaml proxy.log
url=http://127.0.0.1:$((rest_port + 1))
# guess_and ADDRESS: 100 wrong passwords for one client of the proxy, then the right one for another, on one connection.
guess_and() {
	curl -s -o /dev/null -w '%{http_code}\n' -u k8s:guess -H "X-Forwarded-For: 198.51.100.7" "$url/ufmRest/app/ufm_version?[1-100]" \
		--next -s --cacert tls.crt -o /dev/null -w '%{http_code}\n' -u k8s:secret -H "X-Forwarded-For: $1" "$url/ufmRest/app/ufm_version" >guesses
	grep -q '^401' guesses && grep -q '^429' guesses || bad "guesses: $(sort guesses | uniq -c | paste -sd' ')"
}
guess_and 198.51.100.8
expect "who is not trusted is one address" 429 "$(tail -n 1 guesses)"
until_ 5 grep -q '127.0.0.1: GET .*401' proxy.log || bad "not in the log: $(tail -n 3 proxy.log)"
end "$rest_pid" || bad "qosd-rest ends with exit status $?"
sed -i "s|^users:|trusted-proxies: [127.0.0.0/8]\n&|" proxy.yaml
start_rest proxy.yaml proxy.log
guess_and "203.0.113.1, 198.51.100.8"
expect "another client of the proxy" 200 "$(tail -n 1 guesses)"
until_ 5 grep -q '198.51.100.7: GET .*401' proxy.log || bad "not in the log: $(tail -n 3 proxy.log)"
end "$rest_pid" || bad "qosd-rest ends with exit status $?"
