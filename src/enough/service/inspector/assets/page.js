// The form: what is typed becomes questions, answers become results. Nothing is kept after the page is left.

import * as api from "./api.js";
import { parseHistory } from "./history.js";
import { counted, find, forgetFolds, make } from "./nodes.js";
import { caveat, priceAt, priceInWords } from "./price.js";
import { inWords, resultsOf } from "./results.js";

const PAUSE_MS = 200; // between the last move of a slider and the question
const BUNDLED = [["LaMP-1", "abstract, title"], ["LaMP-2", "description, tag"], ["LaMP-3", "text, score"],
  ["LaMP-4", "text, title"], ["LaMP-5", "abstract, title"], ["LaMP-7", "text"]];
const isOpen = document.documentElement.dataset.open === "yes";
const form = find("form");
const keyHint = find("key-state").textContent;
let known = null; // facts of the service
let running = null; // the question under way
let waiting = 0; // for a slider to rest
let checking = null; // the key that is being asked about

const chosen = (name) => form.elements[name].value;

function fill(select, tasks) {
  const before = select.value;
  select.replaceChildren(...tasks.map((name) => make("option", { value: name }, name)));
  select.value = tasks.includes(before) ? before : tasks.includes("LaMP-7") ? "LaMP-7" : tasks[0];
}

function taskFacts() {
  return known?.tasks.find((one) => one.name === find("task").value);
}

function showHints() {
  const task = taskFacts();
  const fields = task ? [task.context, task.action, ...task.metadata].filter(Boolean).join(", ")
    : (BUNDLED.find(([name]) => name === find("task").value) ?? ["", ""])[1];
  const guess = task && known.policies.includes("controller") && !task.is_trained ? " The controller was not trained on it." : "";
  find("task-hint").textContent = `${task ? `${task.description} ` : ""}Fields of a record: id, ${fields}.${guess}`;
  const isStore = chosen("source") === "store";
  find("paste").hidden = isStore;
  find("stored").hidden = !isStore;
  find("user-hint").textContent = !known ? "" : !known.scopes.includes("read")
    ? "This key may not read, so stored users stay closed. Paste a history, or use another key."
    : known.scopes.includes("admin") ? "Begin to type, or pick one." : "Type the name. Only a key of an admin may list users.";
  showCount();
  showPrices();
}

function showCount() {
  const hint = find("history-hint");
  try {
    const count = parseHistory(find("history").value).length;
    hint.textContent = count ? counted(count, "record") : "Everything this user did; later records and copies are found.";
    hint.classList.remove("wrong");
  } catch (error) {
    hint.textContent = error.message;
    hint.classList.add("wrong");
  }
}

function showPrices() {
  const trained = known ? known.lambda : null;
  for (const side of ["a", "b"]) {
    const slider = find(`lambda-${side}`);
    const isOn = chosen(side) === "controller" && trained !== null;
    slider.closest(".slider").hidden = !isOn;
    if (!isOn) continue;
    const words = priceInWords(slider.valueAsNumber, trained);
    find(`lambda-${side}-value`).textContent = words;
    slider.setAttribute("aria-valuetext", `λ ${words}`);
  }
  const isShown = known !== null && (chosen("a") === "controller" || chosen("b") === "controller");
  find("caveat").textContent = isShown ? caveat(trained) : "";
  find(chosen("a") === "controller" ? "policy-a" : "policy-b").append(find("caveat"));
}

async function learn() {
  const key = find("key").value.trim();
  const state = find("key-state");
  if (!key && !isOpen) return;
  checking?.abort();
  checking = new AbortController();
  try {
    known = await api.facts(key, checking.signal);
  } catch (error) {
    if (error.name === "AbortError") return;
    known = null;
    state.textContent = error.message;
    state.classList.add("wrong");
    showHints();
    return;
  }
  state.classList.remove("wrong");
  state.textContent = isOpen && !key ? "This service is open: no key is needed."
    : `Good: it may ${known.scopes.join(", ")}. It stays in the memory of this page.`;
  fill(find("task"), known.tasks.map((one) => one.name));
  for (const side of ["a", "b"]) {
    for (const radio of form.elements[side]) radio.disabled = radio.value !== "" && !known.policies.includes(radio.value);
    if (chosen(side) && !known.policies.includes(chosen(side))) form.elements[side].value = known.policies[0];
  }
  showHints();
  if (known.scopes.includes("admin")) await listUsers(key);
}

async function listUsers(key) {
  try {
    const { users } = await api.users(key);
    const names = [...new Set(users.map((one) => one.user))];
    find("users").replaceChildren(...names.map((name) => make("option", { value: name })));
  } catch {
    find("users").replaceChildren(); // a name can still be typed
  }
}

/** The question without its policy; throws what is wrong with the form, in words. */
function question() {
  const input = find("input").value;
  if (!input.trim()) throw Object.assign(new Error("Type an input first, or take an example."), { at: "input" });
  const asked = { task: find("task").value, input };
  if (find("date").value.trim()) asked.date = find("date").value.trim();
  if (chosen("source") === "store") {
    const user = find("user").value;
    if (!user) throw Object.assign(new Error("Name a user of the store."), { at: "user" });
    asked.user = user;
    return asked;
  }
  try {
    asked.history = parseHistory(find("history").value);
  } catch (error) {
    throw Object.assign(error, { at: "history" });
  }
  return asked;
}

function side(letter) {
  const policy = chosen(letter);
  if (!policy) return null;
  const price = policy === "controller" && known.lambda !== null
    ? priceAt(find(`lambda-${letter}`).valueAsNumber, known.lambda) : null;
  const shown = price ?? known.lambda;
  const name = policy === "untrained" ? "Untrained" : shown === null ? "Controller" : `Controller, λ = ${shown}`;
  return { letter: letter.toUpperCase(), name, policy, price };
}

async function select(isAsked = true) {
  clearTimeout(waiting);
  running?.abort();
  const mine = (running = new AbortController());
  complain("");
  try {
    if (!isOpen && !find("key").value.trim()) {
      throw Object.assign(new Error("Type an API key first; `enough keys create` makes one."), { at: "key" });
    }
    const asked = question();
    find("select").setAttribute("aria-busy", "true");
    if (known === null) await learn();
    if (known === null) throw Object.assign(new Error(find("key-state").textContent), { at: "key" });
    const sides = ["a", "b"].map(side).filter(Boolean);
    const key = find("key").value.trim();
    const answers = await Promise.all(sides.map(({ policy, price }) =>
      api.select(key, { ...asked, policy, ...(price === null ? {} : { lambda: price }) }, mine.signal)));
    if (mine !== running) return;
    show(sides.map((one, place) => ({ ...one, answer: answers[place] })), isAsked);
  } catch (error) {
    if (error.name === "AbortError" || mine !== running) return;
    complain(error.message, error.at ?? { unauthorized: "key", too_long: "input" }[error.type]);
  } finally {
    if (mine === running) find("select").removeAttribute("aria-busy");
  }
}

function show(sides, isAsked) {
  const many = sides.length > 1;
  find("empty").hidden = true;
  find("shown").hidden = false;
  find("results").classList.toggle("many", many);
  find("shown").replaceChildren(...resultsOf(sides, taskFacts()));
  find("status").textContent = sides.map((one) => inWords(one, many)).join(" ");
  // Below the form, on a narrow screen, nobody would see that something happened.
  if (isAsked && find("results").getBoundingClientRect().top > innerHeight / 2) find("results").scrollIntoView();
}

function complain(words, at) {
  const error = find("error");
  error.textContent = words;
  error.hidden = !words;
  for (const one of form.querySelectorAll("[aria-invalid]")) one.removeAttribute("aria-invalid");
  if (!at || !find(at)) return;
  find(at).setAttribute("aria-invalid", "true");
  find(at).focus();
}

function take(example) {
  forgetFolds();
  find("task").value = example.task;
  find("date").value = example.date;
  find("input").value = example.input;
  find("history").value = example.history.map((one) => JSON.stringify(one)).join("\n");
  form.elements.source.value = "paste";
  showHints();
  if (isOpen || find("key").value.trim()) select();
  else complain("Type an API key, then select.", "key");
}

async function offerExamples() {
  for (const one of await api.examples()) {
    const button = make("button", { type: "button", class: "quiet" }, one.name);
    button.addEventListener("click", () => take(one));
    find("examples").append(button);
  }
}

function later() {
  clearTimeout(waiting);
  if (find("shown").hidden) return;
  waiting = setTimeout(() => select(false), PAUSE_MS);
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  select();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  select();
});
find("key").addEventListener("input", () => {
  known = null; // what was learnt with another key
  find("key-state").classList.remove("wrong");
  find("key-state").textContent = keyHint;
});
find("key").addEventListener("change", learn);
find("task").addEventListener("change", showHints);
find("history").addEventListener("input", showCount);
for (const radio of form.elements.source) radio.addEventListener("change", showHints);
for (const letter of ["a", "b"]) {
  for (const radio of form.elements[letter]) radio.addEventListener("change", () => { showPrices(); later(); });
  find(`lambda-${letter}`).addEventListener("input", () => { showPrices(); later(); });
}
addEventListener("pagehide", () => { find("key").value = ""; }); // also where the browser keeps the page to go back to

fill(find("task"), BUNDLED.map(([name]) => name));
find("key-block").classList.toggle("is-open", isOpen);
showHints();
offerExamples();
if (isOpen) learn();
