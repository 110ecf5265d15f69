/*
 * Puts the data on the page.  A page that the daemon serves has none in it: it asks the daemon for the data, and again
 * every few seconds.
 */

const REFRESH_MS = 10000, RETRY_MS = 500;
const byId = id => document.getElementById(id);
let fabric = null, fabricMap = null, metrics = [], heats = [];

const SHAPES = { ranks: "ranks", grid: "grid", dragonfly: "dragonfly" };

function putAbout(f)
{
	const s = f.data.status, policy = s.policy || {};
	const name = policy.file ? `${policy.file}, checksum ${policy.checksum}` : "the built-in policy";
	const shape = (f.data.routes.shape || {}).text;

	byId("about").textContent = `${f.data.time}. Policy: ${name}. Manager: qosd ${s.version}, ${s.state}, GUID ${s.guid}, ` +
		`LID ${s.lid}. Routes: ${s.engine || "none"}${shape ? `; ${shape}` : ""}.`;
	document.title = `Report of the subnet, ${f.data.time}`;
}

function putCounts(f, places)
{
	const of = type => d3.sum(f.nodes.type, t => t === type);
	const problems = f.data.health.problems || [], worst = f.data.health.verdict;
	const counts = [
		["nodes", f.n], ["switches", f.data.switches.node.length], ["hosts", of("c")], ["end ports", f.data.ends],
		["links", f.nLinks], ["levels", f.levels.length], ["groups of switches", places.groups.length],
		["problems", problems.length], ["events", (f.data.events.rows || []).length],
	];

	d3.select("#counts").selectAll("div").data(counts).join("div").each(function ([what, n]) {
		const div = d3.select(this);

		div.selectAll("*").remove();
		div.append("dt").text(what);
		div.append("dd").attr("id", `count-${what.replaceAll(" ", "-")}`).text(n)
			.attr("class", what === "problems" && n ? (worst === "ok" ? null : worst) : null);
	});
}

/* --- choices of the reader --- */

function fillSelect(id, choices, onChange)
{
	const select = byId(id), before = select.value;

	d3.select(select).selectAll("option").data(choices).join("option").attr("value", (d, i) => i).text(d => d.name);
	if (before && before < choices.length)
		select.value = before;
	select.onchange = () => onChange(choices[select.value]);
	return choices[select.value];
}

/* What the ends of the scale mean. */
const lowOf = (metric, level) => level >= 0 && metric.lowOf ? metric.lowOf(level) : metric.low;
const highOf = (metric, level) => level >= 0 && metric.highOf ? metric.highOf(level) : metric.high;

function putLegend(metric, level)
{
	const legend = d3.select("#legend");

	legend.selectAll("*").remove();
	legend.append("span").text(`${lowOf(metric, level)} `);
	for (const c of shadeColours)
		legend.append("span").attr("class", "key").style("background", c).style("margin", "0");
	legend.append("span").text(` ${highOf(metric, level)}`);
	byId("measured").textContent = metric.note(level);
}

function chooseMetric()
{
	const metric = metrics[byId("colour").value], select = byId("level");
	const level = metric.byLevel ? select.value - 1 : -1;

	select.disabled = !metric.byLevel;
	putLegend(metric, level);
	fabricMap.setMetric(metric, level);
	drawTiers(fabric, byId("tiers"), metric, level);
}

function search(word)
{
	const found = [], f = fabric, want = word.trim().toLowerCase().replace(/^0x0*/, "");

	for (let i = 0; want && i < f.n && found.length < 30; i++)
		if (f.nodes.name[i].toLowerCase().includes(want) || f.nodes.guid[i].includes(want))
			found.push(i);
	d3.select("#found").selectAll("li").data(found).join("li").selectAll("button").data(i => [i]).join("button")
		.attr("type", "button").text(i => `${f.nodes.name[i]} (${typeName(f, i)})`)
		.on("click", (e, i) => fabricMap.choose(i, true));
	return found;
}

function showNode(node)
{
	const element = byId("details"), f = fabric;

	d3.select(element).selectAll("*").remove();
	if (node < 0)
		return;
	d3.select(element).append("p").text(nodeTip(f, node).replaceAll("\n", "; "));
	const table = d3.select(element).append("div").node();

	makeTable(table, linkColumns(f), f.linksOf[node]);
	nodeGotTable(f, d3.select(element).append("div").node(), node);
}

/* --- all of it --- */

function show(data)
{
	fabric = makeFabric(data);
	const places = placeFabric(fabric);

	metrics = metricsOf(fabric);
	heats = heatMetrics(fabric);
	putAbout(fabric);
	putCounts(fabric, places);
	fillSelect("level", [{ name: "all" }, ...fabric.levels.map(name => ({ name }))], chooseMetric);
	fabricMap.setFabric(fabric, places, fillSelect("colour", metrics, chooseMetric));
	chooseMetric();
	byId("groups-tools").hidden = !places.groups.length;
	drawHeat(fabric, byId("heat"), fillSelect("heat-metric", heats, m => drawHeat(fabric, byId("heat"), m)));
	drawShares(fabric, byId("shares"));
	drawGot(fabric, byId("got"));
	levelsGotTable(fabric, byId("levels-got"));
	drawPairs(fabric, byId("pairs"));
	drawTimeline(fabric, byId("timeline"));
	problemsTable(fabric, byId("problems"));
	eventsTable(fabric, byId("events"));
	linksTable(fabric, byId("links"));
	nodesTable(fabric, byId("nodes"));
	if (fabricMap.chosen >= 0)
		showNode(fabricMap.chosen);
	/* for programs that look at the page */
	document.body.dataset.shown = data.time;
	document.body.dataset.ms = Math.round(performance.now());
}

function begin()
{
	fabricMap = new FabricMap(byId("map"), byId("tip"), showNode);
	byId("search").oninput = e => search(e.target.value);
	byId("search").onkeydown = e => {
		const found = e.key === "Enter" ? search(e.target.value) : [];

		if (found.length)
			fabricMap.choose(found[0], true);
	};
	byId("groups-auto").onclick = () => fabricMap.setAll("auto");
	byId("groups-open").onclick = () => fabricMap.setAll("open");
	byId("groups-closed").onclick = () => fabricMap.setAll("closed");
	byId("fit").onclick = () => fabricMap.fit();
}

/* Shows the daemon's data now and again; the page stays as it is while the daemon does not answer. */
async function follow()
{
	let wait = REFRESH_MS, shown = null;

	for (;;) {
		try {
			const answer = await fetch("data", { cache: "no-store" });

			wait = answer.status === 503 ? RETRY_MS : REFRESH_MS;
			if (answer.ok) {
				const text = await answer.text();

				if (text !== shown)
					show(await unpack(text));
				shown = text;
				byId("live").textContent = "This page is live.";
			} else if (answer.status !== 503) {
				byId("live").textContent = `The daemon has no data: ${await answer.text()}`;
			}
		} catch (why) {
			byId("live").textContent = `No answer since ${new Date().toLocaleTimeString()}: ${why.message}`;
			wait = REFRESH_MS;
		}
		await new Promise(done => setTimeout(done, wait));
	}
}

async function main()
{
	const text = byId("data").textContent.trim();

	begin();
	if (text)
		show(await unpack(text));
	else
		await follow();
}

main().catch(why => {
	byId("about").textContent = `The page cannot be shown: ${why.message}`;
	console.error(why);
});
