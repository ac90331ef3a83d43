// A pasted history: JSON lines, or one JSON list, to records; errors name the line.

export function parseHistory(text) {
  const trimmed = text.trim();
  if (!trimmed) return [];
  if (trimmed.startsWith("[")) {
    let list;
    try {
      list = JSON.parse(trimmed);
    } catch {
      throw new Error("The history begins like a JSON list but is not one. Paste one object a line.");
    }
    list.forEach((one, place) => requireObject(one, `Record ${place + 1}`));
    return list;
  }
  const records = [];
  text.split("\n").forEach((line, place) => {
    if (!line.trim()) return;
    let one;
    try {
      one = JSON.parse(line);
    } catch {
      throw new Error(`Line ${place + 1} of the history is not JSON. Write one object like {"id": "1", "text": "…"}.`);
    }
    requireObject(one, `Line ${place + 1} of the history`);
    records.push(one);
  });
  return records;
}

function requireObject(one, name) {
  if (one === null || typeof one !== "object" || Array.isArray(one)) {
    throw new Error(`${name} is not an object. Write {"id": "1", …}.`);
  }
}
