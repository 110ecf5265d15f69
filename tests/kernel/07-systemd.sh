#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests qosd.service on a machine with systemd, udev and an HCA that comes and goes: as its own user, in its
# sandbox, before the device exists, without a link, over reload, restart, crash and upgrade, and when the
# driver is removed under it.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

two_switches >two.topo
start_sim two.topo
mkdir -p first/share
make -s -C "$top" BUILD="$build" install DESTDIR="$work/first/share/tree" >install.log 2>&1 || fail "make install: $(tail -n 3 install.log)"
sim_do link down 0x1000	# rdma-ndd gives the node another name
boot first "first HCA-1" -S
wait_booted first

service() { guest first "systemctl show -p $1 --value qosd"; }
is() { [ "$(service "$1")" = "$2" ]; }
# wait_for PROPERTY VALUE WHAT
wait_for() { until_ $guest_seconds is "$1" "$2" || bad "$3: $1 is $(service "$1"): $(journal | tail -n 5)"; }
journal() { guest first "journalctl -b -o cat -u qosd --no-pager"; }
says() { journal | grep -qE "$1"; }
up() { guest first qosd-ctl -j status 2>/dev/null | grep -q '"subnet-up": true'; }
own_lid() { guest first "cat /sys/class/infiniband/*/ports/1/lid"; }
wait_until_up() { until_ $guest_seconds up || bad "the subnet is not up: $(journal | tail -n 5)"; }

# promise: X10
note "before the device exists: nothing is started"
guest first "systemctl enable qosd" >out 2>&1 || bad "it cannot be enabled: $(<out)"
guest first "systemctl start qosd" >out 2>&1 || bad "a start without a device fails: $(<out)"
expect "its state" inactive "$(service ActiveState)"
expect "whether its condition holds" no "$(service ConditionResult)"

# promise: X10
note "the device comes: udev has it started; without a link it waits for one"
guest first "modprobe simhca" || fail "no driver"
waits() { says 'no InfiniBand port is connected'; }
wait_for ActiveState activating "it is not started by the device"
until_ $guest_seconds waits || bad "it does not say what it waits for: $(journal | tail -n 5)"
sim_do link up 0x1000
wait_for ActiveState active "it does not become ready with the link"
wait_until_up
main_pid=$(service MainPID)
expect "its user" qosd "$(guest first "stat -c %U /proc/$main_pid")"
expect "its capabilities" "CapPrm: 0000000000000000 CapEff: 0000000000000000" \
	"$(guest first "grep -E 'Cap(Prm|Eff)' /proc/$main_pid/status" | tr '\n\t' '  ' | sed 's/  */ /g; s/ $//')"
expect "whether system calls are filtered" "Seccomp: 2" "$(guest first "grep ^Seccomp: /proc/$main_pid/status" | tr '\t' ' ')"
expect "how systemd knows that it is ready" notify "$(service Type)"

# promise: X10
note "reload and restart"
guest first "systemctl reload qosd" >out 2>&1 || bad "reload: $(<out)"
guest first "printf 'qos-levels: {default: {sl: 16}}\n' >/etc/qosd/policy.yaml; systemctl reload qosd" >out 2>&1 &&
	bad "a reload with an error in the policy succeeds"
expect "its process after reloads" "$main_pid" "$(service MainPID)"
up || bad "a bad policy has done harm"
guest first "printf 'qos-levels: {default: {sl: 0}}\n' >/etc/qosd/policy.yaml; systemctl restart qosd" >out 2>&1 ||
	bad "restart: $(<out)"
wait_until_up
guest first "kill -KILL \$(systemctl show -p MainPID --value qosd)"
wait_for NRestarts 1 "it is not started again after a crash"
wait_for ActiveState active "it is not ready after a crash"
wait_until_up

# promise: X10
note "another version is installed while it runs"
lid=$(own_lid)
guest first "tar -C /mnt/tree --exclude=./etc -c . | tar -C / -x --no-same-owner --keep-directory-symlink &&
	systemctl daemon-reload && systemctl restart qosd" >out 2>&1 ||
	bad "restart with other files: $(<out)"
wait_until_up
expect "the LID" "$lid" "$(own_lid)"

# promise: X10
note "the driver is removed under it"
guest first "rmmod simhca" || bad "the driver cannot be removed"
gone_and_told() { says 'the port no longer receives: is the device gone'; }
until_ $guest_seconds gone_and_told || bad "no error says that the device is gone: $(journal | tail -n 8)"
guest first "modprobe simhca" || bad "no driver"
wait_for ActiveState active "it does not come back with the device"
wait_until_up
guest first "systemctl stop qosd" >out 2>&1 || bad "stop: $(<out)"
expect "how it ended" success "$(service Result)"
kernel_is_calm first
