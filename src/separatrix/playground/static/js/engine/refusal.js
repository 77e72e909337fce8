// A request that cannot be answered: a word for the problem (texts.js has a sentence for it), and what is in the sentence.

export class Refusal extends Error {
  constructor(code, message, values) {
    super(message);
    this.code = code;
    this.values = values ?? {};
  }
}
