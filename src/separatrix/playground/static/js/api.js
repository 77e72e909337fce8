// Questions and their answers; when they are asked is decided in refresh.js.

export class Refusal extends Error {
  constructor(code, message, values) {
    super(message);
    this.code = code;
    this.values = values ?? {};
  }
}

export async function ask(question, body) {
  let response;
  try {
    response = await fetch(`/api/${question}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  } catch {
    throw new Refusal("gone", "The playground has ended.", {});
  }
  if (response.headers.get("Content-Type") === "image/gif") return response.blob();
  let answer;
  try {
    answer = await response.json();
  } catch {
    throw new Refusal("bug", response.statusText, {});
  }
  if (!response.ok) throw new Refusal(answer.code ?? "bug", answer.message ?? response.statusText, answer.values);
  return answer;
}

export const about = async () => (await fetch("/api/about")).json();
