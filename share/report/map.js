/*
 * The map: draws the places of places.js on a canvas, as much of it as there is room for.  A group that is too small on
 * the screen, or that was closed by hand, is one box, and its links to others are drawn as one.
 */

const GROUP_PIXELS = 56;	/* a narrower group is closed unless it was opened by hand */
const SHADES = 12;

/* What colours the links: value 0..1 of a link's end, NaN if unknown, and the text of a value. */
function metricsOf(f)
{
	let mostRoutes = 0, mostRate = 0;

	for (let i = 0; i < f.nLinks; i++)
		for (let e = 0; e < 2; e++) {
			mostRoutes = Math.max(mostRoutes, routesOf(f, i, e) / (gbpsOf(f, i) || 1));
			mostRate = Math.max(mostRate, gbpsOf(f, i));
		}
	return [
		{ name: "expected load (routes)", low: "no routes", high: `${short(mostRoutes)} routes for each Gb/s`,
		  value: (i, e) => routesOf(f, i, e) / (gbpsOf(f, i) || 1) / (mostRoutes || 1),
		  text: (i, e) => `${routesOf(f, i, e)} routes` },
		{ name: "speed", low: `${short(mostRate)} Gb/s`, high: "slower",
		  value: i => 1 - gbpsOf(f, i) / (mostRate || 1), text: i => `${short(gbpsOf(f, i))} Gb/s` },
		{ name: "trouble", low: "none", high: "deviates, held or not Active",
		  value: i => linkTrouble(f, i) ? 1 : 0, text: i => linkTrouble(f, i) || "as usual" },
	];
}

const shadeColours = d3.range(SHADES).map(i => d3.interpolateYlOrRd(0.22 + 0.78 * i / (SHADES - 1)));
const UNKNOWN_COLOUR = "#9aa7b0";

function shadeOf(value)
{
	return Number.isNaN(value) ? -1 : Math.max(0, Math.min(SHADES - 1, Math.floor(value * SHADES)));
}

function colourOf(value)
{
	const shade = shadeOf(value);

	return shade < 0 ? UNKNOWN_COLOUR : shadeColours[shade];
}

class FabricMap {
	constructor(canvas, tip, onPick)
	{
		this.canvas = canvas;
		this.tip = tip;
		this.onPick = onPick;
		this.context = canvas.getContext("2d");
		this.byHand = new Map();	/* name of a group -> open or not */
		this.all = "auto";		/* of groups that are not in byHand: auto, open, closed */
		this.chosen = -1;		/* node */
		this.transform = null;
		this.zoom = d3.zoom().scaleExtent([0.5, 4000]).on("zoom", e => {
			this.transform = e.transform;
			this.drawSoon();
		});
		d3.select(canvas).call(this.zoom).on("dblclick.zoom", null)
			.on("click", e => this.click(d3.pointer(e)))
			.on("pointermove", e => this.hover(d3.pointer(e)))
			.on("pointerleave", () => { this.tip.hidden = true; });
		new ResizeObserver(() => this.resize()).observe(canvas);
	}

	/* Shows another fabric; what is open and where the reader looks stays as far as possible. */
	setFabric(fabric, places, metric)
	{
		const first = !this.f;
		const name = first || this.chosen < 0 ? null : this.f.nodes.guid[this.chosen];

		this.f = fabric;
		this.p = places;
		this.metric = metric;
		this.chosen = name === null ? -1 : fabric.nodes.guid.indexOf(name);
		this.bundled = null;
		this.tree = d3.quadtree(this.targets(), d => d.x, d => d.y);
		if (first)
			this.resize(true);
		else
			this.drawSoon();
	}

	setMetric(metric)
	{
		this.metric = metric;
		this.bundled = null;
		this.drawSoon();
	}

	setAll(how)
	{
		this.all = how;
		this.byHand.clear();
		this.drawSoon();
	}

	targets()
	{
		const { f, p } = this, out = [];

		f.data.switches.node.forEach((node, sw) => out.push({ node, x: p.x[sw], y: p.y[sw] }));
		for (let i = 0; i < f.n; i++)
			if (f.homeOf[i] >= 0)
				out.push({ node: i, x: p.hx[i], y: p.hy[i] });
		return out;
	}

	resize(fit)
	{
		const box = this.canvas.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;

		this.width = box.width;
		this.height = box.height;
		this.canvas.width = Math.round(box.width * ratio);
		this.canvas.height = Math.round(box.height * ratio);
		this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
		if (this.p && (fit || !this.transform))
			this.fit();
		else if (this.p)
			this.draw();
	}

	fit()
	{
		this.scale = Math.min(this.width / this.p.width, this.height / this.p.height) * 0.97;
		this.left = (this.width - this.p.width * this.scale) / 2;
		this.above = (this.height - this.p.height * this.scale) / 2;
		d3.select(this.canvas).call(this.zoom.transform, d3.zoomIdentity);
		this.draw();
	}

	sx(x) { return this.transform.applyX(this.left + x * this.scale); }
	sy(y) { return this.transform.applyY(this.above + y * this.scale); }
	get k() { return this.transform.k * this.scale; }

	/* --- what is closed --- */

	isOpen(group)
	{
		const byHand = this.byHand.get(group.name);

		if (byHand !== undefined)
			return byHand;
		return this.all === "auto" ? (group.x1 - group.x0) * this.k >= GROUP_PIXELS : this.all === "open";
	}

	/* The outermost closed group of a switch, or -1. */
	closedOf(sw)
	{
		for (const g of this.p.groupOf[sw])
			if (!this.open[g])
				return g;
		return -1;
	}

	/* Links between what is visible, equal ones as one: {x0, y0, x1, y1, n, value, host}. */
	bundle()
	{
		const { f, p } = this, nodes = f.n, found = new Map();
		const at = Int32Array.from({ length: p.x.length }, (_, sw) => this.closedOf(sw));
		const placeOf = node => {
			const sw = f.swOf[node], home = sw >= 0 ? sw : f.homeOf[node];

			return home < 0 ? -1 : at[home] >= 0 ? nodes + at[home] : node;
		};

		for (let i = 0; i < f.nLinks; i++) {
			const a = placeOf(f.links.a[i]), b = placeOf(f.links.b[i]);

			if (a < 0 || b < 0 || a === b)
				continue;
			const key = a < b ? a * 2097152 + b : b * 2097152 + a;
			const value = this.linkValue(i), before = found.get(key);

			if (!before)
				found.set(key, { a, b, n: 1, value, host: f.swOf[f.links.a[i]] < 0 || f.swOf[f.links.b[i]] < 0 });
			else {
				before.n++;
				before.value = Number.isNaN(before.value) ? value : Math.max(before.value, value || 0);
			}
		}
		this.closed = at;
		this.bundled = [...found.values()];
		for (const l of this.bundled) {
			[l.x0, l.y0] = this.centre(l.a);
			[l.x1, l.y1] = this.centre(l.b);
		}
		this.valueOfGroup = p.groups.map(() => NaN);
		for (let i = 0; i < f.nLinks; i++) {
			const a = f.swOf[f.links.a[i]], b = f.swOf[f.links.b[i]], value = this.linkValue(i);

			for (const g of a >= 0 && !Number.isNaN(value) ? p.groupOf[a] : [])
				if (b < 0 || p.groupOf[b].includes(g))
					this.valueOfGroup[g] = Math.max(this.valueOfGroup[g] || 0, value);
		}
	}

	linkValue(i)
	{
		const a = this.metric.value(i, 0), b = this.metric.value(i, 1);

		return Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.max(a, b);
	}

	centre(place)
	{
		const { f, p } = this;

		if (place >= f.n) {
			const g = p.groups[place - f.n];

			return [(g.x0 + g.x1) / 2, (g.y0 + g.y1) / 2];
		}
		return f.swOf[place] >= 0 ? [p.x[f.swOf[place]], p.y[f.swOf[place]]] : [p.hx[place], p.hy[place]];
	}

	/* --- drawing --- */

	drawSoon()
	{
		if (this.due)
			return;
		this.due = true;
		requestAnimationFrame(() => {
			this.due = false;
			this.draw();
		});
	}

	draw()
	{
		if (!this.p || !this.transform || this.scale === undefined)
			return;
		const open = this.p.groups.map(g => this.isOpen(g)), key = open.map(Number).join("");

		if (!this.bundled || key !== this.openKey) {
			this.open = open;
			this.openKey = key;
			this.bundle();
		}
		const style = getComputedStyle(document.body);

		this.ink = style.getPropertyValue("--ink");
		this.paper = style.getPropertyValue("--paper");
		this.box = style.getPropertyValue("--box");
		this.boxInk = style.getPropertyValue("--box-ink");
		this.context.clearRect(0, 0, this.width, this.height);
		this.drawLinks();
		this.drawHosts();
		this.drawSwitches();
		this.drawGroups();
		this.drawChosen();
	}

	drawLinks()
	{
		const c = this.context;
		let drawn = 0;
		const paths = d3.range(SHADES + 1).map(() => new Path2D());
		const wide = d3.range(SHADES + 1).map(() => new Path2D());

		for (const l of this.bundled) {
			const x0 = this.sx(l.x0), y0 = this.sy(l.y0), x1 = this.sx(l.x1), y1 = this.sy(l.y1);

			if (Math.max(x0, x1) < 0 || Math.min(x0, x1) > this.width ||
			    Math.max(y0, y1) < 0 || Math.min(y0, y1) > this.height || (l.host && this.k < 2))
				continue;
			drawn++;
			this.addLine((l.n > 1 ? wide : paths)[shadeOf(l.value) + 1], x0, y0, x1, y1, l.host);
		}
		const many = drawn > 1500;

		c.globalAlpha = Math.max(0.12, Math.min(0.8, 400 / drawn));
		for (let s = 0; s <= SHADES; s++) {
			c.strokeStyle = s ? shadeColours[s - 1] : UNKNOWN_COLOUR;
			c.lineWidth = many ? 0.6 : 1;
			c.stroke(paths[s]);
			c.lineWidth = many ? 1 : 2.2;
			c.stroke(wide[s]);
		}
		c.globalAlpha = 1;
	}

	/* A curve between switches of one row or column, as a line would cross those in between. */
	addLine(path, x0, y0, x1, y1, host)
	{
		const far = 1.3 * (this.p.rowHeight || 10) * this.k;

		path.moveTo(x0, y0);
		if (!host && Math.abs(y0 - y1) < 1 && Math.abs(x0 - x1) > (this.p.kind === "ranks" ? 0 : far))
			path.quadraticCurveTo((x0 + x1) / 2, y0 - 0.45 * (this.p.rowHeight || 10) * this.k, x1, y1);
		else if (!host && Math.abs(x0 - x1) < 1 && Math.abs(y0 - y1) > far)
			path.quadraticCurveTo(x0 - 0.45 * (this.p.rowHeight || 10) * this.k, (y0 + y1) / 2, x1, y1);
		else
			path.lineTo(x1, y1);
	}

	drawHosts()
	{
		const { f, p, context: c } = this, k = this.k;
		const w = Math.max(0.7, 0.8 * k), h = Math.max(0.7, 0.8 * p.hh * k);

		for (let node = 0; node < f.n; node++) {
			const home = f.homeOf[node];

			if (home < 0 || this.closed[home] >= 0)
				continue;
			const x = this.sx(p.hx[node]), y = this.sy(p.hy[node]);

			if (x < -w || x > this.width + w || y < -h || y > this.height + h)
				continue;
			c.fillStyle = colourOf(this.linkValue(f.linksOf[node][0]));
			c.fillRect(x - w / 2, y - h / 2, w, h);
			if (w > 34) {
				c.fillStyle = "#111";
				this.text(f.nodes.name[node], x, y, w - 4);
			}
		}
	}

	drawSwitches()
	{
		const { f, p, context: c } = this, k = this.k;

		for (let sw = 0; sw < p.x.length; sw++) {
			if (this.closed[sw] >= 0)
				continue;
			const x = this.sx(p.x[sw]), y = this.sy(p.y[sw]), w = Math.max(2, p.w[sw] * k);
			const h = Math.max(3, Math.min(18, w, 0.2 * p.rowHeight * k));

			if (x + w < 0 || x - w > this.width || y < -20 || y > this.height + 20)
				continue;
			c.fillStyle = this.box;
			c.fillRect(x - w / 2, y - h / 2, w, h);
			c.strokeStyle = this.boxInk;
			c.lineWidth = w > 8 ? 1 : 0.5;
			c.strokeRect(x - w / 2, y - h / 2, w, h);
			if (w > 24 && h > 9) {
				c.fillStyle = this.ink;
				this.text(f.shortNames[sw], x, y, w - 4);
			}
		}
	}

	drawGroups()
	{
		const { p, context: c } = this;

		p.groups.forEach((g, i) => {
			const x0 = this.sx(g.x0), x1 = this.sx(g.x1), y0 = this.sy(g.y0), y1 = this.sy(g.y1);

			if (x1 < 0 || x0 > this.width || y1 < 0 || y0 > this.height || this.isInside(i))
				return;
			c.strokeStyle = this.boxInk;
			c.lineWidth = 0.6;
			if (this.open[i]) {
				c.setLineDash([4, 4]);
				c.strokeRect(x0, y0, x1 - x0, y1 - y0);
				c.setLineDash([]);
				if (x1 - x0 > 30) {
					c.textAlign = "left";
					c.font = "11px sans-serif";
					c.fillStyle = this.paper;
					c.fillRect(x0, y0 - 15, c.measureText(g.name).width + 4, 14);
					c.fillStyle = this.ink;
					c.fillText(g.name, x0 + 2, y0 - 4);
				}
				return;
			}
			c.fillStyle = this.box;
			c.fillRect(x0, y0, x1 - x0, y1 - y0);
			c.fillStyle = colourOf(this.valueOfGroup[i]);
			c.fillRect(x0, y1 - Math.min(8, (y1 - y0) / 4), x1 - x0, Math.min(8, (y1 - y0) / 4));
			c.strokeRect(x0, y0, x1 - x0, y1 - y0);
			this.groupText(g, x0, x1, y0, y1);
		});
	}

	groupText(g, x0, x1, y0, y1)
	{
		const c = this.context, lines = [g.name, `${g.switches.length} switches`, `${g.hosts} hosts`];
		const upright = x1 - x0 < 80 && y1 - y0 > x1 - x0;

		c.save();
		c.translate((x0 + x1) / 2, (y0 + y1) / 2);
		if (upright)
			c.rotate(-Math.PI / 2);
		const room = upright ? y1 - y0 : x1 - x0, lanes = Math.floor((upright ? x1 - x0 : y1 - y0) / 13);

		c.fillStyle = this.ink;
		lines.slice(0, Math.max(lanes > 0 ? 1 : 0, Math.min(3, lanes))).forEach((line, i, all) =>
			this.text(line, 0, (i - (all.length - 1) / 2) * 13, room - 4));
		c.restore();
	}

	/* Whether a group is in a closed one. */
	isInside(i)
	{
		const first = this.closedOf(this.p.groups[i].switches[0]);

		return first >= 0 && first !== i && this.p.groups[first].level > this.p.groups[i].level;
	}

	drawChosen()
	{
		if (this.chosen < 0)
			return;
		const c = this.context, sw = this.f.swOf[this.chosen], [px, py] = this.centre(this.chosen);
		const x = this.sx(px), y = this.sy(py), w = Math.max(14, (sw >= 0 ? this.p.w[sw] : 1) * this.k + 6);

		c.strokeStyle = "#d627a0";
		c.lineWidth = 2.5;
		c.strokeRect(x - w / 2, y - 11, w, 22);
	}

	text(text, x, y, room)
	{
		const c = this.context, most = Math.floor(room / 6);

		if (most < 2)
			return;
		c.textAlign = "center";
		c.textBaseline = "middle";
		c.font = "11px sans-serif";
		c.fillText(text.length > most ? text.slice(0, most - 1) + "…" : text, x, y);
		c.textBaseline = "alphabetic";
	}

	/* --- the reader --- */

	/* {node}, {group} or null at a place on the screen. */
	at([x, y])
	{
		const { p } = this;
		const wx = (this.transform.invertX(x) - this.left) / this.scale;
		const wy = (this.transform.invertY(y) - this.above) / this.scale;

		for (let i = 0; i < p.groups.length; i++) {
			const g = p.groups[i];

			if (!this.open[i] && wx >= g.x0 && wx <= g.x1 && wy >= g.y0 && wy <= g.y1)
				return { group: i };
		}
		const found = this.nearest(x, y, wx, wy);

		if (found >= 0)
			return { node: found };
		for (let i = p.groups.length - 1; i >= 0; i--) {	/* the frame of an open group, by its name */
			const g = p.groups[i];

			if (Math.abs(y - this.sy(g.y0)) < 12 && wx >= g.x0 && wx <= g.x1)
				return { group: i };
		}
		return null;
	}

	/* A switch is found in its box, a host near its centre. */
	nearest(x, y, wx, wy)
	{
		const { f, p } = this;

		for (let sw = 0; sw < p.x.length; sw++)
			if (this.closed[sw] < 0 && Math.abs(wx - p.x[sw]) * this.k <= Math.max(4, p.w[sw] * this.k / 2) &&
			    Math.abs(y - this.sy(p.y[sw])) <= 9)
				return f.data.switches.node[sw];
		const near = this.tree.find(wx, wy, Math.max(1, 8 / this.k, p.hh));

		if (!near || f.swOf[near.node] >= 0 || this.closed[f.homeOf[near.node]] >= 0)
			return -1;
		return Math.abs(this.sx(near.x) - x) < Math.max(5, this.k) &&
			Math.abs(this.sy(near.y) - y) < Math.max(5, p.hh * this.k) ? near.node : -1;
	}

	hover(place)
	{
		const found = this.f && this.transform && this.at(place);

		this.tip.hidden = !found;
		if (!found)
			return;
		this.tip.textContent = found.group !== undefined ? this.groupTip(this.p.groups[found.group]) :
			nodeTip(this.f, found.node);
		this.tip.style.left = `${Math.min(place[0] + 14, this.width - 240)}px`;
		this.tip.style.top = `${place[1] + 14}px`;
	}

	groupTip(g)
	{
		return `${g.name}: ${g.switches.length} switches, ${g.hosts} hosts\n${g.first} … ${g.last}`;
	}

	click(place)
	{
		const found = this.at(place);

		if (!found)
			return;
		if (found.group !== undefined) {
			const g = this.p.groups[found.group];

			this.byHand.set(g.name, !this.open[found.group]);
			this.drawSoon();
		} else {
			this.choose(found.node, false);
		}
	}

	/* Marks a node; if `go`, opens its groups and moves there. */
	choose(node, go)
	{
		const home = this.f.swOf[node] >= 0 ? this.f.swOf[node] : this.f.homeOf[node];

		this.chosen = node;
		this.onPick(node);
		if (go && home >= 0) {
			for (const g of this.p.groupOf[home])
				this.byHand.set(this.p.groups[g].name, true);
			this.goTo(node, home);
		}
		this.drawSoon();
	}

	goTo(node, home)
	{
		const [x, y] = this.centre(node), k = Math.max(this.transform.k, 110 / (this.p.w[home] * this.scale));

		d3.select(this.canvas).call(this.zoom.transform, d3.zoomIdentity.translate(this.width / 2, this.height / 2)
			.scale(k).translate(-(this.left + x * this.scale), -(this.above + y * this.scale)));
	}
}

function nodeTip(f, node)
{
	const lines = [f.nodes.name[node], `${typeName(f, node)}, GUID ${guidOf(f, node)}, LID ${f.nodes.lid[node] || "none"}`];
	const trouble = f.linksOf[node].map(i => linkTrouble(f, i)).filter(Boolean);

	lines.push(`${f.linksOf[node].length} links` + (f.swOf[node] >= 0 ? `, ${f.hostsOf[f.swOf[node]].length} hosts` : ""));
	return lines.concat(trouble.slice(0, 4)).join("\n");
}

function guidOf(f, node)
{
	return "0x" + f.nodes.guid[node].padStart(16, "0");
}
