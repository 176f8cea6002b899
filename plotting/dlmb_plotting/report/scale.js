// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Scales, ticks and SVG elements.
"use strict";

const WIDTH = 950, LEFT = 260, RIGHT = 110, TOP = 8, BOTTOM = 44;

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
    const ticks = [], wide = high / low > 1e3;
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power)
        for (const factor of wide ? [1] : [1, 2, 5]) {
            const value = factor * 10 ** power;
            if (value >= low && value <= high) ticks.push([value, number(value)]);
        }
    return ticks.length > 1 ? ticks : [[low, number(low)], [high, number(high)]];
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

function drawAxes(svg, height, x, xAxis, y, yAxis) {
    const floor = height - BOTTOM;
    for (const [value, text] of x.ticks) {
        make("line", {x1: x.place(value), x2: x.place(value), y1: TOP, y2: floor, class: "grid"}, svg);
        make("text", {x: x.place(value), y: floor + 15, "text-anchor": "middle"}, svg, text);
    }
    make("text", {x: (LEFT + WIDTH - RIGHT) / 2, y: height - 8, "text-anchor": "middle", class: "axis"}, svg, xAxis.title);
    make("line", {x1: LEFT, x2: WIDTH - RIGHT, y1: floor, y2: floor, class: "frame"}, svg);
    if (xAxis.reference !== null) make("line", {x1: x.place(xAxis.reference), x2: x.place(xAxis.reference), y1: TOP, y2: floor, class: "reference"}, svg);
    if (!y) return;
    for (const [value, text] of y.ticks) {
        make("line", {x1: LEFT, x2: WIDTH - RIGHT, y1: y.place(value), y2: y.place(value), class: "grid"}, svg);
        make("text", {x: LEFT - 6, y: y.place(value) + 4, "text-anchor": "end"}, svg, text);
    }
    const middle = (TOP + floor) / 2;
    make("text", {x: 0, y: 0, transform: `translate(${LEFT - 70} ${middle}) rotate(-90)`, "text-anchor": "middle", class: "axis"}, svg, yAxis.title);
    if (yAxis.reference !== null) make("line", {x1: LEFT, x2: WIDTH - RIGHT, y1: y.place(yAxis.reference), y2: y.place(yAxis.reference), class: "reference"}, svg);
}
