/*
 * The map: draws the places of places.js on a canvas, as much of it as there is room for.  A group that is too small on
 * the screen, or that was closed by hand, is one box, and its links to others are drawn as one.
 */

const GROUP_PIXELS = 56;	/* a narrower group is closed unless it was opened by hand */
const SHADES = 12;
/* on the screen, so that hosts stay near their switch in a fabric that is much wider than high */
const HOST_GAP = 50, HOST_ROW = 90;

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

/* The colour of text that can be read on colourOf(value). */
function inkOn(value)
{
	return shadeOf(value) > SHADES / 2 ? "#fff" : "#111";
}

/* The last characters of a name; a number of few digits stands alone. */
function lastOf(name, most)
{
	return most < 5 ? name.slice(-most) : "…" + name.slice(1 - most);
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
		this.level = -1;		/* whose values are shown; -1: all */
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
		this.level = Math.min(this.level, fabric.levels.length - 1);
		this.chosen = name === null ? -1 : fabric.nodes.guid.indexOf(name);
		this.bundled = null;
		if (first)
			this.resize(true);
		else
			this.drawSoon();
	}

	/* level: its number, -1 for all */
	setMetric(metric, level)
	{
		this.metric = metric;
		this.level = level;
		this.bundled = null;
		this.drawSoon();
	}

	setAll(how)
	{
		this.all = how;
		this.byHand.clear();
		this.drawSoon();
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
	get hostRow() { return Math.min(this.p.hh * this.k, HOST_ROW); }
	get hostGap() { return Math.min(0.16 * (this.p.rowHeight || 10) * this.k, HOST_GAP); }

	/* The middle of a host on the screen. */
	hostAt(node)
	{
		const { p } = this;

		return [this.sx(p.hx[node]), this.sy(p.y[this.f.homeOf[node]]) + this.hostGap + (p.hrow[node] + 0.5) * this.hostRow];
	}

	/* The middle, on the screen, of what bundle() calls a place. */
	placeAt(place)
	{
		const { f, p } = this;

		if (place >= f.n) {
			const g = p.groups[place - f.n];

			return [this.sx((g.x0 + g.x1) / 2), this.sy((g.y0 + g.y1) / 2)];
		}
		return f.swOf[place] < 0 ? this.hostAt(place) : [this.sx(p.x[f.swOf[place]]), this.sy(p.y[f.swOf[place]])];
	}

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

	/* Links between what is visible, equal ones as one: {a, b, n, value, host}. */
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
		const a = this.metric.value(i, 0, this.level), b = this.metric.value(i, 1, this.level);

		return Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.max(a, b);
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
			const [x0, y0] = this.placeAt(l.a), [x1, y1] = this.placeAt(l.b);

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
		else if (!host && this.p.kind !== "ranks" && Math.abs(x0 - x1) < 1 && Math.abs(y0 - y1) > far)
			path.quadraticCurveTo(x0 - 0.45 * (this.p.rowHeight || 10) * this.k, (y0 + y1) / 2, x1, y1);
		else
			path.lineTo(x1, y1);
	}

	drawHosts()
	{
		const { f, p, context: c } = this, k = this.k;
		const w = Math.max(0.7, 0.8 * k), h = Math.max(0.7, 0.8 * this.hostRow);

		for (let node = 0; node < f.n; node++) {
			const home = f.homeOf[node];

			if (home < 0 || this.closed[home] >= 0)
				continue;
			const [x, y] = this.hostAt(node);

			if (x < -w || x > this.width + w || y < -h || y > this.height + h)
				continue;
			c.fillStyle = colourOf(this.linkValue(f.linksOf[node][0]));
			c.fillRect(x - w / 2, y - h / 2, w, h);
			this.hostText(node, x, y, w, h);
		}
	}

	/* In a bar that is higher than wide the name stands upright. */
	hostText(node, x, y, w, h)
	{
		const { f, context: c } = this, upright = h > 1.5 * w, room = upright ? h : w;

		if (room < 24 || (upright ? w : h) < 11)
			return;
		c.fillStyle = inkOn(this.linkValue(f.linksOf[node][0]));
		c.save();
		c.translate(x, y);
		if (upright)
			c.rotate(-Math.PI / 2);
		this.text(f.shortHosts[node], 0, 0, room - 4, true);
		c.restore();
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
				this.text(f.shortNames[sw], x, y, w - 4, true);
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
				this.frameText(g.name, x0, x1 - x0, y0);
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

	/* The name above the frame of an open group, or the number in it where there is no room for more. */
	frameText(name, x, width, y)
	{
		const c = this.context, number = (name.match(/[0-9]+$/) || [""])[0];

		c.textAlign = "left";
		c.font = "11px sans-serif";
		const text = [name, number].find(t => t && c.measureText(t).width + 4 <= width);

		if (!text)
			return;
		c.fillStyle = this.paper;
		c.fillRect(x, y - 15, c.measureText(text).width + 4, 14);
		c.fillStyle = this.ink;
		c.fillText(text, x + 2, y - 4);
	}

	groupText(g, x0, x1, y0, y1)
	{
		const c = this.context, lines = [g.name, `${g.switches.length} switches`, some(g.hosts, "host")];
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
		const c = this.context, sw = this.f.swOf[this.chosen];

		if (sw < 0 && this.f.homeOf[this.chosen] < 0)
			return;
		const [x, y] = this.placeAt(this.chosen), w = Math.max(14, (sw >= 0 ? this.p.w[sw] : 0.8) * this.k + 6);
		const h = Math.max(22, sw >= 0 ? 0 : 0.8 * this.hostRow + 6);

		c.strokeStyle = "#d627a0";
		c.lineWidth = 2.5;
		c.strokeRect(x - w / 2, y - h / 2, w, h);
	}

	/* endFirst: a name that is too long is cut at its beginning, as numbers at the end tell names apart */
	text(text, x, y, room, endFirst)
	{
		const c = this.context;

		c.textAlign = "center";
		c.textBaseline = "middle";
		c.font = "11px sans-serif";
		const most = Math.floor(text.length * room / c.measureText(text).width);

		if (most < 2)
			return;
		c.fillText(text.length <= most ? text : endFirst ? lastOf(text, most) : text.slice(0, most - 1) + "…", x, y);
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
		const found = this.nearest(x, y, wx);

		if (found >= 0)
			return { node: found };
		for (let i = p.groups.length - 1; i >= 0; i--) {	/* the frame of an open group, by its name */
			const g = p.groups[i];

			if (Math.abs(y - this.sy(g.y0)) < 12 && wx >= g.x0 && wx <= g.x1)
				return { group: i };
		}
		return null;
	}

	/* The switch in whose box the place is, or the host at it. */
	nearest(x, y, wx)
	{
		const { f, p } = this;

		for (let sw = 0; sw < p.x.length; sw++) {
			if (this.closed[sw] >= 0 || Math.abs(wx - p.x[sw]) * this.k > Math.max(4, p.w[sw] * this.k / 2))
				continue;
			if (Math.abs(y - this.sy(p.y[sw])) <= 9)
				return f.data.switches.node[sw];
			const found = f.hostsOf[sw].find(h => {
				const [hx, hy] = this.hostAt(h);

				return Math.abs(hx - x) <= Math.max(1, this.k / 2) && Math.abs(hy - y) <= Math.max(1, this.hostRow / 2);
			});

			if (found !== undefined)
				return found;
		}
		return -1;
	}

	hover(place)
	{
		const found = this.f && this.transform && this.at(place);

		this.tip.hidden = !found;
		if (!found)
			return;
		this.tip.textContent = found.group !== undefined ? this.groupTip(this.p.groups[found.group]) :
			nodeTip(this.f, found.node) + this.valueTip(found.node);
		this.tip.style.left = `${Math.min(place[0] + 14, this.width - 240)}px`;
		this.tip.style.top = `${place[1] + 14}px`;
	}

	/* Of a node with one link: what the map's colour says. */
	valueTip(node)
	{
		const [link] = this.f.linksOf[node], text = e => this.metric.text(link, e, this.level);

		if (this.f.linksOf[node].length !== 1)
			return "";
		return text(0) === text(1) ? `\n${this.metric.name}: ${text(0)}` :
			[0, 1].map(e => `\nfrom ${portName(this.f, link, e)}: ${text(e)}`).join("");
	}

	groupTip(g)
	{
		return `${g.name}: ${g.switches.length} switches, ${some(g.hosts, "host")}\n${g.first} … ${g.last}`;
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

	/* Moves a node into the middle, its switch above it. */
	goTo(node, home)
	{
		const { f, p } = this, x = f.swOf[node] >= 0 ? p.x[home] : p.hx[node];
		const k = Math.max(this.transform.k, 110 / (p.w[home] * this.scale), f.swOf[node] >= 0 ? 0 : 14 / this.scale);

		d3.select(this.canvas).call(this.zoom.transform, d3.zoomIdentity.translate(this.width / 2, this.height / 3)
			.scale(k).translate(-(this.left + x * this.scale), -(this.above + p.y[home] * this.scale)));
	}
}

function nodeTip(f, node)
{
	const lines = [f.nodes.name[node], `${typeName(f, node)}, GUID ${guidOf(f, node)}, LID ${f.nodes.lid[node] || "none"}`];
	const trouble = f.linksOf[node].map(i => linkTrouble(f, i)).filter(Boolean);

	lines.push(some(f.linksOf[node].length, "link") + (f.swOf[node] >= 0 ? `, ${some(f.hostsOf[f.swOf[node]].length, "host")}` : ""));
	return lines.concat(trouble.slice(0, 4)).join("\n");
}

function guidOf(f, node)
{
	return "0x" + f.nodes.guid[node].padStart(16, "0");
}
