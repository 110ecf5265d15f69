"use strict";
/*
 * SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * Unpacks the data of the page (ctl/report/report.h in qosd's sources), and makes of it what the other files draw:
 * a fabric of nodes, switches, hosts and links, by number.
 */

/* The colours of levels, those of `bandwidth --html`; they repeat when they run out. */
const LEVEL_COLOURS = ["#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#edc948", "#76b7b2", "#ff9da7", "#9c755f",
	"#86bcb6", "#d4a6c8", "#8cd17d", "#d37295", "#a0cbe8", "#ffbe7d", "#499894", "#79706e"];

function levelColour(i)
{
	return LEVEL_COLOURS[i % LEVEL_COLOURS.length];
}

async function unpack(text)
{
	const packed = Uint8Array.from(atob(text.trim()), c => c.charCodeAt(0));
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));

	return JSON.parse(await new Response(stream).text());
}

/* Nodes are numbers; a switch also has a number among the switches, -1 for other nodes. */
function makeFabric(data)
{
	const nodes = data.nodes, links = data.links, n = nodes.name.length;
	const f = {
		data, nodes, links, n,
		nLinks: links.a.length,
		swOf: new Int32Array(n).fill(-1),
		homeOf: new Int32Array(n).fill(-1),	/* of a node that is no switch: the first switch it is linked to */
		hostsOf: data.switches.node.map(() => []),
		linksOf: Array.from({ length: n }, () => []),
	};

	data.switches.node.forEach((node, sw) => { f.swOf[node] = sw; });
	for (let i = 0; i < f.nLinks; i++) {
		const a = links.a[i], b = links.b[i];

		f.linksOf[a].push(i);
		f.linksOf[b].push(i);
		settle(f, a, b);
		settle(f, b, a);
	}
	f.shortNames = withoutPrefix(data.switches.node.map(node => nodes.name[node]));
	f.shortHosts = nodes.name.map(name => name.replace(/ (HCA-|mlx[0-9]+_)[0-9]+$/, ""));
	f.levels = (data.bandwidth.kinds[0] || { levels: [] }).levels.map(l => l.level);
	f.gots = gotsOf(f);
	return f;
}

/* Names without what all of them begin with, for places that have room for a few letters. */
function withoutPrefix(names)
{
	let n = names.length > 1 ? names[0].length : 0;

	for (const name of names)
		while (!name.startsWith(names[0].slice(0, n)))
			n--;
	while (n > 0 && /[0-9]/.test(names[0][n - 1]))	/* numbers stay whole */
		n--;
	return names.map(name => name.slice(n) || name);
}

/* A host is drawn at the switch that its first link leads to. */
function settle(f, host, other)
{
	if (f.swOf[host] >= 0 || f.swOf[other] < 0 || f.homeOf[host] >= 0)
		return;
	f.homeOf[host] = f.swOf[other];
	f.hostsOf[f.swOf[other]].push(host);
}

/* End 0 is a, which sends from port-a; end 1 is b. */
function routesOf(f, link, end)
{
	return (end ? f.links["routes-b"] : f.links["routes-a"])[link];
}

function gbpsOf(f, link)
{
	return f.links.rate[link] / 10;
}

function portName(f, link, end)
{
	const l = f.links;

	return end ? `${f.nodes.name[l.b[link]]}/P${l["port-b"][link]}` :
		     `${f.nodes.name[l.a[link]]}/P${l["port-a"][link]}`;
}

function linkTrouble(f, link)
{
	const why = f.links.why[link];

	return why || (f.links.held[link] ? "held: routes avoid it, as it flaps" :
		       f.links.state[link] !== 4 ? "not Active" : "");
}

const STATES = ["?", "Down", "Init", "Armed", "Active"];

function typeName(f, node)
{
	return { s: "switch", c: "host", r: "router", a: "aggregation" }[f.nodes.type[node]] || "?";
}

/* "1 host", "2 hosts" */
function some(n, what)
{
	return `${n} ${what}${n === 1 ? "" : "s"}`;
}

/* A number for people: three digits of it. */
function short(value)
{
	return Number.isFinite(value) ? String(+value.toPrecision(3)) : "?";
}
