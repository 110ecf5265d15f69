#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the Debian packages as an administrator uses them, on a machine with systemd, dpkg, udev and an HCA: an
# installation starts nothing; an upgrade restarts what runs, and keeps the administrator's files, LIDs and dynamic
# partitions; a removal stops the services and keeps files and state; a purge leaves nothing.  The version before is
# made here, of the same files.
#
#   QOSD_PACKAGES=FOLDER tests/run tests/kernel/package.sh		the folder has qosd_*.deb and qosd-sim_*.deb
#
# No part of `make check-kernel', which has no packages: `make check-packages' runs it.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
[ -n "${QOSD_PACKAGES:-}" ] || { echo "QOSD_PACKAGES is not set"; exit 77; }

two_switches >two.topo
start_sim two.topo
mkdir -p first/share/before
cp "$QOSD_PACKAGES"/qosd_*.deb "$QOSD_PACKAGES"/qosd-sim_*.deb first/share || fail "no packages in $QOSD_PACKAGES"
# The version before has other settings, which dpkg may replace while nobody has changed them.
dpkg-deb -R first/share/qosd_*.deb before || fail "dpkg-deb"
version=$(sed -n 's/^Version: //p' before/DEBIAN/control)
sed -i 's/^Version: .*/Version: 0.0.1/' before/DEBIAN/control
echo "# before" >>before/etc/qosd/qosd.yaml
dpkg-deb -b before first/share/before/qosd.deb >out 2>&1 || fail "dpkg-deb: $(<out)"
boot first "first HCA-1" -S
wait_booted first

# do_ WHAT COMMAND...: a command in the machine, which must succeed.
do_() { guest first "${@:2}" >out 2>&1 || bad "$1: $(tail -n 5 out)"; }
install_() { do_ "dpkg installs $1" "DEBIAN_FRONTEND=noninteractive dpkg --force-confold -i /mnt/$1"; }
service() { guest first "systemctl show -p $2 --value $1"; }
# state SERVICE: "active enabled" or the like.
state() { guest first "systemctl is-active $1; systemctl is-enabled $1" 2>/dev/null | xargs; }
up() { guest first qosd-ctl -j status 2>/dev/null | grep -q '"subnet-up": true'; }
wait_until_up() { until_ $guest_seconds up || bad "the subnet is not up: $(guest first "journalctl -b -o cat -u qosd -n 5 --no-pager")"; }
own_lid() { guest first "cat /sys/class/infiniband/*/ports/1/lid"; }
mode() { guest first "stat -c '%U:%G %a' $1"; }
# files: what is there of qosd by its name.
files() {
	guest first "find /etc /lib/systemd /usr/bin /usr/sbin /usr/lib /usr/share /var /run/qosd* -xdev -name '*qosd*' \
		-not -path '*/journal/*' 2>/dev/null; ls -d /var/lib/qosd /etc/qosd 2>/dev/null" | sort -u
}

# The machine has the host's files: one that builds packages may forbid to start services, and the list of all its
# manual pages would be made anew by an emulated processor.  Its /run/qosd is for tests without systemd.
do_ "services may be started" "rm -f /usr/sbin/policy-rc.d /var/lib/man-db/auto-update; rm -rf /run/qosd"

note "an installation starts nothing"
installed_before=$(files)
install_ before/qosd.deb
install_ 'qosd-sim_*.deb'
expect "the daemon" "inactive disabled" "$(state qosd)"
expect "the gateway" "inactive disabled" "$(state qosd-rest)"
do_ "the files of the package are accepted" "qosd --check"
expect "who reads the gateway's settings" "root:qosd-rest 640" "$(mode /etc/qosd/qosd-rest.yaml)"
do_ "the driver" "modprobe simhca"
expect "the daemon, when the device has come" "inactive disabled" "$(state qosd)"

note "the administrator starts it, changes the policy and makes a partition"
do_ "enable --now" "systemctl enable --now qosd"
wait_until_up
do_ "the policy is changed" "cd /tmp && sed 's/^qos-levels:.*/&\n  extra: {sl: 1}/' /etc/qosd/policy.yaml >new.yaml &&
	! cmp -s new.yaml /etc/qosd/policy.yaml && qosd-ctl plan new.yaml && qosd-ctl policy install new.yaml --wait"
do_ "reload" "systemctl reload qosd"
do_ "a partition" "qosd-ctl partition add job17 self --wait"
do_ "the gateway's settings" "printf 'listen: \"127.0.0.1:8080\"\nplain-http: true\nusers: {}\n' >/etc/qosd/qosd-rest.yaml && qosd-rest --check"
do_ "the gateway" "systemctl enable --now qosd-rest"
policy=$(guest first "md5sum /etc/qosd/policy.yaml /etc/qosd/qosd-rest.yaml")
lid=$(own_lid)
daemon=$(service qosd MainPID) gateway=$(service qosd-rest MainPID)

note "an upgrade restarts what runs, and keeps files and state"
install_ "qosd_${version}_*.deb"
expect "the daemon" "active enabled" "$(state qosd)"
expect "the gateway" "active enabled" "$(state qosd-rest)"
[ "$(service qosd MainPID)" != "$daemon" ] || bad "the daemon was not restarted"
[ "$(service qosd-rest MainPID)" != "$gateway" ] || bad "the gateway was not restarted"
wait_until_up
expect "the LID" "$lid" "$(own_lid)"
expect "the administrator's files" "$policy" "$(guest first "md5sum /etc/qosd/policy.yaml /etc/qosd/qosd-rest.yaml")"
expect "who reads the gateway's settings" "root:qosd-rest 640" "$(mode /etc/qosd/qosd-rest.yaml)"
! guest first "grep '# before' /etc/qosd/qosd.yaml" || bad "settings that nobody has changed are still those of before"
guest first "qosd-ctl partitions" | grep -q job17 || bad "the partition is gone: $(guest first "qosd-ctl partitions")"

note "a removal stops the services, and keeps files and state"
do_ "dpkg removes it" "dpkg -r qosd"
expect "the daemon" inactive "$(guest first "systemctl is-active qosd")"
expect "the gateway" inactive "$(guest first "systemctl is-active qosd-rest")"
expect "processes of qosd" "" "$(guest first "pgrep -l qosd")"
expect "the policy" "${policy%%$'\n'*}" "$(guest first "md5sum /etc/qosd/policy.yaml")"
install_ "qosd_${version}_*.deb"
do_ "it starts again" "systemctl start qosd"
wait_until_up
expect "the LID" "$lid" "$(own_lid)"
guest first "qosd-ctl partitions" | grep -q job17 || bad "the partition is gone with the removal"

note "a purge leaves nothing"
do_ "dpkg purges them" "dpkg -P qosd qosd-sim"
expect "what is left" "$installed_before" "$(files)"
kernel_is_calm first
