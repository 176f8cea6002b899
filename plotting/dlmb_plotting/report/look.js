// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Colours, hatches and markers of kinds; the same in every chart of a plot.
"use strict";

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
