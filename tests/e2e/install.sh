#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests what `make install` leaves: files in their places, nothing overwritten in /etc,
# units that systemd accepts, manual pages without a warning from mandoc, and
# configuration that qosd itself accepts.
#
# promise: O2
set -eu
cd "$(dirname "$0")/../.."
root=${TMPDIR:-/tmp}/root
unset MAKEFLAGS MFLAGS MAKELEVEL

make_() {
	make --no-print-directory BUILD="$QOSD_BUILD" SANITIZE="$QOSD_SANITIZE" \
		DESTDIR="$root" "$@"
}
fail() {
	echo "$*" >&2
	exit 1
}

make_ install
for f in usr/sbin/qosd usr/bin/qosd-ctl usr/bin/qosd-sim; do
	[ -x "$root/$f" ] || fail "/$f is not there"
done
for f in etc/qosd/qosd.yaml etc/qosd/policy.yaml usr/share/man/man8/qosd.8 \
	usr/share/man/man8/qosd-ctl.8 usr/share/man/man5/qosd.yaml.5 \
	usr/share/man/man5/qosd-policy.5 usr/share/man/man7/qosd-hardware.7 \
	usr/share/man/man7/qosd-security.7 usr/share/man/man7/qosd-events.7 \
	usr/share/man/man7/qosd-json.7 usr/share/man/man7/qosd-metrics.7 \
	usr/share/bash-completion/completions/qosd-ctl usr/share/zsh/site-functions/_qosd-ctl \
	usr/share/fish/vendor_completions.d/qosd-ctl.fish; do
	[ -s "$root/$f" ] || fail "/$f is not there"
	[ "$(stat -c %a "$root/$f")" = 644 ] || fail "/$f has mode $(stat -c %a "$root/$f")"
done
for shell in bash zsh fish; do
	"$root/usr/bin/qosd-ctl" completion $shell >"$root/completion"
	find "$root/usr/share/" -name '*qosd-ctl*' -not -path '*/man/*' -exec cmp -s {} "$root/completion" \; -print |
		grep -q . || fail "the completion for $shell is not what qosd-ctl prints"
done
rm "$root/completion"
"$root/usr/bin/qosd-sim" run switch:2 -- ibstat -l >/dev/null	# finds its library
"$root/usr/sbin/qosd" --check -c "$root/etc/qosd/qosd.yaml" -p "$root/etc/qosd/policy.yaml"

# Each example is there, and each file that the shipped policy and the manual name.
examples=usr/share/doc/qosd/examples
diff -r examples "$root/$examples" || fail "/$examples is not the folder of the source"
grep -q "/$examples " "$root/etc/qosd/policy.yaml" || fail "policy.yaml does not name /$examples"
for f in $(sed -n '/^# .*share.doc/,/^$/p' "$root/etc/qosd/policy.yaml" | grep -oE 'policy-[a-z-]+\.yaml'); do
	[ -s "$root/$examples/$f" ] || fail "policy.yaml names $f, which is not in /$examples"
done

# Every file below /usr/share/doc that the manual names is there.
for f in $(grep -ohE '/usr/share/doc/[[:alnum:]_./-]+[[:alnum:]]' "$root"/usr/share/man/man*/*); do
	[ -e "$root$f" ] || fail "the manual names $f, which is not there"
done

# qosd accepts the README's policy, too.
sed -n '/^```yaml$/,/^```$/{/^```/d;p}' README.md >"$root/readme.yaml"
[ -s "$root/readme.yaml" ] || fail "the README has no policy"
said=$("$root/usr/sbin/qosd" --check -c "$root/etc/qosd/qosd.yaml" -p "$root/readme.yaml") ||
	fail "$said"
[ -z "$said" ] || fail "$said"
rm "$root/readme.yaml"

# Installing again does not overwrite the administrator's files.
echo "# mine" >"$root/etc/qosd/policy.yaml"
make_ install >/dev/null
[ "$(cat "$root/etc/qosd/policy.yaml")" = "# mine" ] || fail "policy.yaml was overwritten"

for page in "$root"/usr/share/man/man*/*; do
	complaints=$(mandoc -T lint -W warning "$page" 2>&1) || fail "$complaints"
	# The macro for quotes takes all that follows on its line: the second quotation would be inside the first.
	! grep -nE '^\.(.* )?(Dq|Ql|Qq|Sq) .* (Dq|Ql|Qq|Sq) ' "$page" || fail "$page has quotes within quotes"
done

# Pages named in the units must exist, and systemd-analyze must print nothing about the units: it
# succeeds with a warning on an unknown key.
if command -v systemd-analyze >/dev/null; then
	mkdir "$root/verify"
	unitdir=$(dirname "$(find "$root" -name qosd.service)")
	for unit in qosd.service qosd@.service qosd-rest.service; do
		sed "s|/usr/s*bin/|$root&|" "$unitdir/$unit" >"$root/verify/$unit"
		sed -n 's/^Documentation=//p' "$unitdir/$unit" | tr ' ' '\n' |
			sed 's/man:\(.*\)(\(.\))/\2 \1/' | while read -r section name; do
			[ -e "$root/usr/share/man/man$section/$name.$section" ] ||
				fail "$unit names $name($section), which is not installed"
		done
	done
	for unit in qosd.service qosd@.service; do
		said=$(systemd-analyze security --offline=yes --threshold=15 "$unitdir/$unit" 2>&1) ||
			fail "$unit is open to more than it was: $said"
		diff <(sed -n '/^# It needs/,/^$/p' "$unitdir/qosd.service") \
			<(sed -n '/^# It needs/,/^$/p' "$unitdir/$unit") ||
			fail "$unit has not the bounds of qosd.service"
	done
	# without that call it could not drop its capability
	[ "$(sed -n 's/^SystemCallFilter=//p' "$unitdir/qosd-rest.service" | grep -nE 'privileged|capset' | tail -n 1 | cut -d: -f2)" = capset ] ||
		fail "qosd-rest.service refuses capset"
	grep -q '^InaccessiblePaths=.* -/etc/qosd/qosd.yaml$' "$unitdir/qosd-rest.service" ||
		fail "qosd-rest.service shows the keys of qosd.yaml"
	said=$(systemd-analyze security --offline=yes --threshold=20 "$unitdir/qosd-rest.service" 2>&1) ||
		fail "qosd-rest.service is open to more than it was: $said"
	complaints=$(systemd-analyze verify --man=no "$root/verify/qosd.service" \
		"$root/verify/qosd@.service" "$root/verify/qosd-rest.service" 2>&1) || fail "$complaints"
	[ -z "$complaints" ] || fail "$complaints"
else
	echo "systemd-analyze is not installed: units not verified"
fi

# systemd-sysusers must be able to create the user that the units name; udev's rule has that user's group.
sysusers=$(find "$root" -path '*/sysusers.d/qosd.conf')
rules=$(find "$root" -path '*/udev/rules.d/90-qosd.rules')
[ -s "$sysusers" ] && [ -s "$rules" ] || fail "sysusers.d or a rule of udev is missing"
if command -v systemd-sysusers >/dev/null && [ "$(id -u)" -eq 0 ]; then
	systemd-sysusers --root="$root" qosd.conf || fail "systemd-sysusers"
	for u in User Group; do
		name=$(sed -n "s/^$u=//p" "$(find "$root" -name qosd.service -path '*system/*')")
		file=$root/etc/$([ "$u" = User ] && echo passwd || echo group)
		grep -q "^$name:" "$file" || fail "no $u $name in: $(cat "$file")"
	done
	grep -q '^qosd-rest:' "$root/etc/passwd" || fail "no user qosd-rest"
	grep -q "GROUP=\"$name\"" "$rules" || fail "udev gives the devices to others than $name"
	rm -f "$root"/etc/{passwd,group,shadow,gshadow}* "$root"/etc/.pwd.lock
fi

make_ uninstall >/dev/null
left=$(find "$root" -type f -not -path "$root/etc/qosd/*" -not -path "$root/verify/*"
	find "$root/usr/share/doc" -mindepth 1 -type d)
[ -z "$left" ] || fail "uninstall left $left"
