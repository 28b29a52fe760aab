// Figures: downloads, series that are switched off and on, values that are pointed at.

// A picture of its own has no page around it to take its colour from, and must be XML.
const drawing = (figure) => {
  const picture = figure.querySelector("svg").cloneNode(true);
  picture.setAttribute("color", "#1b1f24");
  for (const name of ["data-grid", "data-x", "data-y"]) picture.removeAttribute(name);
  for (const series of picture.querySelectorAll("[data-values]")) series.removeAttribute("data-values");
  for (const off of picture.querySelectorAll("[data-series].off")) off.remove();
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
for (const key of document.querySelectorAll(".switch")) {
  const toggle = () => {
    const series = key.closest("svg").querySelector(`[data-series="${key.dataset.switches}"]`);
    const off = series.classList.toggle("off");
    key.classList.toggle("off", off);
    key.setAttribute("aria-checked", String(!off));
  };
  key.addEventListener("click", toggle);
  key.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    toggle();
  });
}

// Where an event is, in the units of a picture.
const within = (picture, event) => {
  const [box, size] = [picture.getBoundingClientRect(), picture.viewBox.baseVal];
  return [((event.clientX - box.left) / box.width) * size.width, ((event.clientY - box.top) / box.height) * size.height];
};
const nearest = (picture, x, y) => {
  let [found, least] = [null, 24 * 24];
  for (const { element, name, values } of picture.series) {
    if (element.classList.contains("off")) continue;
    for (const value of values) {
      const far = (value[0] - x) ** 2 + (value[1] - y) ** 2;
      if (far < least) [found, least] = [{ name, value }, far];
    }
  }
  return found;
};
const pointed = (picture, { name, value: [left, top, x, y] }) => {
  picture.spot ??= make("circle", { class: "spot", r: 5, fill: "none", stroke: "currentColor", "stroke-width": 1.5 }, picture);
  picture.spot.setAttribute("cx", left);
  picture.spot.setAttribute("cy", top);
  picture.spot.removeAttribute("visibility");
  const said = typeof x === "string" ? [x] : [`${picture.dataset.x}: ${number(x)}`, `${picture.dataset.y}: ${number(y)}`];
  return typeof x === "string" || !name ? said : [name, ...said];
};
// The class and the value of a field of a heat map.
const field = (picture, grid, x, y) => {
  const count = grid.rows.reduce((sum, rows) => sum + rows, 0);
  const [column, row] = [x - grid.left, y - grid.top].map((far) => Math.floor((far / grid.side) * count));
  if (column < 0 || row < 0 || column >= count || row >= count) return null;
  const name = (place) => {
    let end = 0;
    return grid.names[grid.rows.findIndex((rows) => (end += rows) > place)];
  };
  const { x: across, y: down } = picture.dataset;
  return [`${down}: ${name(row)}`, `${across}: ${name(column)}`, number(grid.values[row * count + column])];
};
for (const picture of document.querySelectorAll("svg.plot")) {
  const grid = picture.dataset.grid && JSON.parse(picture.dataset.grid);
  const leave = () => {
    picture.spot?.setAttribute("visibility", "hidden");
    hush();
  };
  picture.addEventListener("pointermove", (event) => {
    picture.series ??= [...picture.querySelectorAll("[data-values]")].map((element) => ({
      element, name: element.dataset.name, values: JSON.parse(element.dataset.values),
    }));
    const [x, y] = within(picture, event);
    const found = grid ? null : nearest(picture, x, y);
    const lines = grid ? field(picture, grid, x, y) : found && pointed(picture, found);
    if (lines) say(event, lines);
    else leave();
  });
  picture.addEventListener("pointerleave", leave);
}
