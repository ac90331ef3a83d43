"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const criteria = data.criteria.map((criterion) => criterion.name);
  const element = (id) => document.getElementById(id);
  const choiceButtons = [...document.querySelectorAll(".choice")];

  // A browser may refuse storage to files, or give it and throw when it is used.
  let isKept = true;
  const storage = (() => {
    try {
      window.localStorage.setItem("judgements-probe", "1");
      window.localStorage.removeItem("judgements-probe");
      return window.localStorage;
    } catch {
      isKept = false;
      const memory = new Map();
      return {
        getItem: (key) => memory.get(key) ?? null,
        setItem: (key, value) => memory.set(key, value),
        removeItem: (key) => memory.delete(key),
      };
    }
  })();
  const lastNameKey = `judgements:${data.digest}`;
  const stateKey = (name) => `judgements:${data.digest}:${name.toLowerCase()}`;

  let state = null; // { annotator, place, pairs: { id: { answers, seconds } } }
  let shownSince = null; // when the pair came into view; null while nobody can see it
  let savedAll = true;

  function fresh(name) {
    return { annotator: name, place: 0, pairs: {} };
  }

  function remembered(name) {
    try {
      const found = JSON.parse(storage.getItem(stateKey(name)));
      if (found && typeof found.pairs === "object" && data.pairs[found.place]) return found;
    } catch {
      // Nothing that can be read: begin anew.
    }
    return fresh(name);
  }

  function remember() {
    try {
      storage.setItem(stateKey(state.annotator), JSON.stringify(state));
      storage.setItem(lastNameKey, state.annotator);
    } catch {
      isKept = false; // it is used up
      showStorageNotice();
    }
  }

  function showStorageNotice() {
    document.querySelectorAll("[data-without-storage]").forEach((note) => (note.hidden = false));
  }

  const current = () => data.pairs[state.place];
  const entryOf = (pair) => (state.pairs[pair.id] ??= { answers: {}, seconds: 0 });
  const isJudged = (pair) => criteria.every((name) => state.pairs[pair.id]?.answers[name]);

  function countTime() {
    const now = performance.now();
    if (shownSince !== null) entryOf(current()).seconds += (now - shownSince) / 1000;
    shownSince = document.visibilityState === "visible" ? now : null;
  }

  function paragraph(className, text, field) {
    const made = document.createElement("p");
    made.className = `text ${className}`;
    made.dir = "auto";
    if (field) {
      const label = document.createElement("span");
      label.className = "field";
      label.textContent = field;
      made.append(label);
    }
    made.append(text);
    return made;
  }

  function recordView(record, task) {
    const view = document.createElement("div");
    view.className = "record";
    if (record.metadata.length) {
      const parts = record.metadata.map(([name, value]) => (name === "date" ? value : `${name}: ${value}`));
      view.append(paragraph("muted", parts.join(" · ")));
    }
    // What the person did comes first: it is what answers are compared with.
    view.append(
      record.context ? paragraph("headed", record.action, task.action) : paragraph("", record.action),
    );
    if (record.context) view.append(paragraph("context", record.context, task.context));
    return view;
  }

  function historyNote(pair) {
    const shown = pair.history.length;
    if (pair.historyLength === 0) return "nothing is known of this person";
    if (pair.historyLength === 1 && shown === 1) return "one record";
    if (shown === pair.historyLength) return `all ${shown}, newest first`;
    return `the newest ${shown} of ${pair.historyLength}`;
  }

  function showAnswer(id, text) {
    const box = element(id);
    const isNothing = text.trim() === "";
    box.classList.toggle("nothing", isNothing);
    box.textContent = isNothing ? "(an answer without text)" : text;
    box.scrollTop = 0;
  }

  function showPair() {
    const pair = current();
    const task = data.tasks[pair.task];
    element("place").textContent = `Pair ${state.place + 1} of ${data.pairs.length}`;
    element("task").textContent = task.description;
    element("input").textContent = pair.input;
    element("input").scrollTop = 0;
    element("history-note").textContent = historyNote(pair);
    element("history").replaceChildren(...pair.history.map((record) => recordView(record, task)));
    element("history").hidden = pair.history.length === 0;
    element("history-box").scrollTop = 0;
    showAnswer("left", pair.left);
    showAnswer("right", pair.right);
    say("");
    showJudgements();
  }

  function showJudgements() {
    const answers = state.pairs[current().id]?.answers ?? {};
    for (const button of choiceButtons) {
      const isChosen = answers[button.dataset.criterion] === button.dataset.choice;
      button.setAttribute("aria-pressed", String(isChosen));
    }
    const judged = data.pairs.filter(isJudged).length;
    element("done").value = judged;
    element("done-text").textContent = `${judged} of ${data.pairs.length} judged`;
    element("back").disabled = state.place === 0;
    element("forward").disabled = state.place === data.pairs.length - 1;
    element("forward").classList.toggle("primary", isJudged(current()));
    element("unjudged").disabled = judged === data.pairs.length;
  }

  function say(text) {
    element("status").textContent = text;
  }

  function choose(criterion, choice) {
    countTime();
    entryOf(current()).answers[criterion] = choice;
    savedAll = false;
    remember();
    showJudgements();
    if (data.pairs.every(isJudged)) say("All pairs are judged. Press Save and send the file.");
    else if (isJudged(current())) say("This pair is judged.");
  }

  function goTo(place) {
    if (place < 0 || place >= data.pairs.length || place === state.place) return;
    countTime();
    state.place = place;
    remember();
    showPair();
    window.scrollTo(0, 0);
    element("place").focus({ preventScroll: true });
  }

  function goToUnjudged() {
    const place = data.pairs.findIndex((pair) => !isJudged(pair));
    if (place >= 0) goTo(place);
  }

  function save() {
    countTime();
    remember();
    const touched = data.pairs.filter((pair) => Object.keys(state.pairs[pair.id]?.answers ?? {}).length);
    const content = {
      format: 1,
      page: data.digest,
      annotator: state.annotator,
      judgements: touched.map((pair) => ({
        pair: pair.id,
        answers: state.pairs[pair.id].answers,
        seconds: Math.round(state.pairs[pair.id].seconds * 10) / 10,
      })),
    };
    const blob = new Blob([`${JSON.stringify(content, null, 2)}\n`], { type: "application/json" });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `judgements-${state.annotator.replace(/[^\p{L}\p{N}_-]+/gu, "_")}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    savedAll = true;
    const left = data.pairs.length - data.pairs.filter(isJudged).length;
    say(left ? `Saved as ${link.download}; ${left} still to judge.` : `Saved as ${link.download}.`);
  }

  function begin(name) {
    state = remembered(name);
    remember();
    element("who").textContent = state.annotator;
    element("start").hidden = true;
    element("judge").hidden = false;
    // On a small screen the history would push the answers far down.
    element("history-box").open = window.matchMedia("(min-width: 44rem)").matches;
    shownSince = null;
    countTime();
    showPair();
  }

  function leave() {
    countTime();
    remember();
    storage.removeItem(lastNameKey);
    state = null;
    element("judge").hidden = true;
    element("start").hidden = false;
    element("name").value = "";
    element("name").focus();
  }

  const shortcuts = {
    ArrowLeft: () => goTo(state.place - 1),
    ArrowRight: () => goTo(state.place + 1),
    u: goToUnjudged,
    s: save,
    h: () => (element("history-box").open = !element("history-box").open),
  };

  document.addEventListener("keydown", (event) => {
    if (!state || event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const button = choiceButtons[Number(key) - 1];
    if (button) choose(button.dataset.criterion, button.dataset.choice);
    else if (Object.hasOwn(shortcuts, key)) shortcuts[key]();
    else return;
    event.preventDefault();
  });
  for (const button of choiceButtons) {
    button.addEventListener("click", () => choose(button.dataset.criterion, button.dataset.choice));
  }
  element("begin").addEventListener("submit", (event) => {
    event.preventDefault();
    const name = element("name").value.trim().replace(/\s+/g, " ");
    if (name) begin(name);
  });
  element("back").addEventListener("click", () => goTo(state.place - 1));
  element("forward").addEventListener("click", () => goTo(state.place + 1));
  element("unjudged").addEventListener("click", goToUnjudged);
  element("save").addEventListener("click", save);
  element("leave").addEventListener("click", leave);
  document.addEventListener("visibilitychange", () => {
    if (!state) return;
    countTime();
    remember();
  });
  window.addEventListener("pagehide", () => {
    if (!state) return;
    countTime();
    remember();
  });
  window.addEventListener("beforeunload", (event) => {
    if (!isKept && !savedAll) event.preventDefault();
  });

  if (!isKept) showStorageNotice();
  const lastName = storage.getItem(lastNameKey);
  if (lastName) begin(lastName);
})();
