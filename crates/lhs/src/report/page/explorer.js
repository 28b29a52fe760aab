// A node and its neighbours in both graphs. The address follows the node: #node=17, or #run=1&node=17 on a page of several runs.

const UNKNOWN = "#b8bec5";
const explorers = [...document.querySelectorAll(".explorer")].map((element, run) => {
  const data = held(element, "explorer");
  return { element, run, data, places: new Map(data.ids.map((id, place) => [id, place])), node: null };
});
const className = (data, c) => (c < 0 ? "unknown" : data.classes[c]);
const classColour = (data, c) => (c < 0 ? UNKNOWN : data.colours[c]);
const short = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
const shown = (h) => (h === null ? "none" : h.toFixed(2));
const predicted = (data, node) => data.chances[node][0][0];

const address = (explorer, id) => {
  const run = explorers.length > 1 ? `run=${explorer.run}&` : "";
  return `#${run}node=${encodeURIComponent(id)}`;
};
const open = (explorer, id) => {
  if (location.hash === address(explorer, id)) show(explorer, id);
  else location.hash = address(explorer, id);
};

const drawNeighbours = (explorer, picture, graph) => {
  const { data, node } = explorer;
  picture.replaceChildren();
  const [centre, radius] = [180, 104];
  const neighbours = graph.neighbours[node];
  const heaviest = Math.max(1, ...neighbours.map(([, weight]) => weight));
  neighbours.forEach(([other, weight], index) => {
    const turn = (360 * index) / neighbours.length - 90;
    const [cos, sin] = [Math.cos((turn * Math.PI) / 180), Math.sin((turn * Math.PI) / 180)];
    const [x, y] = [centre + radius * cos, centre + radius * sin];
    make("path", { d: `M${centre} ${centre}L${x} ${y}`, stroke: "currentColor", "stroke-opacity": 0.12 + (0.5 * weight) / heaviest }, picture);
    const link = make("g", { class: "node", tabindex: 0, role: "link" }, picture);
    make("circle", { cx: x, cy: y, r: neighbours.length > 30 ? 5 : 6, fill: classColour(data, data.truth[other]) }, link);
    const left = cos < -1e-9;
    const at = radius + 9;
    make("text", {
      transform: `translate(${centre + at * cos} ${centre + at * sin}) rotate(${left ? turn + 180 : turn})`,
      "text-anchor": left ? "end" : "start", dy: "0.35em", "font-size": neighbours.length > 30 ? 9 : 11, fill: "currentColor",
    }, link, short(data.ids[other], 11));
    link.addEventListener("click", () => open(explorer, data.ids[other]));
    link.addEventListener("keydown", (event) => event.key === "Enter" && open(explorer, data.ids[other]));
    const said = () => [data.ids[other], `class ${className(data, data.truth[other])}`, `predicted ${className(data, predicted(data, other))}`, `weight ${weight / 100}`];
    link.addEventListener("pointermove", (event) => say(event, said()));
    link.addEventListener("pointerleave", hush);
  });
  make("circle", { cx: centre, cy: centre, r: 11, fill: classColour(data, data.truth[node]), stroke: "currentColor", "stroke-width": 2 }, picture);
  make("text", { x: centre, y: centre + 26, "text-anchor": "middle", "font-size": 12, "font-weight": "bold", fill: "currentColor", class: "halo" }, picture, short(data.ids[node], 20));
  const degree = graph.degrees[node];
  const more = degree > neighbours.length ? `, ${neighbours.length} shown` : "";
  make("text", { x: 4, y: 354, "font-size": 11, fill: "currentColor" }, picture, `${degree} ${degree === 1 ? "neighbour" : "neighbours"}${more}`);
};

// How much each channel speaks for the answer, as bars to both sides of a line.
const drawChannels = (explorer) => {
  const { data, node, element } = explorer;
  const box = element.querySelector(".channels");
  box.replaceChildren();
  if (!data.channels) return;
  const shares = data.channels.shares[node];
  const most = Math.max(1, ...shares.map(Math.abs));
  make("p", {}, box, `What spoke for ${className(data, predicted(data, node))}, and what against it:`);
  shares.forEach((share, place) => {
    const row = make("div", { class: "channel" }, box);
    make("span", {}, row, data.channels.names[place]);
    const picture = make("svg", { viewBox: "0 0 200 14", preserveAspectRatio: "none" }, row);
    const width = (96 * Math.abs(share)) / most;
    make("rect", { x: share < 0 ? 100 - width : 100, y: 2, width, height: 10, class: share < 0 ? "against" : "for" }, picture);
    make("path", { d: "M100 0V14", stroke: "currentColor", "stroke-opacity": 0.5 }, picture);
    make("b", {}, row, (share > 0 ? "+" : "") + (share / 100).toFixed(2));
  });
};

const show = (explorer, id) => {
  const { data, element, places } = explorer;
  const [input, said] = [element.querySelector("input"), element.querySelector("output")];
  const node = places.get(id);
  input.value = id;
  explorer.node = node ?? null;
  explorer.redraw?.();
  const pictures = element.querySelectorAll("svg.near");
  said.classList.toggle("down", node === undefined);
  if (node === undefined) {
    const sample = data.nodes > data.ids.length ? ", or it is not in the sample that this page keeps" : "";
    said.textContent = `There is no node ${id}${sample}. The first is ${data.ids[0]}, the last ${data.ids[data.ids.length - 1]}.`;
    for (const picture of pictures) picture.replaceChildren();
    element.querySelector(".channels").replaceChildren();
    return;
  }
  const graphs = [data.given, data.latent].filter(Boolean);
  const chances = data.chances[node].map(([c, p]) => `${className(data, c)} ${(p / 10).toFixed(1)} %`).join(", ");
  const h = `H ${shown(data.given.h[node])} given` + (data.latent ? `, ${shown(data.latent.h[node])} latent` : "");
  said.textContent = `node ${id}, ${data.part_names[data.parts[node]]}: class ${className(data, data.truth[node])}, predicted ${className(data, predicted(data, node))} (${chances}); ${h}`;
  graphs.forEach((graph, place) => drawNeighbours(explorer, pictures[place], graph));
  drawChannels(explorer);
};

// Opens what the address names.
const follow = () => {
  const named = new URLSearchParams(location.hash.slice(1).replaceAll("+", "%2B"));
  const [id, run] = [named.get("node"), named.get("run")];
  if (id === null) return false;
  for (const explorer of explorers) if (run === null || Number(run) === explorer.run) show(explorer, id);
  return true;
};
for (const explorer of explorers) {
  const { element, data, places } = explorer;
  element.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    const typed = element.querySelector("input").value;
    open(explorer, places.has(typed) ? typed : typed.trim());
  });
  if (data.ids.length) show(explorer, data.ids[0]);
}
window.addEventListener("hashchange", () => {
  if (follow()) explorers.find(({ run }) => location.hash.includes(`run=${run}&`) || explorers.length === 1)?.element.querySelector("form").scrollIntoView({ block: "start" });
});
