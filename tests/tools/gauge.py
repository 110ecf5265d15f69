#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# gauge.py TOPOLOGY TABLES [BISECTIONS]: the figures of `qosd-ctl routes --gauge`, from what
# ibnetdiscover and dump_fts print (or OpenSM's opensm-lfts.dump), to check qosd by.  It shares
# nothing with qosd, and walks each pair for itself.  Each figure is a line: name, value.
import collections
import random
import re
import sys

LANE = {"SDR": 2.0, "DDR": 4.0, "QDR": 8.0, "FDR10": 10.0, "FDR": 14.0625 * 64 / 66,
        "EDR": 25.0, "HDR": 50.0, "NDR": 100.0, "XDR": 200.0}


class Fabric:
    def __init__(self):
        self.switches = set()   # ids, "S-…"
        self.by_guid = {}       # node GUID -> id
        self.peer = {}          # (id, port) -> (id, port)
        self.rate = {}          # (id, port) -> Gb/s
        self.ends = []          # (LID, id, port) of the hosts' ports
        self.table = {}         # switch -> {LID: port}


def read_topology(path):
    f = Fabric()
    node, is_switch, inner, device, vendor = None, False, False, 0, 0
    for line in open(path, encoding="utf-8", errors="replace"):
        if m := re.match(r"vendid=0x([0-9a-f]+)", line):
            vendor = int(m[1], 16)
        elif m := re.match(r"devid=0x([0-9a-f]+)", line):
            device = int(m[1], 16)
        elif m := re.match(r"(?:switch|ca|rt)guid=0x([0-9a-f]+)", line):
            guid = int(m[1], 16)
        elif m := re.match(r"(Switch|Ca|Rt)\s+\d+\s+\"([^\"]+)\"", line):
            node, is_switch = m[2], m[1] == "Switch"
            # a SHARP aggregation node: no host
            inner = m[1] == "Ca" and (vendor, device) == (0x2c9, 0xcf09)
            f.by_guid[guid] = node
            if is_switch:
                f.switches.add(node)
        elif m := re.match(r"\[(\d+)\](?:\([0-9a-f]+\))?\s+\"([^\"]+)\"\[(\d+)\]", line):
            here, far = (node, int(m[1])), (m[2], int(m[3]))
            comment = line.split("#")[-1]
            speed = re.search(r"\b(\d+)x([A-Z]+\d*)\b", comment)
            f.peer[here] = far
            f.rate[here] = int(speed[1]) * LANE[speed[2]]
            if not is_switch and not inner:
                lid = int(re.search(r"lid (\d+)", comment)[1])
                if lid:
                    f.ends.append((lid, node, here[1]))
    for here, far in f.peer.items():
        f.rate[here] = min(f.rate[here], f.rate.get(far, f.rate[here]))
    f.ends = sorted(e for e in f.ends if f.peer[e[1:]][0] in f.switches)
    return f


def read_tables(f, path):
    table = None
    for line in open(path, encoding="utf-8", errors="replace"):
        if m := re.match(r"Unicast lids .*? guid 0x([0-9a-f]+)", line):
            table = f.table[f.by_guid[int(m[1], 16)]] = {}
        elif m := re.match(r"0x([0-9a-f]+) +(\d+)", line):
            table[int(m[1], 16)] = int(m[2])


def is_cable(f, out):
    return out in f.peer and f.peer[out][0] in f.switches and f.peer[out][0] != out[0]


def walk(f, src, dst):
    """The out ports of the switches on the route; None: it does not arrive."""
    route, switch = [], f.peer[src[1:]][0]
    while len(route) <= len(f.switches):
        out = (switch, f.table.get(switch, {}).get(dst[0], 255))
        route.append(out)
        if f.peer.get(out) == dst[1:]:
            return route
        if not is_cable(f, out):
            return None
        switch = f.peer[out][0]
    return None


def distances(f):
    near = collections.defaultdict(set)
    for out in f.peer:
        if out[0] in f.switches and is_cable(f, out):
            near[out[0]].add(f.peer[out][0])
    all_of = {}
    for start in {f.peer[e[1:]][0] for e in f.ends}:
        dist, queue = {start: 1}, collections.deque([start])
        while queue:
            switch = queue.popleft()
            for to in near[switch]:
                if to not in dist:
                    dist[to] = dist[switch] + 1
                    queue.append(to)
        all_of[start] = dist
    return all_of


def has_cycle(f, routes):
    """Takes away channels that wait for none, again and again; the rest is in cycles."""
    waits, waited = collections.defaultdict(set), collections.defaultdict(set)
    for route in routes:
        for a, b in zip(route, route[1:-1]):
            waits[a].add(b)
            waited[b].add(a)
    free = [c for c in waited if not waits[c]]
    while free:
        for before in waited.pop(free.pop(), ()):
            waits[before] = {c for c in waits[before] if c in waited}
            if not waits[before]:
                free.append(before)
                waits.pop(before)
    return any(waits.values())


def bisection(f, routes, rng):
    ends = f.ends[:]
    rng.shuffle(ends)
    half = len(ends) // 2
    pairs = list(zip(ends[:half], ends[half:2 * half]))
    flows = collections.Counter()
    for pair in pairs:
        flows.update((routes[pair] or [None])[:-1])
    total = 0.0
    for src, dst in pairs:
        if routes[src, dst] is None:
            continue
        ends_rate = min(f.rate[src[1:]], f.rate[dst[1:]])
        total += min([1.0] + [f.rate[c] / flows[c] / ends_rate for c in routes[src, dst][:-1]])
    return total / half


def shift(f, routes, k):
    n, flows = len(f.ends), collections.Counter()
    arrives = False
    for i in range(n):
        route = routes[f.ends[i], f.ends[(i + k) % n]]
        if route:
            arrives = True
            flows.update(route[:-1])
    return max([int(arrives)] + list(flows.values()))


def main():
    f = read_topology(sys.argv[1])
    read_tables(f, sys.argv[2])
    routes = {(a, b): walk(f, a, b) for a in f.ends for b in f.ends if a != b}
    dist = distances(f)
    load, sent, received = collections.Counter(), collections.Counter(), collections.Counter()
    leaving, entering = collections.Counter(), collections.Counter()
    ratios, longer, hops_max, shortest, connected = [], 0, 0, 0, 0
    for (src, dst), route in routes.items():
        if route is None:
            continue
        home, away = f.peer[src[1:]][0], f.peer[dst[1:]][0]
        least = dist[home][away]
        connected += 1
        ratios.append(len(route) / least)
        longer = max(longer, len(route) - least)
        hops_max = max(hops_max, len(route))
        shortest += least - 1
        load.update(route[:-1])
        sent[src] += 1
        received[dst] += 1
        if home != away:
            leaving[home] += 1
            entering[away] += 1

    cables = [c for c in f.peer if c[0] in f.switches and is_cable(f, c)]
    capacity = collections.Counter()
    for c in cables:
        capacity[c[0]] += f.rate[c]
    ends = [max(sent[e], received[e]) / f.rate[e[1:]] for e in f.ends]
    bounds = ends[:]
    for crossing in (leaving, entering):
        bounds += [n / capacity[s] for s, n in crossing.items()]
    if shortest:
        bounds.append(shortest / sum(capacity.values()))
    busiest = max(ends + [load[c] / f.rate[c] for c in cables], default=0)

    count = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    rng = random.Random(20080929)
    means = [bisection(f, routes, rng) for _ in range(count)]
    shifts = [shift(f, routes, k) for k in range(1, len(f.ends))]
    for name, value in (
            ("end-ports", len(f.ends)), ("pairs", len(routes)), ("connected", connected),
            ("hops-ratio", f"{sum(ratios) / connected:.6f}"),
            ("hops-ratio-max", f"{max(ratios):.6f}"),
            ("hops-longer-max", longer), ("hops-max", hops_max),
            ("cable-directions", len(cables)),
            ("edge-forwarding-index", max(load.values(), default=0)),
            ("routes-mean", f"{sum(load.values()) / len(cables):.6f}"),
            ("all-to-all", f"{busiest / max(bounds):.6f}"),
            ("bisection-bandwidth", f"{sum(means) / count:.6f}"),
            ("shift-load", f"{sum(shifts) / len(shifts):.6f}"),
            ("shift-load-max", max(shifts)),
            ("credit-loop", str(has_cycle(f, [r for r in routes.values() if r])).lower())):
        print(name, value)


main()
