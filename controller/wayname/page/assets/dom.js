// Makes elements. All text goes in as text: there is no way here to make markup of it.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

export const html = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
export const svg = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);
export const byId = (id) => document.getElementById(id);

export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element, name, value) {
  const text = String(value);
  if (element.getAttribute(name) !== text) element.setAttribute(name, text);
}

// Keeps one child for each item, in their order; children are changed and not made anew, so that focus stays.
export function reconcile(parent, items, keyOf, make, update) {
  const before = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  let at = parent.firstElementChild;
  for (const item of items) {
    const key = String(keyOf(item));
    let child = before.get(key);
    before.delete(key);
    if (!child) {
      child = make(item);
      child.dataset.key = key;
    }
    if (child === at) at = at.nextElementSibling;
    else parent.insertBefore(child, at);
    update(child, item);
  }
  for (const child of before.values()) child.remove();
}

// A table whose rows are the cells that `cells` returns: texts, or [text, class].
export function table(parent, columns, rows, empty) {
  if (rows.length === 0) {
    if (!parent.querySelector("p.empty")) parent.replaceChildren(html("p", { class: "empty" }));
    setText(parent.firstElementChild, empty);
    return;
  }
  let body = parent.querySelector("tbody");
  if (!body) {
    body = html("tbody");
    const heads = columns.map(([name, kind]) => html("th", { scope: "col", class: kind }, name));
    parent.replaceChildren(html("table", { class: "rows" }, html("thead", {}, html("tr", {}, ...heads)), body));
  }
  const make = () => html("tr", {}, ...columns.map(([name, kind]) => html("td", { class: kind, "data-of": name })));
  reconcile(body, rows, (row) => row.key, make, (child, row) => {
    setAttribute(child, "class", row.kind ?? "");
    row.cells.forEach((cell, index) => {
      const place = child.children[index];
      if (cell instanceof Node) {
        if (place.firstChild !== cell) place.replaceChildren(cell);
      } else setText(place, cell);
    });
  });
}
