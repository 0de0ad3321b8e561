/* SPDX-License-Identifier: MIT */
/*
 * The page that html.c writes: draws the data of this file on a canvas, zooms and pans, and tells what is under the
 * pointer.  It loads nothing, and puts names into the page as text only.
 *
 * Wheel, + and -: zoom.  Drag, arrows: pan.  Home: all.  Click: copy "goto K".
 * FILE#A:B shows positions A to B, FILE#A:B@K tells of position K besides.
 */
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const canvas = document.getElementById("plot");
const ctx = canvas.getContext("2d");

const LEFT = 180;       /* pixels: names of rows */
const RIGHT = 16;
const BAR = 15;         /* height of a bar of calls, functions, threads, events */
const HEADING = 22;
const LEVELS = 8;
const MIN_SPAN = 8;     /* positions: the closest look */
const MAX_DEPTH = 32;   /* of calls that have bars */

let view = { from: data.from, to: data.to };
let pointer = null;     /* { pos, y }: what is told of; y is null if only a position is */
let drag = null;
let width = 800;        /* pixels of the time axis */

/* ------------------------------------------------------------------------------------------ the data */

const name = label => label < 0 ? null : data.names[label];
const group = n => n.toString().replace(/\B(?=(\d{3})+$)/g, ",");
const hex = n => "0x" + n.toString(16);

/* "A3.2B" is three columns of level 1, two empty ones, one of level 2. */
function decodeRow(text, cols) {
	const levels = new Uint8Array(cols);
	let at = 0;
	for (const [, letter, digits] of text.matchAll(/([A-Z.])([0-9a-z]*)/g)) {
		const n = digits ? parseInt(digits, 36) : 1;
		levels.fill(letter === "." ? 0 : letter.charCodeAt(0) - 64, at, at + n);
		at += n;
	}
	return levels;
}

function decodeGrid(grid) {
	return { origin: grid.origin, width: grid.width, cols: grid.cols,
		rows: grid.rows.map(row => decodeRow(row, grid.cols)) };
}

function decodeAreas(areas) {
	return areas.map(a => ({ row: a.row, rows: a.rows, process: a.process, name: name(a.name), first: BigInt(a.first),
		last: BigInt(a.last), step: BigInt(a.step) }));
}

/* Spans of columns with one function: { from, until, label }. */
function decodeFunctions(numbers, grid) {
	const spans = [];
	let from = grid.origin;
	for (let i = 0; i < numbers.length; i += 2) {
		const until = from + numbers[i + 1] * grid.width;
		spans.push({ from, until, label: numbers[i] });
		from = until;
	}
	return spans;
}

function decodeCalls(thread) {
	const bars = [];
	let from = data.from;
	for (let i = 0; i < thread.bars.length; i += 4) {
		from += thread.bars[i];
		bars.push({ from, until: from + thread.bars[i + 1], depth: thread.bars[i + 2], label: thread.bars[i + 3] });
	}
	const depths = [];
	for (const text of thread.depths.split(" "))
		depths.push(text ? parseInt(text, 36) : depths[depths.length - 1]);
	return { name: name(thread.name), bars, depths, rows: Math.min(thread.maxDepth, MAX_DEPTH) };
}

function decodeMarks(kind) {
	const items = [];
	for (let i = 0; i < kind.items.length; i += 3)
		items.push({ pos: kind.items[i], n: kind.items[i + 1], label: kind.items[i + 2] });
	return { kind: kind.kind, items };
}

const code = decodeGrid(data.code), reads = decodeGrid(data.reads), writes = decodeGrid(data.writes);
const threads = decodeGrid(data.threads);
const codeAreas = decodeAreas(data.codeAreas), dataAreas = decodeAreas(data.dataAreas);
const functions = decodeFunctions(data.functions, code);
const callThreads = data.calls.threads.map(decodeCalls);
const marks = data.marks.map(decodeMarks);
const pcs = data.pcs ? data.pcs.split(" ") : null;

/* ------------------------------------------------------------------------------------------ where things are */

const xOf = pos => LEFT + (pos - view.from) / (view.to - view.from) * width;
const posOf = x => Math.floor(view.from + (x - LEFT) / width * (view.to - view.from));
const clamp = (n, least, most) => Math.max(least, Math.min(most, n));
const clampPos = pos => clamp(pos, data.from, data.to - 1);
const columnOf = (grid, pos) => Math.floor((pos - grid.origin) / grid.width);

/* Few rows are drawn higher. */
const rowHeight = rows => rows < 24 ? 8 : rows < 64 ? 5 : 4;

const callsHeading = data.calls.why ? "calls: " + data.calls.why
	: !callThreads.length ? "calls: none were recorded here"
	: data.calls.minLength ? "calls of " + group(data.calls.minLength) + " steps or more; grey: how deep the others are"
	: "calls";
const dataTitle = data.hasReads ? "memory: written (red), read (blue)" : "memory: written (what was read was not recorded)";

/* The bands from top to bottom: { heading, height, y, draw(band), tell(pos, row) }. */
const bands = [
	{ heading: code.width === 1 ? "function" : "function with most steps of a column", height: BAR, draw: drawFunctions },
	...(callThreads.length ? callThreads : [null]).map((thread, i) => ({
		heading: i ? "" : callsHeading, height: thread ? thread.rows * BAR : 0, thread, draw: drawCalls, tell: tellCall })),
	{ heading: "executed addresses", rowHeight: rowHeight(code.rows.length), rows: code.rows.length, areas: codeAreas,
		draw: drawCode, tell: tellAddress },
	{ heading: dataTitle, rowHeight: rowHeight(writes.rows.length), rows: writes.rows.length, areas: dataAreas,
		draw: drawMemory, tell: tellAddress },
	{ heading: "threads", rowHeight: BAR, rows: threads.rows.length, draw: drawThreads },
	{ heading: "events", rowHeight: BAR, rows: marks.length, draw: drawMarks, tell: tellMark },
];

function layOut() {
	let y = 20;
	for (const band of bands) {
		y += band.heading ? HEADING : 4;
		band.y = y;
		band.height ??= band.rows * band.rowHeight;
		y += band.height;
	}
	const ratio = window.devicePixelRatio || 1;
	const pixels = Math.max(600, document.documentElement.clientWidth - 16);
	width = pixels - LEFT - RIGHT;
	canvas.style.width = pixels + "px";
	canvas.style.height = y + 8 + "px";
	canvas.width = pixels * ratio;
	canvas.height = (y + 8) * ratio;
	ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
}

/* ------------------------------------------------------------------------------------------ drawing */

function colourOf(text) {
	if (text === null)
		return "#ddd";
	let hash = 2166136261;
	for (let i = 0; i < text.length; i++)
		hash = Math.imul(hash ^ text.charCodeAt(i), 16777619) >>> 0;
	return "hsl(" + (hash >>> 8) % 360 + ",55%," + (72 + hash % 12) + "%)";
}

const shades = hue => Array.from({ length: LEVELS + 1 }, (_, level) => "hsl(" + hue + ",75%," + (82 - level * 52 / LEVELS) + "%)");
const GREEN = shades(150), RED = shades(0), BLUE = shades(215), VIOLET = shades(275);

function text(string, x, y, align = "left", colour = "#222") {
	ctx.fillStyle = colour;
	ctx.textAlign = align;
	ctx.fillText(string, x, y);
}

/* The text if it has room in @room pixels, else as much of it as has. */
function shorten(string, room) {
	if (ctx.measureText(string).width <= room)
		return string;
	const n = Math.floor(string.length * room / ctx.measureText(string).width) - 1;
	return n > 2 ? string.slice(0, n) + "\u2026" : "";
}

/* A rectangle from position to position, where it is seen.  Returns its width in pixels. */
function box(from, until, y, height, colour) {
	const x = Math.max(LEFT, xOf(from)), end = Math.min(LEFT + width, xOf(until));
	if (end <= x)
		return 0;
	ctx.fillStyle = colour;
	ctx.fillRect(x, y, Math.max(end - x - (end - x > 6 ? 1 : 0), 0.6), height);
	return end - x;
}

function bar(span, y, label) {
	const room = box(span.from, span.until, y, BAR - 1, colourOf(label));
	if (room > 24 && label !== null)
		text(shorten(label, room - 6), Math.max(LEFT, xOf(span.from)) + 3, y + BAR - 4);
}

function isSeen(span) {
	return span.until > view.from && span.from < view.to;
}

/* The highest level of the columns that a pixel shows; runs of one level are one rectangle. */
function drawGrid(grid, band, colours) {
	const perPixel = (view.to - view.from) / width / grid.width;
	for (let row = 0; row < grid.rows.length; row++) {
		const levels = grid.rows[row];
		let last = 0, start = 0;
		for (let x = 0; x <= width; x++) {
			const at = (view.from - grid.origin) / grid.width + x * perPixel;
			let level = 0;
			for (let col = Math.floor(at); x < width && col < Math.max(at + perPixel, Math.floor(at) + 1); col++)
				level = Math.max(level, levels[col] || 0);
			if (level !== last || x === width) {
				if (last) {
					ctx.fillStyle = colours[last];
					ctx.fillRect(LEFT + start, band.y + row * band.rowHeight, x - start, band.rowHeight - 0.5);
				}
				last = level;
				start = x;
			}
		}
	}
}

function drawAreas(band) {
	let last = -10;
	for (const area of band.areas) {
		const y = band.y + area.row * band.rowHeight;
		ctx.fillStyle = "#ccc";
		ctx.fillRect(LEFT - 6, y - 0.5, width + 6, 0.5);
		if (y < last + 11)
			continue;
		last = y;
		text(shorten(area.name ?? hex(area.first), LEFT - 12), LEFT - 8, y + 10, "right");
	}
}

function drawFunctions(band) {
	for (const span of functions)
		if (isSeen(span))
			bar(span, band.y, name(span.label));
}

/* How deep the calls were, in grey, where there may be more of them than have bars. */
function drawDepths(band) {
	const perPixel = (view.to - view.from) / width / code.width;
	ctx.fillStyle = "#ececec";
	for (let x = 0; x < width; x++) {
		const at = (view.from - code.origin) / code.width + x * perPixel;
		let depth = 0;
		for (let col = Math.floor(at); col < Math.max(at + perPixel, Math.floor(at) + 1); col++)
			depth = Math.max(depth, band.thread.depths[col] || 0);
		ctx.fillRect(LEFT + x, band.y, 1, Math.min(depth, band.thread.rows) * BAR);
	}
}

function drawCalls(band) {
	if (!band.thread)
		return;
	text(shorten(band.thread.name ?? "", LEFT - 12), LEFT - 8, band.y + 11, "right");
	if (data.calls.minLength)
		drawDepths(band);
	for (const call of band.thread.bars)
		if (isSeen(call))
			bar(call, band.y + (call.depth - 1) * BAR, name(call.label));
}

function drawCode(band) {
	drawAreas(band);
	drawGrid(code, band, GREEN);
}

function drawMemory(band) {
	drawAreas(band);
	drawGrid(reads, band, BLUE);
	drawGrid(writes, band, RED);
}

function drawThreads(band) {
	data.threadNames.forEach((label, i) => text(shorten(name(label) ?? "", LEFT - 12), LEFT - 8, band.y + i * BAR + 11, "right"));
	drawGrid(threads, band, VIOLET);
}

function drawMarks(band) {
	marks.forEach((kind, i) => {
		const y = band.y + i * BAR;
		let free = 0;
		text(kind.kind, LEFT - 8, y + 11, "right");
		kind.items.forEach((mark, k) => {
			const x = xOf(mark.pos), next = kind.items[k + 1];
			if (x < LEFT || x > LEFT + width)
				return;
			ctx.fillStyle = "#a33";
			ctx.fillRect(x, y, 1.5, BAR - 2);
			const room = (next ? xOf(next.pos) : LEFT + width) - x - 6;
			if (mark.label >= 0 && x >= free && ctx.measureText(name(mark.label)).width <= room)
				text(name(mark.label), x + 3, y + 11);
			free = x + 3;
		});
	});
}

/* 1, 2 or 5 times a power of ten, so that about ten fit. */
function tickStep(span) {
	let step = 1;
	for (let i = 0; span / step > 10; i++)
		step = [1, 2, 5][i % 3] * 10 ** Math.floor(i / 3);
	return step;
}

function drawTime() {
	const step = tickStep(view.to - view.from);
	for (let pos = Math.ceil(view.from / step) * step; pos <= view.to; pos += step) {
		ctx.fillStyle = "#e6e6e6";
		ctx.fillRect(xOf(pos), 16, 1, canvas.height);
		const half = ctx.measureText(group(pos)).width / 2;
		text(group(pos), Math.min(xOf(pos), LEFT + width + RIGHT - half), 12, "center", "#555");
	}
}

function drawPointer() {
	if (!pointer)
		return;
	const x = xOf(pointer.pos), end = xOf(pointer.pos + 1);
	ctx.fillStyle = end - x > 2 ? "rgba(40, 40, 40, 0.15)" : "rgba(40, 40, 40, 0.6)";
	ctx.fillRect(x, 16, Math.max(1, end - x), canvas.height);
}

function draw() {
	ctx.fillStyle = "#fff";
	ctx.fillRect(0, 0, canvas.width, canvas.height);
	ctx.font = "11px sans-serif";
	drawTime();
	for (const band of bands) {
		ctx.font = "bold 11px sans-serif";
		text(band.heading, 8, band.y - 6);
		ctx.font = "11px sans-serif";
		band.draw(band);
	}
	drawPointer();
	document.getElementById("view").textContent = "positions " + group(Math.floor(view.from)) + " to " + group(Math.ceil(view.to));
	document.getElementById("readout").textContent = tell();
}

/* ------------------------------------------------------------------------------------------ what is under the pointer */

function functionAt(pos) {
	const span = functions.find(s => pos >= s.from && pos < s.until);
	return span ? name(span.label) : null;
}

/* The calls that are open at a position, of those that have bars: the outermost one first. */
function callsAt(pos) {
	return callThreads.map(thread => thread.bars.filter(c => pos >= c.from && pos < c.until)
		.sort((a, b) => a.depth - b.depth).map(c => name(c.label) ?? "?")).filter(names => names.length);
}

/* "main > ins x13 > puts" */
function tellStack(names) {
	const parts = [];
	for (let i = 0, n; i < names.length; i += n) {
		for (n = 1; names[i + n] === names[i];)
			n++;
		parts.push(names[i] + (n > 1 ? " x" + n : ""));
	}
	return parts.join(" > ");
}

function tellPosition(pos) {
	const col = columnOf(code, pos), pc = pcs && pcs[col], threadCol = columnOf(threads, pos);
	const ran = data.threadNames.filter((_, i) => threads.rows[i][threadCol]).map(name);
	const where = pc ? ", pc 0x" + pc : "";
	return "position " + group(pos) + where + (ran.length ? ", " + ran.join(" or ") : "");
}

function tellFunction(pos) {
	const found = functionAt(pos), col = columnOf(code, pos);
	const first = Math.max(data.from, code.origin + col * code.width), end = Math.min(data.to, code.origin + (col + 1) * code.width);
	const own = code.width === 1 ? "function " + (found ?? "unknown")
		: "most steps of " + first + ":" + end + " are in " + (found ?? "unknown functions");
	const stacks = callsAt(pos).map(tellStack);
	return own + (stacks.length ? "; calls " + stacks.join(" | ") : "");
}

/* The addresses of the row that the pointer is in. */
function tellAddress(band, pos, y) {
	const row = Math.floor(y / band.rowHeight);
	const area = band.areas.find(a => row >= a.row && row < a.row + a.rows);
	if (!area)
		return "";
	const first = area.first + BigInt(row - area.row) * area.step;
	const end = first + area.step - 1n;
	const last = end < area.last ? end : area.last;
	const inside = band.areas === codeAreas && pcs && pcs[columnOf(code, pos)];
	return (area.name ?? "unnamed memory") + " " + hex(first) + "-" + hex(last) + (inside ? "" : rowFacts(band, pos, row));
}

function rowFacts(band, pos, row) {
	if (band.areas === codeAreas)
		return code.rows[row][columnOf(code, pos)] ? ", executed" : "";
	return (writes.rows[row][columnOf(writes, pos)] ? ", written" : "") + (reads.rows[row][columnOf(reads, pos)] ? ", read" : "");
}

function tellCall(band, pos, y) {
	const depth = Math.floor(y / BAR) + 1;
	const call = band.thread && band.thread.bars.find(c => c.depth === depth && pos >= c.from && pos < c.until);
	return call ? (name(call.label) ?? "?") + ", depth " + depth + ", positions " + group(call.from) + " to " + group(call.until) : "";
}

/* The mark of the row that is nearest to the pointer, if it is near. */
function tellMark(band, pos, y) {
	const kind = marks[Math.floor(y / BAR)];
	const near = 6 * (view.to - view.from) / width;
	let best = null;
	for (const mark of kind ? kind.items : [])
		if (Math.abs(mark.pos - pos) <= near && (!best || Math.abs(mark.pos - pos) < Math.abs(best.pos - pos)))
			best = mark;
	return best ? kind.kind + ": " + (name(best.label) ?? "") + (best.n > 1 ? " and " + (best.n - 1) + " more" : "") + " at " + group(best.pos) : "";
}

function tell() {
	if (!pointer)
		return "move the pointer over the picture";
	const band = pointer.y === null ? null : bands.find(b => pointer.y >= b.y && pointer.y < b.y + b.height);
	const detail = band && band.tell ? band.tell(band, pointer.pos, pointer.y - band.y) : "";
	return tellPosition(pointer.pos) + "\n" + tellFunction(pointer.pos) + "\n" + detail;
}

/* ------------------------------------------------------------------------------------------ moving */

function show(from, to) {
	const most = data.to - data.from;
	const span = clamp(to - from, Math.min(MIN_SPAN, most), most);
	from = clamp((from + to - span) / 2, data.from, data.to - span);
	view = { from, to: from + span };
	draw();
}

/* The position at pixel @x stays there. */
function zoom(factor, x) {
	const at = (x - LEFT) / width, pos = view.from + at * (view.to - view.from);
	const most = data.to - data.from;
	const span = clamp((view.to - view.from) * factor, Math.min(MIN_SPAN, most), most);
	show(pos - at * span, pos - at * span + span);
}

function pan(positions) {
	const span = view.to - view.from;
	const from = clamp(view.from + positions, data.from, data.to - span);
	show(from, from + span);
}

function copyText(string) {
	const said = document.getElementById("copied");
	const done = () => { said.textContent = "copied: " + string; };
	const byHand = () => { said.textContent = string; };
	if (navigator.clipboard)
		navigator.clipboard.writeText(string).then(done, byHand);
	else
		byHand();
}

function point(event) {
	const at = canvas.getBoundingClientRect();
	const x = event.clientX - at.left, y = event.clientY - at.top;
	return { x, y, pos: clampPos(posOf(clamp(x, LEFT, LEFT + width))) };
}

canvas.addEventListener("wheel", event => {
	event.preventDefault();
	zoom(event.deltaY < 0 ? 0.7 : 1 / 0.7, clamp(point(event).x, LEFT, LEFT + width));
}, { passive: false });

canvas.addEventListener("mousedown", event => {
	drag = { x: event.clientX, view, isMoved: false };
});

window.addEventListener("mousemove", event => {
	const at = point(event);
	pointer = { pos: at.pos, y: at.y };
	if (drag && Math.abs(event.clientX - drag.x) > 3)
		drag.isMoved = true;
	if (drag && drag.isMoved) {
		view = drag.view;
		pan((drag.x - event.clientX) / width * (view.to - view.from));
	} else {
		draw();
	}
});

window.addEventListener("mouseup", event => {
	const isClick = drag && !drag.isMoved;
	drag = null;
	if (isClick && event.target === canvas)
		copyText("goto " + point(event).pos);
});

window.addEventListener("keydown", event => {
	const span = view.to - view.from, middle = LEFT + width / 2;
	const keys = {
		"+": () => zoom(0.5, pointer ? clamp(xOf(pointer.pos + 0.5), LEFT, LEFT + width) : middle),
		"-": () => zoom(2, middle),
		ArrowLeft: () => pan(-span / 8),
		ArrowRight: () => pan(span / 8),
		Home: () => show(data.from, data.to),
	};
	keys["="] = keys["+"];
	if (keys[event.key] && !event.ctrlKey && !event.metaKey) {
		event.preventDefault();
		keys[event.key]();
	}
});

/* #A:B and #A:B@K */
function goToHash() {
	const found = /^#(?:(\d+):(\d+))?(?:@(\d+))?$/.exec(location.hash);
	if (!found)
		return;
	if (found[3])
		pointer = { pos: clampPos(Number(found[3])), y: null };
	if (found[1])
		show(Number(found[1]), Number(found[2]));
	else
		draw();
}

window.addEventListener("resize", () => { layOut(); draw(); });
window.addEventListener("hashchange", goToHash);
document.getElementById("title").textContent = data.title;
document.getElementById("hint").textContent = (data.leftOut ? data.leftOut + " \u00b7 " : "") + "wheel: zoom \u00b7 drag: pan \u00b7 click: copy \u201cgoto K\u201d";
layOut();
draw();
goToHash();
