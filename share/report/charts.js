/* The charts: levels on the busiest links, links by their place, shares, the matrix of levels, the time line. */

const HEAT_LINKS = 100;		/* ends of links in the heat map */
const TIER_BINS = 24;

function svgIn(element, width, height)
{
	return d3.select(element).append("svg").attr("width", width).attr("height", height)
		.attr("viewBox", `0 0 ${width} ${height}`);
}

function note(element, text)
{
	d3.select(element).append("p").attr("class", "note").text(text);
}

/* --- levels on the busiest links --- */

function kindOf(f, link, end)
{
	return f.data.bandwidth.kinds[(end ? f.links["kind-b"] : f.links["kind-a"])[link]];
}

/* The level's share on a link's end, as promised. */
function levelOn(f, link, end, level)
{
	const kind = kindOf(f, link, end);

	return kind && kind.levels[level];
}

const isNumber = v => typeof v === "number" && Number.isFinite(v);

function heatMetrics(f)
{
	return [
		{ name: "Gb/s promised for each route", unit: "Gb/s",
		  value: (i, e, l) => routesOf(f, i, e) ? gbpsOfLevel(f, i, e, l) / routesOf(f, i, e) : NaN, low: true },
		{ name: "Gb/s promised", unit: "Gb/s", value: (i, e, l) => gbpsOfLevel(f, i, e, l), low: true },
		{ name: "longest wait promised (µs)", unit: "µs", value: (i, e, l) => waitPromised(levelOn(f, i, e, l)) },
		{ name: "measured: % of the link that the level sent", unit: "%", measured: true,
		  value: (i, e, l) => 100 * loadBy(f, i, e, l) },
		{ name: "measured: share got, in % of the promise", unit: "%", measured: true, low: true,
		  value: (i, e, l) => {
			const got = gotOf(f, i, e, l), promised = levelOn(f, i, e, l);

			return got && promised.share > 0 ? 100 * got.share / promised.share : NaN;
		  } },
	];
}

/* The ends of links with most routes for their speed, or that were measured to be fullest; the worst first. */
function busiest(f, measured)
{
	const full = (i, e) => (f.gots.get(2 * i + e) || { full: -1 }).full || 0;
	const rank = (i, e) => measured ? full(i, e) : routesOf(f, i, e) / (gbpsOf(f, i) || 1);
	const ends = [];

	for (let i = 0; i < f.nLinks; i++)
		for (let e = 0; e < 2; e++)
			if (f.swOf[f.links.a[i]] >= 0 && f.swOf[f.links.b[i]] >= 0 && (!measured || f.gots.has(2 * i + e)))
				ends.push({ i, e, rank: rank(i, e) });
	return ends.sort((a, b) => b.rank - a.rank || a.i - b.i).slice(0, HEAT_LINKS);
}

/* 0..1 of a value between two; by magnitude where these are far apart. */
function placeBetween(least, most)
{
	if (least === most)
		return () => 0.5;
	return least > 0 && most > 10 * least ? d3.scaleLog([least, most], [0, 1]) : d3.scaleLinear([least, most], [0, 1]);
}

function drawHeat(f, element, metric)
{
	const ends = busiest(f, metric.measured), cell = 11, row = 20, left = 150;

	d3.select(element).selectAll("*").remove();
	if (!ends.length || !f.levels.length) {
		note(element, metric.measured ? gotsNote(f) : "There are no links between switches.");
		return;
	}
	const cells = ends.flatMap((end, x) => f.levels.map((name, y) => ({ x, y, end, name, v: metric.value(end.i, end.e, y) })));
	if (metric.measured)
		note(element, gotsNote(f));
	const [least, most] = d3.extent(cells.filter(d => !Number.isNaN(d.v)), d => d.v);
	const place = placeBetween(least, most);
	const svg = svgIn(element, left + ends.length * cell + 10, f.levels.length * row + 26);

	svg.selectAll("text.level").data(f.levels).join("text").attr("class", "level").attr("x", 0)
		.attr("y", (d, i) => i * row + 14).text(d => d.length > 22 ? d.slice(0, 21) + "…" : d).append("title").text(d => d);
	svg.selectAll("rect").data(cells).join("rect").attr("x", d => left + d.x * cell).attr("y", d => d.y * row)
		.attr("width", cell - 1).attr("height", row - 1).attr("class", d => Number.isNaN(d.v) ? "unknown" : null)
		.attr("fill", d => Number.isNaN(d.v) ? null : colourOf(metric.low ? 1 - place(d.v) : place(d.v)))
		.append("title").text(d => `${d.name} at ${portName(f, d.end.i, d.end.e)}: ` +
			(Number.isNaN(d.v) ? "not known" : `${short(d.v)} ${metric.unit}`) +
			`, ${routesOf(f, d.end.i, d.end.e)} routes`);
	svg.append("text").attr("x", left).attr("y", f.levels.length * row + 16).text(most === undefined ? "not known" :
		`The ${ends.length} busiest ends of links between switches, the busiest on the left; ` +
		`${short(least)} to ${short(most)} ${metric.unit}, worse is darker`);
}

/* --- links by place --- */

/* The name of a node's place: its rank, or the dimension or group. */
function tierOf(f, link, end)
{
	const from = end ? f.links.b[link] : f.links.a[link], to = end ? f.links.a[link] : f.links.b[link];
	const a = f.swOf[from], b = f.swOf[to];

	if (a < 0)
		return "hosts to switches";
	if (b < 0)
		return "switches to hosts";
	switch (f.data.shape.kind) {
	case "grid": {
		const d = f.data.shape.lengths.findIndex((_, dim) => atOf(f, a, dim) !== atOf(f, b, dim));

		return `dimension ${d + 1}`;
	}
	case "dragonfly":
		return atOf(f, a, 0) === atOf(f, b, 0) ? "within groups" : "between groups";
	default: {
		const x = atOf(f, a, 0), y = atOf(f, b, 0);

		return `rank ${x < 0 ? "?" : x} to rank ${y < 0 ? "?" : y}`;
	}
	}
}

function drawTiers(f, element, metric, level)
{
	const tiers = new Map(), width = 20, row = 22, left = 320;

	for (let i = 0; i < f.nLinks; i++)
		for (let e = 0; e < 2; e++) {
			const name = tierOf(f, i, e), t = tiers.get(name) ||
				{ name, n: 0, sum: 0, routes: [Infinity, 0], bins: new Array(TIER_BINS).fill(0) };
			const v = metric.value(i, e, level), r = routesOf(f, i, e);

			tiers.set(name, t);
			t.n++;
			t.sum += r;
			t.routes = [Math.min(t.routes[0], r), Math.max(t.routes[1], r)];
			if (!Number.isNaN(v))
				t.bins[Math.min(TIER_BINS - 1, Math.floor(v * TIER_BINS))]++;
		}
	const rows = [...tiers.values()].sort((a, b) => byName(a.name, b.name));

	d3.select(element).selectAll("*").remove();
	const svg = svgIn(element, left + TIER_BINS * width + 10, rows.length * row + 24);

	rows.forEach((t, y) => {
		svg.append("text").attr("x", 0).attr("y", y * row + 15).text(`${t.name}: ${t.n}, ` +
			`routes ${t.routes[0]} to ${t.routes[1]}, mean ${short(t.sum / t.n)}`);
		svg.append("g").selectAll("rect").data(t.bins).join("rect").attr("x", (d, i) => left + i * width)
			.attr("y", y * row).attr("width", width - 1).attr("height", row - 2)
			.attr("class", d => d ? null : "unknown")
			.attr("fill", (d, i) => d ? colourOf((i + 0.5) / TIER_BINS) : null)
			.attr("fill-opacity", d => d ? 0.25 + 0.75 * d / t.n : 1)
			.append("title").text((d, i) => `${d} of ${t.n} from ${Math.round(100 * i / TIER_BINS)} to ` +
				`${Math.round(100 * (i + 1) / TIER_BINS)} % of the scale: ${metric.name}`);
	});
	svg.append("text").attr("x", 0).attr("y", rows.length * row + 16)
		.text(`${metric.name}${level < 0 ? "" : ` of ${f.levels[level]}`}, from “${lowOf(metric, level)}” to ` +
			`“${highOf(metric, level)}”; stronger: more of these links`);
}

/* --- shares --- */

function drawShares(f, element)
{
	const kinds = f.data.bandwidth.kinds, shown = kinds.slice(0, 60), width = 640, row = 46;

	d3.select(element).selectAll("*").remove();
	drawLegend(f, element);
	if (!f.data.bandwidth.managed)
		note(element, "The tables are not managed: devices keep their power-on tables, so the shares are unknown.");
	const svg = svgIn(element, 1000, Math.max(1, shown.length) * row + 10);

	shown.forEach((kind, i) => {
		svg.append("text").attr("x", 0).attr("y", i * row + 12).text(`${kind.ports} ${kind.class} ports, ` +
			`${short(kind.rate)} Gb/s, MTU ${kind.mtu}, ${kind.vls} VLs, as ${kind.example}`);
		drawBar(f, svg, kind.levels, l => l.share, { y: i * row + 16, width, height: 18, what: "promised" });
	});
	if (kinds.length > shown.length)
		note(element, `… and ${kinds.length - shown.length} rarer kinds of link.`);
	note(element, "Levels on one VL share its part, which is drawn once.");
}

/* The levels' shares side by side; levels of one VL once.  at: {y, width, height, what}. */
function drawBar(f, to, levels, share, { y, width, height, what })
{
	const seen = new Set();
	let x = 0;

	levels.forEach((l, k) => {
		const part = share(l);

		if (l.vl === null || seen.has(l.vl) || !isNumber(part))
			return;
		seen.add(l.vl);
		const g = to.append("g");

		g.append("rect").attr("x", x * width).attr("y", y).attr("width", part * width).attr("height", height)
			.attr("fill", levelColour(k));
		if (part * width > 44 && height > 10)
			g.append("text").attr("x", x * width + 4).attr("y", y + height - 3).attr("fill", "#111")
				.text(`${short(part * 100)}% ${l.level}`.slice(0, Math.floor(part * width / 7)));
		g.append("title").text(`${l.level}: SL ${l.sl}, VL ${l.vl}, ${what} ${short(part * 100)} %` +
			(isNumber(l.gbps) ? `, ${short(l.gbps)} Gb/s promised of ${short(l.ceiling)} alone` : "") +
			(isNumber(l["wait-us"]) ? `, waits ${short(l["wait-us"])} µs at most` : ""));
		x += part;
	});
	if (!x)
		to.append("rect").attr("x", 0).attr("y", y).attr("width", width).attr("height", height)
			.attr("class", "unknown");
}

function drawLegend(f, element)
{
	const p = d3.select(element).append("p");

	f.levels.forEach((name, i) => {
		p.append("span").attr("class", "key").style("background", levelColour(i));
		p.append("span").text(name);
	});
}

/* --- levels between groups --- */

function drawPairs(f, element)
{
	const { groups, sizes, levels, all, sampled } = f.data.pairs, cell = 18, left = 190, top = 120;

	d3.select(element).selectAll("*").remove();
	drawLegend(f, element);
	const svg = svgIn(element, left + groups.length * cell + 90, top + groups.length * cell + 6);
	const cut = name => name.length > 24 ? name.slice(0, 23) + "…" : name;

	groups.forEach((name, i) => {
		svg.append("text").attr("x", 0).attr("y", top + i * cell + 13).text(`${cut(name)} (${sizes[i]})`)
			.append("title").text(`from ${name}, ${sizes[i]} ports`);
		svg.append("text").attr("transform", `translate(${left + i * cell + 12},${top - 6}) rotate(-50)`)
			.text(cut(name)).append("title").text(`to ${name}`);
		groups.forEach((to, k) => {
			const found = levels[i][k], g = svg.append("g");

			found.forEach((level, part) => g.append("rect").attr("x", left + k * cell + part * (cell - 1) / found.length)
				.attr("y", top + i * cell).attr("width", (cell - 1) / found.length).attr("height", cell - 1)
				.attr("fill", level < 0 ? "#d62728" : levelColour(level)));
			if (!found.length)
				g.append("rect").attr("x", left + k * cell).attr("y", top + i * cell).attr("width", cell - 1)
					.attr("height", cell - 1).attr("class", "unknown");
			g.append("title").text(`${name} to ${to}: ` + (found.map(l => l < 0 ? "no path" : f.levels[l]).join(", ") ||
				"no pair of hosts"));
		});
	});
	note(element, "What a path query that names only its two ends gets, for all pairs of hosts of the row's and of the " +
	     "column's group. Red: no path.");
	if (sampled)
		note(element, "The policy distinguishes so many kinds of hosts in some groups that only a sample of these was " +
		     "asked about: a level that few hosts get may be missing.");
	if (all > groups.length)
		note(element, `${groups.length} of ${all} groups are shown.`);
}

/* --- events --- */

const SEVERITY_COLOURS = { error: "#d62728", warning: "#e8710a", info: "#4e79a7" };

function drawTimeline(f, element)
{
	const events = f.data.events.rows || [], width = 1000, left = 160, row = 18;

	d3.select(element).selectAll("*").remove();
	if (!events.length) {
		note(element, "There are no events.");
		return;
	}
	const kinds = [...new Set(events.map(e => e.kind))].sort();
	const times = d3.extent(events, e => new Date(e.time));

	if (+times[0] === +times[1])
		times[1] = new Date(+times[0] + 1000);
	const x = d3.scaleTime(times, [left, width - 20]).nice();
	const svg = svgIn(element, width, kinds.length * row + 34);

	svg.append("g").attr("class", "axis").attr("transform", `translate(0,${kinds.length * row + 6})`).call(d3.axisBottom(x));
	svg.selectAll("text.kind").data(kinds).join("text").attr("class", "kind").attr("y", (d, i) => i * row + 14).text(d => d);
	svg.selectAll("rect").data(events).join("rect").attr("x", e => x(new Date(e.time)) - 2)
		.attr("y", e => kinds.indexOf(e.kind) * row + 3).attr("width", 5).attr("height", row - 6).attr("rx", 2)
		.attr("fill", e => SEVERITY_COLOURS[e.severity] || "#789").append("title").text(e => `${e.time}\n${e.text}`);
}
