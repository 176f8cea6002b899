// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Fills the page: every plot with its choice of charts, its legend, and texts under the pointer.
"use strict";

const DRAW = {points: drawPoints, rows: drawRows, heat: drawHeat};

function usedKinds(chart) {
    const found = chart.kind === "points" ? chart.series.map(one => one[0]) : chart.kind === "rows" ? [...chart.spans.map(span => span[3]), ...chart.marks.map(mark => mark[4])] : [];
    return [...new Set(found)].sort((one, other) => one - other);
}

function show(plot, section) {
    const place = section.querySelector(".chart"), legend = section.querySelector(".legend"), select = section.querySelector("select");
    const hidden = new Set();
    const redraw = () => {
        const chart = plot.charts[select ? select.selectedIndex : 0];
        place.replaceChildren(DRAW[chart.kind](chart, hidden));
        drawLegend(plot, legend, usedKinds(chart), hidden, redraw);
        section.querySelector(".what").textContent = chart.title;
    };
    if (select) select.onchange = redraw;
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
        document.getElementById(plot.name).querySelector(".what").textContent = `cannot be drawn: ${error}`;
    }
}
followPointer();
document.documentElement.setAttribute("data-errors", JSON.stringify(errors));
