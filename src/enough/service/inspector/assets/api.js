// Questions to the service. The key is in the page's field and in the header of a request, nowhere else.

const AT = {
  facts: new URL("../facts", import.meta.url),
  select: new URL("../select", import.meta.url),
  users: new URL("../../v1/users?limit=500", import.meta.url),
};
const ADVICE = {
  unauthorized: "Check the API key.",
  forbidden: "Use another API key.",
  rate_limited: "Wait a moment.",
};

/** An error in words for people. */
export class Refused extends Error {
  constructor(message, type = "", field = "") {
    super(message);
    this.type = type;
    this.field = field;
  }
}

async function ask(url, key, options = {}) {
  const headers = { ...(options.headers ?? {}) };
  if (key) headers.Authorization = `Bearer ${key}`;
  let response;
  try {
    response = await fetch(url, { ...options, headers, credentials: "omit", cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    if (error instanceof TypeError && /header|ByteString|ISO-8859/i.test(error.message)) {
      throw new Refused("The API key has characters that no key has. Check the API key.", "unauthorized");
    }
    throw new Refused("The service cannot be reached. Is it still running?", "unreachable");
  }
  let body = null;
  try {
    body = await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
  }
  if (response.ok && body !== null) return body;
  const said = body?.error;
  if (!said) throw new Refused(`The service answered with status ${response.status} and no words.`);
  const where = said.field ? `${said.field}: ` : "";
  const advice = ADVICE[said.type] ? ` ${ADVICE[said.type]}` : "";
  throw new Refused(`${where}${sentence(said.message)}${advice}`, said.type, said.field);
}

const sentence = (text) => {
  const trimmed = text.trim();
  const ended = /[.!?:]$/.test(trimmed) ? trimmed : `${trimmed}.`;
  return ended.charAt(0).toUpperCase() + ended.slice(1);
};

export const facts = (key, signal) => ask(AT.facts, key, { signal });
export const users = (key) => ask(AT.users, key);
export const select = (key, question, signal) =>
  ask(AT.select, key, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(question),
    signal,
  });
export const examples = async () => (await fetch(new URL("./examples.json", import.meta.url))).json();
