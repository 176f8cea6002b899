// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// The three kinds of charts. Each function returns the SVG and leaves kinds in `hidden` out.
"use strict";

const ROW = 24, POINTS_HEIGHT = 340, CLOSE = 1.06;

function canvas(height, title) { return make("svg", {viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": title}); }
function shortened(text, length) { return text.length <= length ? text : text.slice(0, length - 1) + "…"; }

function drawRows(chart, hidden) {
    const height = TOP + BOTTOM + ROW * chart.rows.length, svg = canvas(height, chart.title);
    const spans = chart.spans.filter(span => !hidden.has(span[3])), marks = chart.marks.filter(mark => !hidden.has(mark[4]));
    const values = [...spans.flatMap(span => [span[1], span[1] + span[2]]), ...marks.flatMap(mark => mark.slice(1, 4))];
    if (!chart.x.log && chart.x.reference === null) values.push(0);
    const x = makeScale(chart.x, values, LEFT, WIDTH - RIGHT, 1.03);
    drawAxes(svg, height, x, chart.x);
    const middle = row => TOP + ROW * (row + 0.5), furthest = {};
    chart.rows.forEach((name, row) => make("title", {}, make("text", {x: LEFT - 8, y: middle(row) + 4, "text-anchor": "end"}, svg, shortened(name, 36)), name));
    const reach = (row, value) => { furthest[row] = Math.max(furthest[row] ?? LEFT, x.place(value)); };
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
    for (const [row, text] of Object.entries(chart.ends)) make("text", {x: (furthest[row] ?? LEFT) + 7, y: middle(+row) + 4}, svg, text);
    for (const [row, text] of Object.entries(chart.remarks))
        make("title", {}, make("text", {x: LEFT + 4, y: middle(+row) + 4, class: "remark"}, svg, shortened(text, 100)), text);
    return svg;
}

function drawPoints(chart, hidden) {
    const svg = canvas(POINTS_HEIGHT, chart.title), series = chart.series.filter(one => !hidden.has(one[0]));
    const points = series.flatMap(one => one[1]);
    const x = makeScale(chart.x, points.map(point => point[0]), LEFT, WIDTH - RIGHT, CLOSE);
    const y = makeScale(chart.y, points.flatMap(point => point.slice(1, 4)), POINTS_HEIGHT - BOTTOM, TOP, CLOSE);
    drawAxes(svg, POINTS_HEIGHT, x, chart.x, y, chart.y);
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
    const side = Math.max(6, Math.min(44, 420 / chart.rows.length)), height = TOP + BOTTOM + side * chart.rows.length, svg = canvas(height, chart.title);
    const largest = Math.max(...chart.values.flat()) || 1, every = Math.ceil(16 / side), floor = height - BOTTOM;
    chart.values.forEach((values, row) => values.forEach((value, column) => {
        const text = `${chart.row_title} ${chart.rows[row]} to ${chart.column_title} ${chart.columns[column]}: ${number(value)} ${chart.unit}`;
        make("rect", {x: LEFT + side * column, y: TOP + side * row, width: side, height: side, fill: shade(value / largest), class: "heat", "data-text": text}, svg);
        if (side >= 34) make("text", {x: LEFT + side * (column + 0.5), y: TOP + side * (row + 0.5) + 4, "text-anchor": "middle", class: "cell",
            fill: value > largest / 2 ? "black" : "white"}, svg, number(value));
    }));
    chart.rows.forEach((name, row) => row % every || make("text", {x: LEFT - 6, y: TOP + side * (row + 0.5) + 4, "text-anchor": "end"}, svg, name));
    chart.columns.forEach((name, column) => column % every || make("text", {x: LEFT + side * (column + 0.5), y: floor + 15, "text-anchor": "middle"}, svg, name));
    make("text", {x: LEFT + side * chart.columns.length / 2, y: height - 8, "text-anchor": "middle", class: "axis"}, svg, chart.column_title);
    make("text", {transform: `translate(${LEFT - 60} ${(TOP + floor) / 2}) rotate(-90)`, "text-anchor": "middle", class: "axis"}, svg, chart.row_title);
    const scale = LEFT + side * chart.columns.length + 30, steps = 20, step = (floor - TOP) / steps;
    for (let index = 0; index < steps; ++index) make("rect", {x: scale, y: floor - (index + 1) * step, width: 14, height: step + 0.5, fill: shade((index + 0.5) / steps)}, svg);
    for (const share of [0, 0.5, 1]) make("text", {x: scale + 20, y: floor - share * (floor - TOP) + 4 + 4 * (share - 0.5)}, svg, `${number(share * largest)} ${chart.unit}`);
    return svg;
}
