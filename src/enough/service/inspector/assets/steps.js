// The decisions, one after the other: what every record and STOP were worth, as bars on one scale.

import { folding, make, plain, shortened, signed, theirs } from "./nodes.js";

const SHOWN = 4; // records of a step before "all"

/** How far bars of one policy reach to both sides of nothing, so that all of them can be compared. */
export function scaleOf(answers) {
  let [low, high] = [0, 1e-9];
  for (const answer of answers) {
    for (const step of answer.trace) {
      for (const value of [...step.records, step.stop]) {
        for (const { adds } of cellsOf(answer, value)) {
          low = Math.max(low, -(adds ?? 0));
          high = Math.max(high, adds ?? 0);
        }
      }
    }
  }
  return { low: Math.max(low, 0.06 * high), high: Math.max(high, 0.06 * low) };
}

export function stepsOf(answer, scale, side) {
  const texts = new Map(answer.pool.map((one) => [one.id, one]));
  if (!answer.trace.length) return make("p", { class: "hint" }, "There was no record to choose from, so nothing was decided.");
  const last = answer.trace.length - 1;
  return make("ol", { class: "steps" }, answer.trace.map((step, place) =>
    make("li", {}, folding(`${side} step ${place}`, place === 0 || place === last, heading(step, place),
      verdict(step, texts), table(answer, step, texts, scale, place)))));
}

function heading(step, place) {
  return make("span", { class: "step-head" },
    make("b", {}, `Step ${place + 1}`),
    step.taken === null ? make("span", { class: "stopped" }, "stop") :
      make("span", {}, "take ", theirs("bdi", step.taken, { class: "id" })),
    make("span", { class: "hint" }, step.margin === null ? "" : `margin ${signed(step.margin)}`));
}

function verdict(step) {
  const margin = step.margin;
  const words = margin === null ? "No record may be taken."
    : margin < 0 ? `The best record is worth ${plain(-margin)} more than STOP, so it is taken.`
    : margin === 0 ? "STOP is worth as much as the best record, and ties are STOP's."
    : `STOP is worth ${plain(margin)} more than the best record.`;
  const chance = step.stop_probability;
  return make("p", { class: "verdict" }, words, " ",
    chance === null ? make("span", { class: "hint" }, "No probability is calibrated here.")
      : make("span", { class: "chance" }, `Probability of STOP ${(100 * chance).toFixed(0)} %`, meter(chance)));
}

function meter(share) {
  const fill = make("i", {});
  fill.style.width = `${100 * share}%`;
  return make("span", { class: "meter", "aria-hidden": "true" }, fill);
}

function cellsOf(answer, value) {
  const { weights } = answer.formula;
  const cells = Object.entries(weights).map(([name, weight]) => {
    const raw = value[name] ?? null;
    return { name, weight, raw, adds: raw === null ? null : weight * raw };
  });
  return [...cells, { name: "net", weight: 1, raw: value.net, adds: value.net }];
}

/** How the parts make the net value, in one line. */
export function formulaInWords({ weights, constant }) {
  const names = Object.entries(weights);
  if (!names.length) return "This controller says the net value alone.";
  const terms = names.map(([name, weight], place) => {
    const sign = weight < 0 ? "− " : place ? "+ " : "";
    return `${sign}${Math.abs(weight) === 1 ? "" : `${Number(Math.abs(weight).toPrecision(3))} · `}${name}`;
  });
  const rest = constant ? ` − ${Math.abs(constant)}` : "";
  return `net = ${terms.join(" ")}${rest}`;
}

function table(answer, step, texts, scale, place) {
  const values = [...step.records.map((one) => ({ ...one, isStop: false })), { ...step.stop, id: "STOP", isStop: true }];
  const open = values.filter((one) => one.net !== null);
  // Ties are STOP's; records of equal value stay in the order of the pool.
  open.sort((one, other) => other.net - one.net || Number(other.isStop) - Number(one.isStop));
  const closed = values.filter((one) => one.net === null);
  const names = cellsOf(answer, step.stop).map((one) => one.name);
  const rows = [...open, ...closed].map((value) => row(answer, step, value, texts, scale));
  const made = make("table", { class: "values" },
    make("caption", { class: "off-screen" }, `Values of step ${place + 1}, best first`),
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Record, or STOP"),
      names.map((name) => make("th", { scope: "col" }, name)))),
    make("tbody", {}, rows));
  made.style.setProperty("--parts", names.length);
  return make("div", {}, made, shortened(rows, SHOWN, (one) => one.matches(".is-stop, .is-taken"), "record"));
}

function row(answer, step, value, texts, scale) {
  const isTaken = value.isStop ? step.taken === null : value.id === step.taken;
  const record = texts.get(value.id);
  const name = value.isStop ? [make("b", {}, "STOP")]
    : [theirs("bdi", value.id, { class: "id" }), theirs("span", record?.action ?? "", { class: "peek" })];
  const mark = isTaken ? make("span", { class: "badge taken" }, value.isStop ? "chosen" : "taken") : null;
  const kind = [value.isStop ? "is-stop" : "", isTaken ? "is-taken" : "", value.net === null ? "is-closed" : ""];
  return make("tr", { class: kind.join(" ").trim() },
    make("th", { scope: "row" }, make("span", { class: "row-name" }, mark, name)),
    value.net === null
      ? make("td", { class: "closed", colSpan: cellsOf(answer, value).length }, "in the profile already, or does not fit")
      : cellsOf(answer, value).map((cell) => bar(cell, scale)));
}

function bar({ name, weight, raw, adds }, { low, high }) {
  if (adds === null) return make("td", {}, "–");
  const percent = (length) => `${(100 * length) / (low + high)}%`;
  const fill = make("i", { class: adds < 0 ? "minus" : "plus" });
  fill.style.width = percent(Math.abs(adds));
  fill.style.left = percent(low + Math.min(0, adds));
  const track = make("span", { class: "track", "aria-hidden": "true" }, fill);
  track.style.setProperty("--zero", percent(low));
  const factor = weight === 1 ? null
    : make("span", { class: "factor" }, `${String(Number(weight.toPrecision(3))).replace("-", "−")} × ${plain(raw)}`);
  return make("td", { class: `part ${name}`, "data-part": name, "data-label": name },
    make("span", { class: "number" }, signed(adds)), track, factor);
}
