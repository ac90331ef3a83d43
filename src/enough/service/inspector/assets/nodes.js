// Elements made of text alone: whatever a record says, it reaches the page as text.

/** An element with properties and children; strings become text nodes. */
export function make(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") made.className = value;
    else if (name in made && !name.startsWith("aria-")) made[name] = value;
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

export const find = (id) => document.getElementById(id);

/** Text of a person: kept apart from the text around it, also where it is written from the right. */
export const theirs = (tag, text, properties = {}) => {
  const { class: given = "", ...rest } = properties;
  return make(tag, { dir: "auto", ...rest, class: `theirs ${given}`.trim() }, text);
};

export const signed = (number, digits = 3) =>
  number === null ? "–" : (Number(number.toFixed(digits)) === 0 ? "" : number < 0 ? "−" : "+") + Math.abs(number).toFixed(digits);

export const plain = (number, digits = 3) =>
  number === null ? "–" : (number < 0 ? "−" : "") + Math.abs(number).toFixed(digits);

export const counted = (count, word) => `${count} ${count === 1 ? word : `${word}s`}`;

/** The first rows alone, and a button for the rest; rows that matter are always there. */
export function shortened(rows, shown, matters, word) {
  const more = rows.filter((one, place) => place >= shown && !matters(one));
  if (more.length < 2) return null;
  const words = `Show ${more.length} more ${word}s`;
  const button = make("button", { type: "button", class: "quiet", "aria-expanded": "false" }, words);
  const set = (isOpen) => {
    for (const one of more) one.hidden = !isOpen;
    button.setAttribute("aria-expanded", String(isOpen));
    button.textContent = isOpen ? "Show fewer" : words;
  };
  set(false);
  button.addEventListener("click", () => set(button.getAttribute("aria-expanded") !== "true"));
  return button;
}

/** What the reader opened stays open when the results are made anew. */
const opened = new Map();
export function folding(key, isOpen, summary, ...children) {
  const made = make("details", { open: opened.get(key) ?? isOpen }, make("summary", {}, summary), ...children);
  made.addEventListener("toggle", () => opened.set(key, made.open));
  return made;
}
export const forgetFolds = () => opened.clear();
