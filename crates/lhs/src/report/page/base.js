"use strict";
// What the page holds for its script is JSON, whatever it is: see embed.rs.
const held = (element, kind) => JSON.parse(element.querySelector(`script[data-holds="${kind}"]`).textContent);
const make = (tag, attributes, parent, text) => {
  const drawn = ["svg", "path", "circle", "text", "rect", "g"].includes(tag);
  const element = drawn ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
};
const number = (value) => String(Math.abs(value) >= 1e6 ? value.toExponential(2) : Number(value.toFixed(4)));

// One box for all figures says what is pointed at.
const tip = make("div", { class: "tip", role: "status", hidden: "" }, document.body);
const say = (event, lines) => {
  tip.replaceChildren();
  for (const line of lines) make("div", {}, tip, line);
  tip.hidden = false;
  const [width, height] = [tip.offsetWidth, tip.offsetHeight];
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 8)) + "px";
  tip.style.top = (event.clientY + height + 24 > innerHeight ? event.clientY - height - 10 : event.clientY + 16) + "px";
};
const hush = () => (tip.hidden = true);

const save = (name, type, text) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};
