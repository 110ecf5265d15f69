/*
 * Places of switches and hosts on the map, in units of its own: the width of a host is 1.
 *
 * A tree has its leaves in a row with their hosts below, and a row for each rank above; leaves that have all but the
 * top ranks in common stand together, as a group (a pod).  A grid has its coordinates, the third and later dimensions
 * as planes side by side.  The groups of a dragonfly stand around a centre.
 */

/* Returns {x, y, w} of switches, {hx, hrow} of hosts by node: rows below the switch, hh high; {groups, groupOf, width, height}. */
function placeFabric(f)
{
	const kind = f.data.shape.kind, n = f.data.switches.node.length;
	const p = { x: new Float64Array(n), y: new Float64Array(n), w: new Float64Array(n).fill(4), groups: [],
		    groupOf: Array.from({ length: n }, () => []), hx: new Float64Array(f.n), hrow: new Int32Array(f.n),
		    hh: 1, width: 10, height: 10, kind };

	if (kind === "grid")
		placeGrid(f, p);
	else if (kind === "dragonfly")
		placeDragonfly(f, p);
	else
		placeRanks(f, p);
	finishGroups(f, p);
	return p;
}

function atOf(f, sw, dim)
{
	return f.data.switches.at[sw * f.data.shape.lengths.length + dim];
}

function swName(f, sw)
{
	return f.nodes.name[f.data.switches.node[sw]];
}

const byName = new Intl.Collator("en", { numeric: true }).compare;

/* --- ranks --- */

/* For each rank, the number of the part of each switch: parts are connected by switches of this rank or lower. */
function partsByRank(f, rank, nRanks)
{
	const n = rank.length, of = Int32Array.from({ length: n }, (_, i) => i), parts = [];
	const find = i => { while (of[i] !== i) i = of[i] = of[of[i]]; return i; };
	const byRank = Array.from({ length: nRanks }, () => []);

	for (let i = 0; i < f.nLinks; i++) {
		const a = f.swOf[f.links.a[i]], b = f.swOf[f.links.b[i]];

		if (a >= 0 && b >= 0 && a !== b)
			byRank[Math.max(rank[a], rank[b])].push([a, b]);
	}
	for (let r = 0; r < nRanks; r++) {
		for (const [a, b] of byRank[r])
			of[find(a)] = find(b);
		parts.push(Int32Array.from({ length: n }, (_, i) => find(i)));
	}
	return parts;
}

function columnsOf(hosts)
{
	return Math.max(3, Math.ceil(Math.sqrt(hosts)));
}

function placeRanks(f, p)
{
	const n = p.x.length, at = f.data.switches.at;
	const top = at.reduce((most, r) => Math.max(most, r), 0), nRanks = top + 1;
	const rank = Int32Array.from(at, r => r < 0 ? top : r);
	const parts = partsByRank(f, rank, nRanks);
	const order = d3.range(n).sort((a, b) => {
		for (let r = top; r >= 0; r--)
			if (parts[r][a] !== parts[r][b])
				return byName(swName(f, parts[r][a]), swName(f, parts[r][b])) ||
					parts[r][a] - parts[r][b];
		return byName(swName(f, a), swName(f, b)) || a - b;
	});

	if (nRanks === 1 && n > 1) {
		placeBlock(f, p, order);
		return;
	}
	const extent = placeLeaves(f, p, order, rank, parts, nRanks);
	const rows = nRanks + 0.3, high = Math.max(12, p.width / 2.2);
	p.height = high;
	p.rowHeight = high / rows;
	p.hh = 0.55 * p.rowHeight / d3.max(f.hostsOf, h => Math.ceil(h.length / columnsOf(h.length))) || 1;
	for (let r = 0; r < nRanks; r++)
		for (const [part, members] of d3.group(order.filter(s => rank[s] === r), s => parts[r][s]))
			placeRow(p, members, r, extent[r].get(part), (top - r + 0.4) * p.rowHeight);
	placeHostsBelow(f, p);
	groupParts(f, p, order, parts, top);
}

/* Gives each leaf its width, from left to right; returns the extent of each part of each rank. */
function placeLeaves(f, p, order, rank, parts, nRanks)
{
	const extent = parts.map(() => new Map());
	let x = 0, before = -1;

	for (const sw of order) {
		if (rank[sw] !== 0)
			continue;
		for (let r = 0; before >= 0 && r < nRanks; r++)
			x += parts[r][sw] !== parts[r][before] && r > 0 ? 2 : 0;
		p.w[sw] = columnsOf(f.hostsOf[sw].length);
		p.x[sw] = x + p.w[sw] / 2;
		for (let r = 0; r < nRanks; r++) {
			const e = extent[r].get(parts[r][sw]);

			extent[r].set(parts[r][sw], [e ? e[0] : x, x + p.w[sw]]);
		}
		x += p.w[sw] + 1;
		before = sw;
	}
	p.width = Math.max(x, 20);
	return extent;
}

/* Leaves keep their x; others are spread over the extent of their part. */
function placeRow(p, members, r, extent, y)
{
	const [from, to] = extent || [0, p.width];

	members.forEach((sw, i) => {
		p.y[sw] = y;
		if (r === 0 && extent)
			return;
		p.x[sw] = from + (to - from) * (i + 0.5) / members.length;
		p.w[sw] = Math.min(p.width / 7, 0.8 * (to - from) / members.length);
	});
}

function placeHostsBelow(f, p)
{
	f.hostsOf.forEach((hosts, sw) => {
		const columns = columnsOf(hosts.length), step = Math.min(1, p.w[sw] / columns);

		hosts.sort((a, b) => byName(f.nodes.name[a], f.nodes.name[b]));
		hosts.forEach((h, i) => {
			p.hx[h] = p.x[sw] + (i % columns + 0.5 - columns / 2) * step;
			p.hrow[h] = Math.floor(i / columns);
		});
	});
}

/* Parts of a rank below the top are groups if there are several of them, with several switches each. */
function groupParts(f, p, order, parts, top)
{
	for (let r = top - 1; r > 0; r--) {
		const found = d3.groups(order, s => parts[r][s]).filter(([, members]) => members.length > 1);

		if (found.length < 2)
			continue;
		found.forEach(([, members], i) => p.groups.push({ name: `pod ${i + 1}`, level: r, switches: members }));
	}
}

/* Switches of one rank, of which nothing else is known. */
function placeBlock(f, p, order)
{
	const columns = Math.ceil(Math.sqrt(order.length * 1.6));
	const cell = 3 + Math.max(4, d3.max(f.hostsOf, h => columnsOf(h.length)));

	order.forEach((sw, i) => {
		p.x[sw] = (i % columns + 0.5) * cell;
		p.y[sw] = (Math.floor(i / columns) + 0.4) * cell;
		p.w[sw] = cell - 3;
	});
	p.width = columns * cell;
	p.height = Math.ceil(order.length / columns) * cell;
	p.rowHeight = cell;
	p.hh = 0.5 * cell / d3.max(f.hostsOf, h => Math.ceil(h.length / columnsOf(h.length))) || 1;
	placeHostsBelow(f, p);
}

/* --- grids --- */

function placeGrid(f, p)
{
	const lengths = f.data.shape.lengths, n = p.x.length;
	const cell = 4 + Math.max(4, d3.max(f.hostsOf, h => columnsOf(h.length)));

	for (let sw = 0; sw < n; sw++) {
		let strideX = 1, strideY = 1, x = 0, y = 0;

		for (let d = 0; d < lengths.length; d++) {
			const at = Math.max(0, atOf(f, sw, d));

			if (d % 2 === 0) {
				x += at * strideX;
				strideX *= lengths[d] + 0.7;
			} else {
				y += at * strideY;
				strideY *= lengths[d] + 0.7;
			}
		}
		p.x[sw] = (x + 0.5) * cell;
		p.y[sw] = (y + 0.4) * cell;
		p.w[sw] = cell - 4;
	}
	p.width = d3.max(p.x) + cell / 2;
	p.height = d3.max(p.y) + 0.6 * cell;
	p.rowHeight = cell;
	p.hh = 0.45 * cell / d3.max(f.hostsOf, h => Math.ceil(h.length / columnsOf(h.length))) || 1;
	placeHostsBelow(f, p);
	groupPlanes(f, p, lengths);
}

/* The planes of the last dimension, if there are more than two. */
function groupPlanes(f, p, lengths)
{
	const last = lengths.length - 1, axis = "xyzwvu"[last] || `d${last + 1}`;

	if (last < 2)
		return;
	for (const [at, members] of d3.group(d3.range(p.x.length), s => atOf(f, s, last)))
		p.groups.push({ name: at < 0 ? "without a place" : `${axis} = ${at}`, level: 1, switches: members });
}

/* --- dragonflies --- */

function placeDragonfly(f, p)
{
	const [groups, members] = f.data.shape.lengths;
	const cell = 3 + Math.max(4, d3.max(f.hostsOf, h => columnsOf(h.length)));
	const columns = Math.ceil(Math.sqrt(members)), block = (columns + 1) * cell;
	const radius = Math.max(block, groups * block / 5.5);

	for (let sw = 0; sw < p.x.length; sw++) {
		const g = atOf(f, sw, 0), m = Math.max(0, atOf(f, sw, 1)), angle = 2 * Math.PI * (g < 0 ? groups : g) / groups;

		p.x[sw] = 1.5 * radius + 1.35 * radius * Math.sin(angle) + (m % columns + 0.5 - columns / 2) * cell;
		p.y[sw] = 1.2 * radius - radius * Math.cos(angle) + (Math.floor(m / columns) + 0.5 - columns / 2) * cell;
		p.w[sw] = cell - 3;
	}
	p.width = 3 * radius;
	p.height = 2.4 * radius;
	p.rowHeight = cell;
	p.hh = 0.5 * cell / d3.max(f.hostsOf, h => Math.ceil(h.length / columnsOf(h.length))) || 1;
	placeHostsBelow(f, p);
	for (const [at, all] of d3.group(d3.range(p.x.length), s => atOf(f, s, 0)))
		p.groups.push({ name: at < 0 ? "without a place" : `group ${at + 1}`, level: 1, switches: all });
}

/* --- groups --- */

/* Boxes and sums of groups, and the groups of each switch, the outermost first. */
function finishGroups(f, p)
{
	p.groups.sort((a, b) => b.level - a.level);
	p.groups.forEach((g, i) => {
		g.x0 = g.y0 = Infinity;
		g.x1 = g.y1 = -Infinity;
		g.hosts = 0;
		for (const sw of g.switches) {
			const below = f.hostsOf[sw].length ? 0.16 * p.rowHeight +
				Math.ceil(f.hostsOf[sw].length / columnsOf(f.hostsOf[sw].length)) * p.hh : 0;

			g.hosts += f.hostsOf[sw].length;
			g.x0 = Math.min(g.x0, p.x[sw] - p.w[sw] / 2 - 0.5);
			g.x1 = Math.max(g.x1, p.x[sw] + p.w[sw] / 2 + 0.5);
			g.y0 = Math.min(g.y0, p.y[sw] - 0.1 * p.rowHeight);
			g.y1 = Math.max(g.y1, p.y[sw] + Math.max(below, 0.1 * p.rowHeight));
			p.groupOf[sw].push(i);
		}
		g.first = swName(f, d3.least(g.switches, (a, b) => byName(swName(f, a), swName(f, b))));
		g.last = swName(f, d3.greatest(g.switches, (a, b) => byName(swName(f, a), swName(f, b))));
	});
}
