/* Tables: a click on a heading sorts, the field above it filters, and rows beyond the first few are shown on demand. */

const ROWS_SHOWN = 50;

/* columns: {title, text(row), value(row) for sorting, number, class(row)}; rows are anything. */
function makeTable(element, columns, rows, sorted)
{
	const root = d3.select(element);
	const state = { sort: sorted === undefined ? -1 : Math.abs(sorted), down: Object.is(sorted, -0) || sorted < 0, filter: "",
			shown: ROWS_SHOWN };
	const before = element.tableState;

	Object.assign(state, before || {});
	element.tableState = state;
	root.selectAll("*").remove();
	if (!rows.length) {
		note(element, "None.");
		return;
	}
	const tools = root.append("p").attr("class", "tools");
	const filter = tools.append("label").text("Filter ").append("input").attr("type", "search").property("value", state.filter);
	const count = tools.append("span");
	const table = root.append("div").attr("class", "wide").append("table"), body = table.append("tbody");
	const heads = table.insert("thead", "tbody").append("tr").selectAll("th").data(columns).join("th").append("button")
		.attr("type", "button").on("click", (e, c) => {
			const i = columns.indexOf(c);

			state.down = state.sort === i ? !state.down : Boolean(c.number);
			state.sort = i;
			fill();
		});
	const more = root.append("button").attr("type", "button").text("more rows").on("click", () => {
		state.shown *= 4;
		fill();
	});

	filter.on("input", e => {
		state.filter = e.target.value;
		fill();
	});
	fill();

	function chosen()
	{
		const word = state.filter.toLowerCase();
		const found = word ? rows.filter(r => columns.some(c => String(c.text(r)).toLowerCase().includes(word))) : rows.slice();
		const c = columns[state.sort];

		if (!c)
			return found;
		const value = c.value || c.text;
		const order = c.number ? (a, b) => order2(value(a), value(b)) : (a, b) => byName(String(value(a)), String(value(b)));

		found.sort((a, b) => state.down ? order(b, a) : order(a, b));
		return found;
	}

	/* Unknown numbers are the least. */
	function order2(a, b)
	{
		return (isNumber(a) ? a : -Infinity) - (isNumber(b) ? b : -Infinity) || 0;
	}

	function fill()
	{
		const found = chosen();

		heads.text((c, i) => c.title + (i === state.sort ? state.down ? " ▾" : " ▴" : ""));
		count.text(found.length === rows.length ? some(rows.length, "row") : `${found.length} of ${some(rows.length, "row")}`);
		body.selectAll("tr").data(found.slice(0, state.shown)).join("tr").selectAll("td")
			.data(r => columns.map(c => ({ c, r }))).join("td")
			.attr("class", d => (d.c.number ? "number " : "") + (d.c.class ? d.c.class(d.r) : ""))
			.text(d => d.c.text(d.r));
		more.style("display", found.length > state.shown ? null : "none");
	}
}

function problemsTable(f, element)
{
	const order = { error: 0, warning: 1, info: 2 };

	makeTable(element, [
		{ title: "severity", text: p => p.severity, value: p => `${order[p.severity]}`, class: p => p.severity },
		{ title: "kind", text: p => p.kind },
		{ title: "problem", text: p => p.text },
		{ title: "what to do", text: p => p.action || "" },
	], f.data.health.problems || [], 0);
}

function eventsTable(f, element)
{
	makeTable(element, [
		{ title: "time", text: e => e.time },
		{ title: "severity", text: e => e.severity, class: e => e.severity },
		{ title: "kind", text: e => e.kind },
		{ title: "event", text: e => e.text },
	], f.data.events.rows || [], -0);
}

function linkColumns(f)
{
	return [
		{ title: "from", text: i => portName(f, i, 0) },
		{ title: "to", text: i => portName(f, i, 1) },
		{ title: "state", text: i => STATES[f.links.state[i]] || "?" },
		{ title: "Gb/s", text: i => short(gbpsOf(f, i)), value: i => gbpsOf(f, i), number: true },
		{ title: "VLs", text: i => f.links.vls[i], number: true },
		{ title: "routes there", text: i => routesOf(f, i, 0), number: true },
		{ title: "routes back", text: i => routesOf(f, i, 1), number: true },
		...measuredColumns(f),
		{ title: "trouble", text: i => linkTrouble(f, i), class: () => "warning" },
	];
}

/* None if nothing was measured. */
function measuredColumns(f)
{
	const column = (what, of, show) => [0, 1].map(end => ({
		title: `${what} ${end ? "back" : "there"}`, text: i => show(of(f, i, end)), value: i => of(f, i, end), number: true }));

	return !f.links["load-a"] ? [] : [...column("load", loadOf, v => percent(v, "")),
		...column("waits/s", waitsOf, v => Number.isNaN(v) ? "" : short(v))];
}

function linksTable(f, element)
{
	makeTable(element, linkColumns(f), d3.range(f.nLinks));
}

function nodesTable(f, element)
{
	makeTable(element, [
		{ title: "name", text: i => f.nodes.name[i] },
		{ title: "type", text: i => typeName(f, i) },
		{ title: "GUID", text: i => guidOf(f, i) },
		{ title: "LID", text: i => f.nodes.lid[i] || "", value: i => f.nodes.lid[i], number: true },
		{ title: "links", text: i => f.linksOf[i].length, number: true },
		{ title: "switch", text: i => f.homeOf[i] >= 0 ? swName(f, f.homeOf[i]) : "" },
	], d3.range(f.n), 0);
}
