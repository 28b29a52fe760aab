// The map of both graphs: all nodes on a canvas, coloured as chosen, zoomed and moved.

// More lines than these hide what they join, and take long to draw.
const LINES = 12000;
const decoded = (text) => new Uint16Array(Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0)).buffer);
const mix = (share) => `hsl(${210 - 190 * share} 75% ${50 - 5 * share}%)`;
const RIGHT = "#0072B2", WRONG = "#D55E00";

// A colour for each node, and what the colours mean.
const COLOURINGS = {
  class: (data) => ({
    of: data.truth.map((c) => classColour(data, c)),
    key: data.classes.map((name, c) => [data.colours[c], name]).concat(data.truth.includes(-1) ? [[UNKNOWN, "unknown"]] : []),
  }),
  prediction: (data) => ({
    of: data.chances.map(([[c]]) => classColour(data, c)),
    key: data.classes.map((name, c) => [data.colours[c], name]),
  }),
  h: (data, graph) => ({
    of: graph.h.map((h) => (h === null ? UNKNOWN : mix(h))),
    key: [0, 0.25, 0.5, 0.75, 1].map((h) => [mix(h), `H ${h}`]).concat([[UNKNOWN, "none"]]),
  }),
  error: (data) => ({
    of: data.truth.map((c, node) => (c < 0 ? UNKNOWN : c === predicted(data, node) ? RIGHT : WRONG)),
    key: [[RIGHT, "right"], [WRONG, "wrong"], [UNKNOWN, "class unknown"]],
  }),
};

const linesOf = (graph) => {
  const lines = [];
  graph.neighbours.forEach((others, node) => others.forEach(([other]) => {
    if (node < other || !graph.neighbours[other].some(([back]) => back === node)) lines.push(node, other);
  }));
  // Every so manieth, so that all parts of the map keep their share.
  const step = Math.max(1, Math.ceil(lines.length / 2 / LINES));
  const kept = [];
  for (let at = 0; at < lines.length; at += 2 * step) kept.push(lines[at], lines[at + 1]);
  return kept;
};

const mapOf = (explorer, canvas) => {
  const { data } = explorer;
  const graph = data[canvas.dataset.graph];
  const [places, lines, count] = [decoded(graph.places), linesOf(graph), data.ids.length];
  const view = { scale: 1, x: 0, y: 0 };
  const pen = canvas.getContext("2d");
  let colours = [];
  const size = () => canvas.clientWidth || 320;
  const at = (node) => [
    (places[2 * node] / 65535) * size() * view.scale + view.x,
    (places[2 * node + 1] / 65535) * size() * view.scale + view.y,
  ];
  const draw = () => {
    const [side, ratio] = [size(), window.devicePixelRatio || 1];
    canvas.style.height = side + "px";
    [canvas.width, canvas.height] = [side * ratio, side * ratio];
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.strokeStyle = getComputedStyle(canvas).color;
    pen.globalAlpha = Math.max(0.03, Math.min(0.3, (400 / (lines.length / 2 + 1)) * view.scale));
    pen.lineWidth = 0.6;
    pen.beginPath();
    for (let line = 0; line < lines.length; line += 2) {
      pen.moveTo(...at(lines[line]));
      pen.lineTo(...at(lines[line + 1]));
    }
    pen.stroke();
    pen.globalAlpha = 0.9;
    const radius = Math.max(1.1, Math.min(5, 60 / Math.sqrt(count + 1))) * Math.sqrt(view.scale);
    for (let node = 0; node < count; node++) {
      const [x, y] = at(node);
      if (x < -9 || y < -9 || x > side + 9 || y > side + 9) continue;
      pen.fillStyle = colours[node];
      pen.beginPath();
      pen.arc(x, y, radius, 0, 7);
      pen.fill();
    }
    pen.globalAlpha = 1;
    if (explorer.node !== null) {
      pen.lineWidth = 2.5;
      pen.beginPath();
      pen.arc(...at(explorer.node), radius + 4, 0, 7);
      pen.stroke();
    }
    canvas.dataset.drawn = count;
  };
  let waiting = false;
  const redraw = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  };
  const zoom = (factor, x, y) => {
    const scale = Math.max(0.5, Math.min(60, view.scale * factor));
    const grown = scale / view.scale;
    Object.assign(view, { scale, x: x - (x - view.x) * grown, y: y - (y - view.y) * grown });
    redraw();
  };
  const under = (x, y) => {
    let [found, least] = [-1, 12 * 12];
    for (let node = 0; node < count; node++) {
      const [left, top] = at(node);
      const far = (left - x) ** 2 + (top - y) ** 2;
      if (far < least) [found, least] = [node, far];
    }
    return found;
  };
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), ...place(event));
  }, { passive: false });
  // One pointer moves the map, two zoom it; one that hardly moved was a click.
  const pointers = new Map();
  let moved = 0;
  canvas.addEventListener("pointerdown", (event) => {
    if (pointers.size === 0) moved = 0;
    pointers.set(event.pointerId, place(event));
    canvas.setPointerCapture?.(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [now, before] = [place(event), pointers.get(event.pointerId)];
    if (!before) {
      const node = under(...now);
      if (node < 0) return hush();
      return say(event, [data.ids[node], `class ${className(data, data.truth[node])}`, `predicted ${className(data, predicted(data, node))}`, `H ${shown(graph.h[node])}`]);
    }
    hush();
    moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
    if (pointers.size === 1) {
      Object.assign(view, { x: view.x + now[0] - before[0], y: view.y + now[1] - before[1] });
      redraw();
    } else {
      const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
      const apart = (point) => Math.max(1, Math.hypot(point[0] - other[0], point[1] - other[1]));
      zoom(apart(now) / apart(before), ...other);
    }
    pointers.set(event.pointerId, now);
  });
  canvas.addEventListener("pointerup", (event) => {
    const node = pointers.size === 1 && moved < 5 ? under(...place(event)) : -1;
    pointers.delete(event.pointerId);
    if (node >= 0) open(explorer, data.ids[node]);
  });
  canvas.addEventListener("pointercancel", (event) => pointers.delete(event.pointerId));
  canvas.addEventListener("pointerleave", hush);
  for (const button of canvas.parentElement.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => {
      const [middle, factor] = [size() / 2, { in: 1.6, out: 1 / 1.6 }[button.dataset.zoom]];
      if (factor) zoom(factor, middle, middle);
      else {
        Object.assign(view, { scale: 1, x: 0, y: 0 });
        redraw();
      }
    });
  }
  const edges = graph.degrees.reduce((sum, degree) => sum + degree, 0) / 2;
  if (lines.length / 2 < edges) canvas.parentElement.querySelector(".drawn").textContent = `${lines.length / 2} of about ${Math.round(edges)} edges are drawn`;
  new ResizeObserver(redraw).observe(canvas);
  return { graph, draw, redraw, paint: (found) => { colours = found; draw(); } };
};

for (const explorer of explorers) {
  const { element, data } = explorer;
  if (!data.ids.length) continue;
  const maps = [...element.querySelectorAll("canvas.map")].map((canvas) => mapOf(explorer, canvas));
  const buttons = [...element.querySelectorAll("[data-colours]")];
  const choose = (chosen) => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.colours === chosen));
    const colouring = COLOURINGS[chosen];
    for (const map of maps) map.paint(colouring(data, map.graph).of);
    const key = element.querySelector(".key");
    key.replaceChildren();
    for (const [colour, name] of colouring(data, data.given).key) {
      const entry = make("span", {}, key);
      make("i", {}, entry).style.background = colour;
      entry.append(name);
    }
  };
  explorer.redraw = () => maps.forEach((map) => map.redraw());
  for (const button of buttons) button.addEventListener("click", () => choose(button.dataset.colours));
  choose("class");
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", explorer.redraw);
}
follow();
