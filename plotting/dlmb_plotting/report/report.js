// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Draws the charts of the report as SVG and fills the page with them.
"use strict";

// ---- Scales, ticks and SVG elements.

const TOP = 8, BOTTOM = 44;

function make(name, attributes, parent, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    if (parent) parent.appendChild(element);
    return element;
}

function number(value) {
    if (value === 0) return "0";
    return Math.abs(value) >= 1e4 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

function linearTicks(low, high) {
    const rough = (high - low) / 6, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find(factor => factor * power >= rough);
    const ticks = [];
    for (let index = Math.ceil(low / step); index * step <= high * (1 + 1e-9); ++index) ticks.push([index * step, number(index * step)]);
    return ticks;
}

function logTicks(low, high) {
    if (high / low < 5) return linearTicks(low, high);
    const ticks = [], wide = high / low > 1e3;
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power)
        for (const factor of wide ? [1] : [1, 2, 5]) {
            const value = factor * 10 ** power;
            if (value >= low && value <= high) ticks.push([value, number(value)]);
        }
    return ticks;
}

// From values to pixels; first and last are the pixels of the ends.
function makeScale(axis, values, first, last, room) {
    const usable = values.filter(value => Number.isFinite(value) && (!axis.log || value > 0));
    if (axis.reference !== null) usable.push(...(axis.log && axis.reference <= 0 ? [] : [axis.reference]));
    const cut = axis.last === null ? Infinity : axis.last;
    let low = usable.reduce((one, other) => Math.min(one, other), Infinity), high = Math.min(cut, usable.reduce((one, other) => Math.max(one, other), -Infinity));
    if (!Number.isFinite(low)) [low, high] = axis.log ? [1, 10] : [0, 1];
    if (axis.log) [low, high] = [low / room, high * room];
    else [low, high] = [low - (low === 0 ? 0 : (high - low) * (room - 1)), high + (high - low) * (room - 1)];
    if (low === high) high = low + 1;
    const along = axis.log ? value => Math.log(Math.max(value, low) / low) / Math.log(high / low) : value => (Math.min(value, cut) - low) / (high - low);
    const given = axis.ticks.filter(tick => tick[0] >= low && tick[0] <= high);
    return {place: value => first + along(value) * (last - first), ticks: given.length ? given : axis.log ? logTicks(low, high) : linearTicks(low, high)};
}

// box: pixels of the area inside the axes.
function drawAxes(svg, box, x, xAxis, y, yAxis) {
    for (const [value, text] of x.ticks) {
        make("line", {x1: x.place(value), x2: x.place(value), y1: TOP, y2: box.floor, class: "grid"}, svg);
        make("text", {x: x.place(value), y: box.floor + 15, "text-anchor": "middle"}, svg, text);
    }
    make("text", {x: (box.left + box.right) / 2, y: box.floor + BOTTOM - 8, "text-anchor": "middle", class: "axis"}, svg, xAxis.title);
    make("line", {x1: box.left, x2: box.right, y1: box.floor, y2: box.floor, class: "frame"}, svg);
    if (xAxis.reference !== null) make("line", {x1: x.place(xAxis.reference), x2: x.place(xAxis.reference), y1: TOP, y2: box.floor, class: "reference"}, svg);
    if (!y) return;
    for (const [value, text] of y.ticks) {
        make("line", {x1: box.left, x2: box.right, y1: y.place(value), y2: y.place(value), class: "grid"}, svg);
        make("text", {x: box.left - 6, y: y.place(value) + 4, "text-anchor": "end"}, svg, text);
    }
    make("text", {transform: `translate(14 ${(TOP + box.floor) / 2}) rotate(-90)`, "text-anchor": "middle", class: "axis"}, svg, yAxis.title);
    if (yAxis.reference !== null) make("line", {x1: box.left, x2: box.right, y1: y.place(yAxis.reference), y2: y.place(yAxis.reference), class: "reference"}, svg);
}

// ---- Colours, hatches and markers of kinds; the same in every chart of a plot.

const DASHES = ["", "7 4", "8 3 2 3", "2 3"];
const HATCHES = ["", "M0 8L8 0", "M2 2h1.6v1.6h-1.6zM6 6h1.6v1.6h-1.6z", "M0 0L8 8", "M0 0L8 8M0 8L8 0", "M0 4H8", "M2 4a2 2 0 1 0 4 0a2 2 0 1 0 -4 0", "M0 4H8M4 0V8"];
const MARKERS = ["M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0", "M-4 -4h8v8h-8z", "M0 -5L5 4H-5z", "M0 -5L5 0L0 5L-5 0z", "M0 5L5 -4H-5z", "M-5 -2h3v-3h4v3h3v4h-3v3h-4v-3h-3z",
    "M-4 -4L4 4M-4 4L4 -4", "M0 -5V5M-5 0H5"];

function turned(index, list) { return list[(index + Math.floor(index / REPORT.colours.length)) % list.length]; }
function colour(index) { return REPORT.colours[index % REPORT.colours.length]; }

// What to fill a bar with: its colour, under a white hatch for those who cannot tell colours apart.
function fill(index) {
    const name = "hatch" + index;
    if (!document.getElementById(name)) {
        const pattern = make("pattern", {id: name, width: 8, height: 8, patternUnits: "userSpaceOnUse"}, document.getElementById("patterns"));
        make("rect", {width: 8, height: 8, fill: colour(index)}, pattern);
        make("path", {d: turned(index, HATCHES), stroke: "white", "stroke-width": 1.1, fill: "none"}, pattern);
    }
    return `url(#${name})`;
}

function drawMarker(parent, x, y, index) {
    return make("path", {d: turned(index, MARKERS), transform: `translate(${x} ${y})`, fill: colour(index), stroke: colour(index), "stroke-width": 1.6}, parent);
}

// Clicking an entry hides or shows its kind.
function drawLegend(plot, box, used, hidden, redraw) {
    box.textContent = "";
    for (const index of used) {
        const entry = document.createElement("button");
        entry.type = "button";
        entry.setAttribute("aria-pressed", String(!hidden.has(index)));
        const svg = make("svg", {width: 26, height: 14, viewBox: "0 0 26 14"}, entry);
        if (plot.bars.includes(index)) make("rect", {width: 26, height: 14, fill: fill(index)}, svg);
        else if (plot.bars.length) make("path", {d: "M3 7H23M13 2L18 7L13 12L8 7z", stroke: "black", fill: "white"}, svg);
        else {
            make("line", {x1: 0, x2: 26, y1: 7, y2: 7, stroke: colour(index), "stroke-width": 2, "stroke-dasharray": turned(index, DASHES)}, svg);
            drawMarker(svg, 13, 7, index);
        }
        entry.append(" " + plot.kinds[index]);
        entry.onclick = () => { if (!hidden.delete(index)) hidden.add(index); redraw(); };
        box.appendChild(entry);
    }
}

// ---- The three kinds of charts. Each function returns the SVG and leaves kinds in `hidden` out. many: others stand beside it.

const WIDTH = 950, HALF = 470, ROW = 24, POINTS_HEIGHT = 320, CLOSE = 1.06;

function canvas(width, height, title) { return make("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title}); }
function shortened(text, length) { return text.length <= length ? text : text.slice(0, length - 1) + "…"; }

function drawRows(chart, hidden) {
    const longest = Math.min(36, Math.max(...chart.rows.map(name => name.length)));
    const box = {left: Math.max(70, 20 + 6.6 * longest), right: WIDTH - 90, floor: TOP + ROW * chart.rows.length};
    const svg = canvas(WIDTH, box.floor + BOTTOM, chart.title);
    const spans = chart.spans.filter(span => !hidden.has(span[3])), marks = chart.marks.filter(mark => !hidden.has(mark[4]));
    const values = [...spans.flatMap(span => [span[1], span[1] + span[2]]), ...marks.flatMap(mark => mark.slice(1, 4))];
    if (!chart.x.log && chart.x.reference === null) values.push(0);
    const x = makeScale(chart.x, values, box.left, box.right, 1.03);
    drawAxes(svg, box, x, chart.x);
    const middle = row => TOP + ROW * (row + 0.5), furthest = {};
    chart.rows.forEach((name, row) => make("title", {}, make("text", {x: box.left - 8, y: middle(row) + 4, "text-anchor": "end"}, svg, shortened(name, 36)), name));
    const reach = (row, value) => { furthest[row] = Math.max(furthest[row] ?? box.left, x.place(value)); };
    for (const [row, start, length, kind, text] of spans) {
        const left = x.place(start), width = Math.max(0.7, x.place(start + length) - left);
        make("rect", {x: left, y: middle(row) - 8, width, height: 16, fill: fill(kind), class: "bar", "data-text": text}, svg);
        reach(row, start + length);
    }
    for (const [row, value, low, high, kind, text] of marks) {
        const group = make("g", {"data-text": text, class: "mark"}, svg), y = middle(row), alone = chart.spans.length === 0;
        const line = {stroke: alone ? colour(kind) : "black", "stroke-width": 1.4};
        make("path", {d: `M${x.place(low)} ${y - 4}v8m0 -4H${x.place(high)}m0 -4v8`, fill: "none", ...line}, group);
        if (alone) drawMarker(group, x.place(value), y, kind);
        else make("path", {d: "M0 -5L5 0L0 5L-5 0z", transform: `translate(${x.place(value)} ${y})`, fill: "white", ...line}, group);
        reach(row, Math.max(value, high));
    }
    for (const [row, text] of Object.entries(chart.ends)) make("text", {x: (furthest[row] ?? box.left) + 7, y: middle(+row) + 4}, svg, text);
    for (const [row, text] of Object.entries(chart.remarks))
        make("title", {}, make("text", {x: box.left + 4, y: middle(+row) + 4, class: "remark"}, svg, shortened(text, 100)), text);
    return svg;
}

function drawPoints(chart, hidden, many) {
    const width = many ? HALF : WIDTH, box = {left: 74, right: width - 24, floor: POINTS_HEIGHT - BOTTOM};
    const svg = canvas(width, POINTS_HEIGHT, chart.title), series = chart.series.filter(one => !hidden.has(one[0]));
    const points = series.flatMap(one => one[1]);
    const x = makeScale(chart.x, points.map(point => point[0]), box.left, box.right, CLOSE);
    const y = makeScale(chart.y, points.flatMap(point => point.slice(1, 4)), box.floor, TOP, CLOSE);
    drawAxes(svg, box, x, chart.x, y, chart.y);
    for (const [kind, values] of series) {
        const line = {stroke: colour(kind), fill: "none", "stroke-width": 1.8, "stroke-dasharray": turned(kind, DASHES)};
        const path = values.map(([at, value]) => `${x.place(at).toFixed(1)} ${y.place(value).toFixed(1)}`);
        if (chart.joined && path.length) make("path", {d: "M" + path.join("L"), class: "line", ...line}, svg);
        for (const [at, value, low, high, text] of values) {
            const group = make("g", {"data-text": text, class: "mark"}, svg);
            make("path", {d: `M${x.place(at) - 3} ${y.place(low)}h6m-3 0V${y.place(high)}m-3 0h6`, stroke: colour(kind), fill: "none"}, group);
            drawMarker(group, x.place(at), y.place(value), kind);
        }
    }
    return svg;
}

// Cividis from dark blue to yellow: even in brightness, so that it holds in grey and for colour-blind readers.
function shade(share) {
    const stops = [[0, 34, 78], [65, 77, 107], [124, 123, 120], [188, 175, 111], [254, 232, 56]];
    const at = Math.min(share, 0.9999) * (stops.length - 1), index = Math.floor(at);
    return `rgb(${stops[index].map((value, part) => Math.round(value + (at - index) * (stops[index + 1][part] - value))).join(",")})`;
}

function drawHeat(chart) {
    const count = chart.rows.length, side = Math.max(6, count <= 4 ? 44 : Math.min(34, (count <= 16 ? 240 : 420) / count)), left = 62, floor = TOP + side * count, right = left + side * count;
    const numbers = side >= 34, width = right + (numbers ? 10 : 80), svg = canvas(width, floor + BOTTOM, chart.title);
    svg.style.maxWidth = 1.2 * width + "px";
    const largest = Math.max(...chart.values.flat()) || 1, every = Math.ceil(16 / side);
    chart.values.forEach((values, row) => values.forEach((value, column) => {
        const text = `${chart.row_title} ${chart.rows[row]} to ${chart.column_title} ${chart.columns[column]}: ${number(value)} ${chart.unit}`;
        make("rect", {x: left + side * column, y: TOP + side * row, width: side, height: side, fill: shade(value / largest), class: "heat", "data-text": text}, svg);
        if (numbers) make("text", {x: left + side * (column + 0.5), y: TOP + side * (row + 0.5) + 4, "text-anchor": "middle", class: "cell",
            fill: value > largest / 2 ? "black" : "white"}, svg, number(value));
    }));
    chart.rows.forEach((name, row) => row % every || make("text", {x: left - 6, y: TOP + side * (row + 0.5) + 4, "text-anchor": "end"}, svg, name));
    chart.columns.forEach((name, column) => column % every || make("text", {x: left + side * (column + 0.5), y: floor + 15, "text-anchor": "middle"}, svg, name));
    make("text", {x: (left + right) / 2, y: floor + BOTTOM - 8, "text-anchor": "middle", class: "axis"}, svg, chart.column_title);
    make("text", {transform: `translate(14 ${(TOP + floor) / 2}) rotate(-90)`, "text-anchor": "middle", class: "axis"}, svg, chart.row_title);
    if (numbers) return svg;
    const steps = 20, step = (floor - TOP) / steps;
    for (let index = 0; index < steps; ++index) make("rect", {x: right + 14, y: floor - (index + 1) * step, width: 14, height: step + 0.5, fill: shade((index + 0.5) / steps)}, svg);
    for (const share of [0, 0.5, 1]) make("text", {x: right + 33, y: floor - share * (floor - TOP) + 4 + 4 * (share - 0.5)}, svg, `${number(share * largest)} ${chart.unit}`);
    return svg;
}

// ---- Fills the page: every plot with its charts or a choice of them, its legend, and texts under the pointer.

const DRAW = {points: drawPoints, rows: drawRows, heat: drawHeat};
const MOST_AT_ONCE = {points: 6, rows: 6, heat: 12};  // a plot of more charts shows one at a time

function usedKinds(chart) {
    const found = chart.kind === "points" ? chart.series.map(one => one[0]) : chart.kind === "rows" ? [...chart.spans.map(span => span[3]), ...chart.marks.map(mark => mark[4])] : [];
    return [...new Set(found)];
}

function choose(plot, section, redraw) {
    const label = document.createElement("label"), select = document.createElement("select");
    for (const chart of plot.charts) select.add(new Option(chart.title));
    select.onchange = redraw;
    label.append("chart ", select);
    section.insertBefore(label, section.querySelector(".legend"));
    return select;
}

function show(plot, section) {
    const place = section.querySelector(".charts"), legend = section.querySelector(".legend"), hidden = new Set(), kind = plot.charts[0].kind;
    const select = plot.charts.length > MOST_AT_ONCE[kind] ? choose(plot, section, () => redraw()) : null;
    const redraw = () => {
        const charts = select ? [plot.charts[select.selectedIndex]] : plot.charts, many = charts.length > 1;
        place.className = `charts ${kind} ${many ? "many" : "one"}`;
        if (kind === "heat") place.style.setProperty("--columns", charts[0].rows.length <= 4 ? 4 : charts[0].rows.length <= 16 ? 3 : 2);
        place.replaceChildren(...charts.map(chart => {
            const figure = document.createElement("figure"), caption = document.createElement("figcaption");
            caption.textContent = chart.title;
            figure.append(caption, DRAW[chart.kind](chart, hidden, many));
            return figure;
        }));
        drawLegend(plot, legend, [...new Set(charts.flatMap(usedKinds))].sort((one, other) => one - other), hidden, redraw);
    };
    redraw();
}

function followPointer() {
    const tip = document.getElementById("tip");
    document.addEventListener("mousemove", event => {
        const text = event.target.closest && event.target.closest("[data-text]");
        tip.hidden = !text;
        if (!text) return;
        tip.textContent = text.getAttribute("data-text");
        tip.style.left = Math.min(event.pageX + 14, document.documentElement.scrollWidth - 330) + "px";
        tip.style.top = event.pageY + 14 + "px";
    });
}

const errors = [];
window.addEventListener("error", event => errors.push(event.message));
for (const plot of REPORT.plots) {
    try {
        show(plot, document.getElementById(plot.name));
    } catch (error) {
        errors.push(`${plot.name}: ${error}`);
        document.getElementById(plot.name).querySelector(".charts").textContent = `cannot be drawn: ${error}`;
    }
}
followPointer();
document.documentElement.setAttribute("data-errors", JSON.stringify(errors));
