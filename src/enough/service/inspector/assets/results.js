// Everything after a selection: what was taken, the differences, pool, steps, the rest, the prompt.

import { counted, folding, make, plain, shortened, signed, theirs } from "./nodes.js";
import { formulaInWords, scaleOf, stepsOf } from "./steps.js";

const KINDS = {
  "not chosen": ["Not chosen", "worth less than stopping, or the profile was full"],
  room: ["Did not fit", "no room was left in the model's window"],
  pool: ["Not in the pool", "not among the nearest"],
  copy: ["Copies of the request", "never shown: they would give the answer away"],
  later: ["Later than the request", "never shown: not yet known then"],
  itself: ["This very interaction", "never shown: it is what is asked about"],
};
const AT_ONCE = 8; // records of a list before the reader asks for more

/** All of it; `sides` are [{letter, name, answer}]. */
export function resultsOf(sides, task) {
  const shared = make("div", { class: "shared" });
  if (sides.length > 1) shared.append(differences(sides));
  const byPolicy = (answer) => scaleOf(sides.map((one) => one.answer).filter((one) => one.policy === answer.policy));
  const many = sides.length > 1;
  return [
    make("div", { class: `sides count-${sides.length}` }, sides.map((side) => summary(side, many))),
    ...shared.childNodes,
    section("Candidate pool", "pool", poolNote(sides[0].answer), ...[pool(sides, task)].flat()),
    make("div", { class: `sides count-${sides.length}` }, sides.map((side) => {
      const { answer, letter } = side;
      return make("div", { class: "side", "data-side": letter },
        section(titled("Steps", side, many), "steps", formulaNote(answer), stepsOf(answer, byPolicy(answer), letter)),
        section(titled("Left out", side, many), "left-out", leftNote(answer), ...leftOut(answer, letter)),
        section(titled("Prompt", side, many), "prompt", `${answer.prompt_tokens} tokens, ${answer.tokens} of them the profile's (marked).`,
          prompt(answer)));
    })),
  ];
}

/** The outcome in a sentence, for those who hear it. */
export const inWords = ({ letter, answer }, many) =>
  `${many ? `${letter}: ` : ""}${counted(answer.records.length, "record")} of ${answer.history.records}, ` +
  `${answer.tokens} tokens, ${compared(answer)}. It ended: ${answer.reason}.`;

const titled = (title, side, many) => (many ? [`${title} `, letterOf(side.letter)] : [title]);
const letterOf = (letter) => make("b", { class: `letter ${letter.toLowerCase()}` }, letter);

function section(title, kind, note, ...children) {
  return make("section", { class: `panel ${kind}` }, make("h2", {}, title), make("p", { class: "hint" }, note), children);
}

function compared(answer) {
  const saved = answer.tokens_saved;
  if (saved === 0) return "as many as the first five";
  return `${Math.abs(saved)} ${saved > 0 ? "fewer" : "more"} than the first five`;
}

function summary(side, many) {
  const { answer, name, letter } = side;
  const isGuess = answer.policy === "controller" && !answer.trained_on_task;
  const tags = [
    make("span", { class: "badge" }, name),
    answer.lambda?.approximate ? make("span", { class: "badge warn" }, `approximate: trained for λ = ${answer.lambda.trained}`) : null,
    isGuess ? make("span", { class: "badge warn" }, "a guess: not trained on this task") : null,
    answer.policy === "untrained" ? make("span", { class: "badge" }, "nothing personal is learnt") : null,
  ];
  const taken = answer.records.map((one, place) => make("li", {},
    make("span", { class: "order", "aria-hidden": "true" }, String(place + 1)),
    make("span", {}, theirs("bdi", one.id, { class: "id" }), theirs("span", one.action, { class: "peek" }))));
  return make("section", { class: "panel summary", "data-side": letter },
    make("p", { class: "tags" }, many ? letterOf(letter) : null, tags),
    make("h2", { class: "figure" }, counted(answer.records.length, "record"), make("small", {}, ` of ${answer.history.records}`)),
    make("p", { class: "why" }, `It ended: ${answer.reason}.`),
    tokens(answer),
    taken.length ? make("ol", { class: "profile" }, taken)
      : make("p", { class: "hint" }, "The profile is empty: the model gets the request alone."));
}

function tokens(answer) {
  const most = Math.max(answer.tokens, answer.fixed_tokens, 1);
  const { price, tokens_of_one_cost: unit } = answer.formula;
  const line = (label, count, kind) => {
    const fill = make("i", { class: kind });
    fill.style.width = `${(100 * count) / most}%`;
    const cost = plain((price * count) / unit);
    return make("tr", {}, make("th", { scope: "row" }, label), make("td", { class: "length", "aria-hidden": "true" }, fill),
      make("td", {}, `${count} tokens`), make("td", { class: "priced" }, `cost ${cost}`));
  };
  return make("div", { class: "tokens" },
    make("table", {}, make("caption", { class: "off-screen" }, "Tokens against a fixed five"),
      make("tbody", {}, line("This profile", answer.tokens, "own"), line("First five", answer.fixed_tokens, "fixed"))),
    make("p", { class: "hint" }, `${compared(answer)}; cost is ${Number(price.toPrecision(3))} · tokens / ${unit}.`));
}

/** Where the two ways part: until then both took the same records. */
function parting([a, b]) {
  const did = (answer, place) => {
    const step = answer.trace[place];
    return step === undefined ? "has ended" : step.taken === null ? "stops" : ["takes ", theirs("bdi", step.taken, { class: "id" })];
  };
  for (let place = 0; place < Math.max(a.trace.length, b.trace.length); place += 1) {
    if (a.trace[place]?.taken !== b.trace[place]?.taken) {
      return [` They part at step ${place + 1}: A `, did(a, place), ", B ", did(b, place), "."].flat();
    }
  }
  return [];
}

function differences(sides) {
  const [a, b] = sides.map((one) => one.answer);
  const ids = [a, b].map((one) => one.records.map((record) => record.id));
  const only = (mine, other) => mine.filter((id) => !other.includes(id));
  const both = ids[0].filter((id) => ids[1].includes(id));
  const isOrder = ids[0].filter((id) => both.includes(id)).join("\n") !== ids[1].filter((id) => both.includes(id)).join("\n");
  const isSame = !only(ids[0], ids[1]).length && !only(ids[1], ids[0]).length && !isOrder;
  const list = (some) => (some.length ? some.flatMap((id, place) => [place ? " " : "", theirs("bdi", id, { class: "id" })]) : ["none"]);
  const line = (label, ...values) => make("tr", {}, make("th", { scope: "row" }, label), values.map((one) => make("td", {}, one)));
  const less = a.tokens - b.tokens;
  return make("section", { class: "panel differences" }, make("h2", {}, "Differences"),
    make("p", { class: "said" }, isSame ? "Both take the same records in the same order." : isOrder
      ? "Both take some of the same records, in another order." : `${counted(both.length, "record")} in both profiles.`,
      less === 0 ? " They use as many tokens." : ` B uses ${Math.abs(less)} tokens ${less > 0 ? "fewer" : "more"}.`,
      parting([a, b])),
    make("div", { class: "scroll" }, make("table", {},
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, make("span", { class: "off-screen" }, "What")),
        sides.map((one) => make("th", { scope: "col" }, letterOf(one.letter), " ", one.name)))),
      make("tbody", {},
        make("tr", {}, make("th", { scope: "row" }, "In both"), make("td", { colSpan: 2 }, list(both))),
        line("Only here", list(only(ids[0], ids[1])), list(only(ids[1], ids[0]))),
        line("Tokens", `${a.tokens} (${compared(a)})`, `${b.tokens} (${compared(b)})`),
        line("First margin", ...[a, b].map((one) => (one.trace.length ? signed(one.trace[0].margin) : "–"))),
        line("Ended", a.reason, b.reason)))));
}

const poolNote = ({ pool: found, history }) =>
  `${counted(found.length, "record")}, nearest first; ${counted(history.records, "record")} in the history` +
  (history.from === "store" ? " in the store." : ".");

function pool(sides, task) {
  const found = sides[0].answer.pool;
  if (!found.length) return make("p", { class: "hint" }, "No record may be shown to this request.");
  const best = Math.max(...found.map((one) => Math.abs(one.score ?? 0)), 1e-9);
  const orders = sides.map(({ answer }) => new Map(answer.records.map((one, place) => [one.id, place + 1])));
  const rows = found.map((one, place) => {
    const fill = make("i", {});
    fill.style.width = `${(100 * Math.max(0, one.score ?? 0)) / best}%`;
    const isTaken = orders.some((order) => order.has(one.id));
    return make("tr", { class: isTaken ? "is-taken" : "" },
      make("td", { class: "rank" }, String(place + 1)),
      sides.map((side, at) => make("td", { class: "order-cell" }, orders[at].has(one.id)
        ? make("span", { class: `order ${side.letter.toLowerCase()}` }, make("span", { class: "off-screen" }, "taken as number "), String(orders[at].get(one.id)))
        : make("span", { class: "hint" }, "–"))),
      make("td", { class: "score" }, plain(one.score), make("span", { class: "meter", "aria-hidden": "true" }, fill)),
      make("td", { class: "count" }, String(one.tokens)),
      make("td", { class: "record" }, make("div", { class: "laid" }, recordText(one, task))));
  });
  const heads = ["Rank", ...sides.map((side) => (sides.length > 1 ? ["Taken ", letterOf(side.letter)] : "Taken")), "Score", "Tokens", "Record"];
  return [
    make("table", { class: "pool-table" }, make("caption", { class: "off-screen" }, "Candidates, nearest first"),
      make("thead", {}, make("tr", {}, heads.map((one) => make("th", { scope: "col" }, one)))), make("tbody", {}, rows)),
    shortened(rows, AT_ONCE, (one) => one.matches(".is-taken"), "candidate"),
  ];
}

function recordText(one, task) {
  const context = one.context ? make("p", { class: "context" }, make("span", { class: "field" }, task?.context || "context"), theirs("span", one.context)) : null;
  return [
    make("p", { class: "about" }, theirs("bdi", one.id, { class: "id" }), one.date ? theirs("span", one.date, { class: "date" }) : null),
    context,
    make("p", { class: "action" }, context ? make("span", { class: "field" }, task?.action || "action") : null, theirs("span", one.action)),
  ];
}

const formulaNote = (answer) => make("span", { class: "formula" }, formulaInWords(answer.formula));

function leftNote(answer) {
  const unseen = answer.history.records - answer.left_out.length - answer.records.length;
  return `${counted(answer.left_out.length, "record")}` + (unseen > 0
    ? `; ${unseen} more in the store lie farther away and were never looked at.` : ".");
}

function leftOut(answer, letter) {
  return Object.entries(KINDS).map(([kind, [title, why]]) => {
    const some = answer.left_out.filter((one) => one.kind === kind);
    if (!some.length) return null;
    if (kind === "not chosen") some.sort((one, other) => (one.below ?? 0) - (other.below ?? 0));
    const items = some.map((one) => make("li", {}, theirs("bdi", one.id, { class: "id" }),
      make("span", { class: "detail" }, theirs("span", one.detail)), theirs("span", one.action, { class: "peek" })));
    const list = make("ul", { class: "left" }, items);
    const head = make("span", {}, make("b", {}, title), make("span", { class: "badge" }, String(some.length)),
      make("span", { class: "hint" }, ` ${why}`));
    return folding(`${letter} ${kind}`, false, head, list, shortened(items, AT_ONCE, () => false, "record"));
  });
}

function prompt(answer) {
  const parts = answer.prompt_parts.map((part) => (part.record === null ? part.text
    : make("mark", {}, part.text)));
  return make("pre", { class: "prompt-text", tabIndex: 0, dir: "auto", "aria-label": "The exact prompt" }, parts);
}
