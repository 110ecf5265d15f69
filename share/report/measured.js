/*
 * What was measured on links, and what colours them: metrics of promises, of routes and of measurements.  What was not
 * measured is NaN, never 0.
 */

/* The part of its data rate that a link's end sent. */
function loadOf(f, link, end)
{
	const column = f.links[end ? "load-b" : "load-a"];

	return column && column[link] >= 0 ? column[link] / 1000 : NaN;
}

/* Ticks in a second in which the end had data and could not send it. */
function waitsOf(f, link, end)
{
	const column = f.links[end ? "waits-b" : "waits-a"];

	return column && column[link] >= 0 ? column[link] : NaN;
}

/* By link and end: {full, vls: VL -> {share, short}}. */
function gotsOf(f)
{
	const g = (f.data.measured || {}).got || { link: [] }, found = new Map();

	g.link.forEach((link, i) => {
		const key = 2 * link + g.end[i];
		const end = found.get(key) || { link, end: g.end[i], full: g.full[i] < 0 ? NaN : g.full[i] / 1000, vls: new Map() };

		found.set(key, end);
		end.vls.set(g.vl[i], { share: g.share[i] / 1000, short: Boolean(g.short[i]) });
	});
	return found;
}

/* What a level got on a link's end: {share, short}, or null if that was not measured. */
function gotOf(f, link, end, level)
{
	const all = f.gots.get(2 * link + end), promised = levelOn(f, link, end, level);

	if (!all || !promised || promised.vl === null)
		return null;
	return all.vls.get(promised.vl) || { share: 0, short: false };
}

/* When loads were measured, or why they were not. */
function loadsNote(f)
{
	const m = f.data.measured;

	if (m["why-not"])
		return `Not measured: ${m["why-not"]}.`;
	return `Read ${m.time}, over ${m.seconds} s; ` + (m.silent ? `${m.silent} of ${m.ports} ports did not answer.` : `${m.ports} ports.`);
}

function gotsNote(f)
{
	const m = f.data.measured, shown = f.gots.size;

	if (m["got-why-not"])
		return `Not measured: ${m["got-why-not"]}.`;
	return `Read ${m["got-time"]}; ` + (shown < m["got-ends"] ? `${shown} of ` : "") + `${m["got-ends"]} ends of links that sent.`;
}

/*
 * What colours the links.  value(link, end, level) is 0..1, worse is more, NaN if unknown; level -1: all of them.  text()
 * is what a person reads.  note() says when it was measured.  byLevel: it tells levels apart.
 */
function metricsOf(f)
{
	const most = { routes: 0, rate: 0, waits: 0, wait: 0 }, none = () => "";
	const perRoute = (i, e, l) => routesOf(f, i, e) ? gbpsOfLevel(f, i, e, l) / routesOf(f, i, e) : NaN;
	const perRoutes = [];

	for (let i = 0; i < f.nLinks; i++)
		for (let e = 0; e < 2; e++) {
			most.routes = Math.max(most.routes, routesOf(f, i, e) / (gbpsOf(f, i) || 1));
			most.rate = Math.max(most.rate, gbpsOf(f, i));
			most.waits = Math.max(most.waits, waitsOf(f, i, e) || 0);
			most.wait = Math.max(most.wait, worstWait(f, i, e) || 0);
			f.levels.forEach((_, l) => { perRoutes[l] = widen(perRoutes[l], perRoute(i, e, l)); });
		}
	/* values that hardly differ are not drawn as if they did */
	const placed = perRoutes.map(x => x ? placeBetween(Math.min(x[0], x[1] / 2), x[1]) : () => NaN);
	const logOf = (v, top) => Number.isNaN(v) ? NaN : top ? Math.log1p(v) / Math.log1p(top) : 0;

	return [
		{ name: "expected load (routes)", byLevel: true, note: none,
		  low: "no routes", high: `${short(most.routes)} routes for each Gb/s`,
		  lowOf: l => `${short((perRoutes[l] || [])[1])} Gb/s promised for each route`,
		  highOf: l => `${short(Math.min((perRoutes[l] || [])[0], (perRoutes[l] || [])[1] / 2))} Gb/s`,
		  value: (i, e, l) => l < 0 ? routesOf(f, i, e) / (gbpsOf(f, i) || 1) / (most.routes || 1) :
				      1 - placed[l](perRoute(i, e, l)),
		  text: (i, e, l) => `${routesOf(f, i, e)} routes` +
				     (l < 0 ? "" : `, ${short(perRoute(i, e, l))} Gb/s promised for each`) },
		{ name: "measured load", byLevel: true, low: "idle", high: "100 % of the link",
		  note: l => l < 0 ? loadsNote(f) : gotsNote(f),
		  value: (i, e, l) => loadBy(f, i, e, l),
		  text: (i, e, l) => percent(loadBy(f, i, e, l), "not measured") },
		{ name: "measured waits", byLevel: false, low: "none", high: `${short(most.waits)} ticks/s`,
		  note: () => `${loadsNote(f)} The length of a tick differs between devices.`,
		  value: (i, e) => logOf(waitsOf(f, i, e), most.waits),
		  text: (i, e) => Number.isNaN(waitsOf(f, i, e)) ? "not measured" : `waited ${short(waitsOf(f, i, e))} ticks/s` },
		{ name: "got less than promised", byLevel: true, low: "its share", high: "nothing, though it wanted more",
		  note: () => gotsNote(f),
		  value: (i, e, l) => shortfall(f, i, e, l),
		  text: (i, e, l) => gotText(f, i, e, l) },
		{ name: "longest wait promised", byLevel: true, note: none, low: "none", high: `${short(most.wait)} µs`,
		  value: (i, e, l) => logOf(l < 0 ? worstWait(f, i, e) : waitPromised(levelOn(f, i, e, l)), most.wait),
		  text: (i, e, l) => `${short(l < 0 ? worstWait(f, i, e) : waitPromised(levelOn(f, i, e, l)))} µs at most` },
		{ name: "speed", byLevel: false, note: none, low: `${short(most.rate)} Gb/s`, high: "slower",
		  value: i => 1 - gbpsOf(f, i) / (most.rate || 1), text: i => `${short(gbpsOf(f, i))} Gb/s` },
		{ name: "trouble", byLevel: false, note: none, low: "none", high: "deviates, held or not Active",
		  value: i => linkTrouble(f, i) ? 1 : 0, text: i => linkTrouble(f, i) || "as usual" },
	];
}

function widen(range, v)
{
	if (Number.isNaN(v))
		return range;
	return range ? [Math.min(range[0], v), Math.max(range[1], v)] : [v, v];
}

function percent(v, otherwise)
{
	return Number.isNaN(v) ? otherwise : `${short(100 * v)} %`;
}

/* The part of the link that a level, or all of them, sent. */
function loadBy(f, link, end, level)
{
	if (level < 0)
		return loadOf(f, link, end);
	const got = gotOf(f, link, end, level), all = f.gots.get(2 * link + end);

	return got ? got.share * all.full : NaN;
}

function gbpsOfLevel(f, link, end, level)
{
	const l = levelOn(f, link, end, level);

	return l && isNumber(l.gbps) ? l.gbps : NaN;
}

function waitPromised(l)
{
	return l && isNumber(l["wait-us"]) ? l["wait-us"] : NaN;
}

function worstWait(f, link, end)
{
	const kind = kindOf(f, link, end);

	return kind ? d3.max(kind.levels, l => waitPromised(l)) ?? NaN : NaN;
}

/* How much of its promise a level lacks, 0 if it wanted no more; of all levels, the worst. */
function shortfall(f, link, end, level)
{
	if (level < 0)
		return d3.max(f.levels, (_, l) => shortfall(f, link, end, l)) ?? NaN;
	const got = gotOf(f, link, end, level), promised = levelOn(f, link, end, level);

	if (!got)
		return NaN;
	return got.short && promised.share > 0 ? Math.max(0.05, 1 - got.share / promised.share) : 0;
}

function gotText(f, link, end, level)
{
	if (level >= 0) {
		const got = gotOf(f, link, end, level), promised = levelOn(f, link, end, level);

		return got ? `got ${percent(got.share)} of what was sent, promised ${percent(promised.share, "?")}` +
			(got.short ? ", and wanted more" : "") : "not measured";
	}
	const lacking = f.levels.filter((_, l) => (gotOf(f, link, end, l) || {}).short);

	return !f.gots.has(2 * link + end) ? "not measured" : lacking.length ? `${lacking.join(", ")} got less than promised` :
		"each level got its share, or wanted no more";
}

/* --- shares got, beside those promised --- */

const GOT_BARS = 40;

/* Ends with a VL that is short first, then the fullest, as the data has them. */
function drawGot(f, element)
{
	const ends = [...f.gots.values()].slice(0, GOT_BARS), width = 640, row = 48;

	d3.select(element).selectAll("*").remove();
	note(element, gotsNote(f));
	if (!ends.length)
		return;
	const svg = svgIn(element, 1000, ends.length * row + 6);

	ends.forEach((end, i) => {
		const levels = (kindOf(f, end.link, end.end) || { levels: [] }).levels;
		const lacking = levels.filter(l => (end.vls.get(l.vl) || {}).short).map(l => l.level);

		svg.append("text").attr("x", 0).attr("y", i * row + 12).text(`${portName(f, end.link, end.end)}: ` +
			`${percent(end.full, "?")} full` + (lacking.length ? `; ${lacking.join(", ")} short` : ""))
			.attr("class", lacking.length ? "warning" : null);
		drawBar(f, svg, levels, l => l.share, { y: i * row + 16, width, height: 13, what: "promised" });
		drawBar(f, svg, levels, l => (end.vls.get(l.vl) || { share: 0 }).share,
			{ y: i * row + 30, width, height: 13, what: "got" });
		["promised", "got"].forEach((text, k) =>
			svg.append("text").attr("x", width + 6).attr("y", i * row + 26 + 14 * k).text(text));
	});
	if (f.gots.size > ends.length)
		note(element, `… and ${f.gots.size - ends.length} more ends, which were less full.`);
}

function levelsGotTable(f, element)
{
	makeTable(element, [
		{ title: "level", text: l => l.level },
		{ title: "MB sent", text: l => short(l.bytes / 1e6), value: l => l.bytes, number: true },
		{ title: "ports judged", text: l => l.judged, number: true },
		{ title: "of these short", text: l => l.short, number: true, class: l => l.short ? "warning" : "" },
		{ title: "worst share got", text: l => l.short ? percent(l.got) : "", value: l => l.got, number: true },
		{ title: "promised there", text: l => l.short ? percent(l.promised) : "", value: l => l.promised, number: true },
	], f.data.measured.levels || []);
}

/* What the levels got on the links of a node. */
function nodeGotTable(f, element, node)
{
	const rows = [];

	for (const i of f.linksOf[node])
		for (let e = 0; e < 2; e++)
			if (f.gots.has(2 * i + e))
				f.levels.forEach((name, l) => rows.push({ i, e, l, name, promised: levelOn(f, i, e, l), got: gotOf(f, i, e, l) }));
	if (rows.length)
		makeTable(element, [
			{ title: "sender", text: r => portName(f, r.i, r.e) },
			{ title: "level", text: r => r.name },
			{ title: "promised", text: r => percent(r.promised ? r.promised.share ?? NaN : NaN, "?"),
			  value: r => r.promised && r.promised.share, number: true },
			{ title: "got", text: r => r.got ? percent(r.got.share) : "?", value: r => r.got && r.got.share, number: true },
			{ title: "", text: r => r.got && r.got.short ? "wanted more" : "", class: () => "warning" },
		], rows);
}
