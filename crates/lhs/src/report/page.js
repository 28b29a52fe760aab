"use strict";
const save = (name, type, text) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};
// What the page holds for its script is JSON, whatever it is: see embed.rs.
const held = (element, kind) => JSON.parse(element.querySelector(`script[data-holds="${kind}"]`).textContent);
// A picture of its own has no page around it to take its colour from, and must be XML.
const drawing = (figure) => {
  const picture = figure.querySelector("svg").cloneNode(true);
  picture.setAttribute("color", "#1b1f24");
  return new XMLSerializer().serializeToString(picture);
};
for (const button of document.querySelectorAll("button[data-save]")) {
  button.addEventListener("click", () => {
    const figure = button.closest("[data-name]");
    const name = figure.dataset.name;
    if (button.dataset.save === "csv") save(name + ".csv", "text/csv", held(figure, "csv"));
    else save(name + ".svg", "image/svg+xml", drawing(figure));
  });
}
const svg = (tag, attributes, parent) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent.append(element);
  return element;
};
for (const explorer of document.querySelectorAll(".explorer")) {
  const data = held(explorer, "explorer");
  const colour = (c) => (c < 0 ? "#b8bec5" : data.colours[c % data.colours.length]);
  const [field, said] = [explorer.querySelector("input"), explorer.querySelector("output")];
  const places = new Map(data.ids.map((id, place) => [id, place]));
  const name = (c) => (c < 0 ? "unknown" : data.classes[c]);
  const draw = (canvas, node, neighbours, degree) => {
    canvas.replaceChildren();
    const [centre, radius] = [160, 118];
    neighbours.forEach(([other, weight], index) => {
      const angle = (2 * Math.PI * index) / neighbours.length - Math.PI / 2;
      const inner = neighbours.length > 24 && index % 2 ? 0.72 : 1;
      const [x, y] = [centre + inner * radius * Math.cos(angle), centre + inner * radius * Math.sin(angle)];
      svg("path", { d: `M${centre} ${centre}L${x} ${y}`, stroke: "currentColor", "stroke-opacity": 0.15 + 0.5 * weight }, canvas);
      const dot = svg("circle", { cx: x, cy: y, r: 7, fill: colour(data.truth[other]), style: "cursor:pointer" }, canvas);
      svg("title", {}, dot).textContent = `${data.ids[other]}: ${name(data.truth[other])}, weight ${weight}`;
      dot.addEventListener("click", () => show(data.ids[other]));
    });
    svg("circle", { cx: centre, cy: centre, r: 11, fill: colour(data.truth[node]), stroke: "currentColor", "stroke-width": 2 }, canvas);
    const more = degree > neighbours.length ? `, ${neighbours.length} shown` : "";
    svg("text", { x: 4, y: 314, "font-size": 11, fill: "currentColor" }, canvas).textContent = `${degree} neighbours${more}`;
  };
  const h = (value) => (value === null ? "none" : value.toFixed(2));
  const show = (id) => {
    const node = places.get(id);
    if (node === undefined) {
      said.textContent = `there is no node ${id}; ids go from ${data.ids[0]} to ${data.ids[data.ids.length - 1]}`;
      return;
    }
    field.value = id;
    const chances = data.probabilities[node].map((p, c) => [p, c]).sort((a, b) => b[0] - a[0]);
    const text = chances.map(([p, c]) => `${name(c)} ${(p / 10).toFixed(1)} %`).join(", ");
    said.textContent = `node ${id}, ${data.parts[node]}: class ${name(data.truth[node])}, predicted ${name(chances[0][1])} (${text}); H ${h(data.given_h[node])} given, ${h(data.latent_h[node])} latent`;
    const [given, latent] = explorer.querySelectorAll("svg");
    draw(given, node, data.given[node].map((other) => [other, 0.5]), data.degrees[node]);
    draw(latent, node, data.latent[node].map(([other, w]) => [other, w / 100]), data.latent_degrees[node]);
  };
  explorer.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    show(places.has(field.value) ? field.value : field.value.trim());
  });
  // report.html#node=17 opens at that node.
  const named = new URLSearchParams(location.hash.slice(1)).get("node");
  show([named, "2021"].find((id) => places.has(id)) ?? data.ids[0]);
}
