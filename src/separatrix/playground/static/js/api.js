// Questions and their answers: the engine answers what it can, the server the rest. When they are asked is decided in refresh.js.

import { answer } from "./engine/engine.js";
import { Refusal } from "./engine/refusal.js";

export { Refusal };

// What the page has to know before its first question. Without a server, the engine is alone.
let known = { server: true, address: null };

export async function about() {
  known = await (await fetch("about.json")).json();
  return known;
}

// Where shared links open: the address given at build, or this page.
export const sharedAddress = () => known.address ?? `${location.origin}${location.pathname}`;

// A folder for any web server has a page with a picture for each preset.
export const presetAddress = (name) => (known.address ? `${known.address}${name}.html` : `${sharedAddress()}#p=${name}`);

export async function ask(question, body) {
  if (question === "preset") return preset(body.name);
  const found = answer(question, body);
  if (found !== undefined) return found;
  if (!known.server) throw new Refusal("needs_server", "This needs the program: separatrix play", {});
  return askServer(question, body);
}

async function preset(name) {
  const response = await fetch(`presets/${encodeURIComponent(name)}.json`);
  if (!response.ok) throw new Refusal("no_preset", `There is no preset ${name}.`, { name });
  return response.json();
}

async function askServer(question, body) {
  let response;
  try {
    response = await fetch(`api/${question}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  } catch {
    throw new Refusal("gone", "The playground has ended.", {});
  }
  let told;
  try {
    told = await response.json();
  } catch {
    throw new Refusal("bug", response.statusText, {});
  }
  if (!response.ok) throw new Refusal(told.code ?? "bug", told.message ?? response.statusText, told.values);
  return told;
}
