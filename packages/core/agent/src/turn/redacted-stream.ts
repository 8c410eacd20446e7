/**
 * An answer told piece by piece, without the secrets in it. A piece may end in the middle of a secret, so what may be the
 * beginning of one waits until more has come: as little as that, or nothing would seem to be streamed.
 */
import type { AnswerListener } from "../models/call-model.ts";

export interface Redaction {
  readonly redact: (text: string) => string;
  /** How many characters at the end of a text may be the beginning of a secret. */
  readonly partial: (text: string) => number;
}

export class RedactedStream implements AnswerListener {
  hasTold = false;
  readonly #redaction: Redaction;
  readonly #tell: (text: string) => void;
  #held = "";

  constructor(redaction: Redaction, tell: (text: string) => void) {
    this.#redaction = redaction;
    this.#tell = tell;
  }

  push(delta: string): void {
    const text = this.#held + delta;
    const end = this.#safeEnd(text);
    this.#held = text.slice(end);
    this.#send(text.slice(0, end));
  }

  /** Nothing more comes. */
  end(): void {
    const rest = this.#held;
    this.#held = "";
    this.#send(rest);
  }

  #send(text: string): void {
    if (text === "") return;
    this.hasTold = true;
    this.#tell(this.#redaction.redact(text));
  }

  /**
   * Where the text can be cut. Not inside a whole secret either, which ends in what another one begins with: its first
   * half would be told as it is.
   */
  #safeEnd(text: string): number {
    const { redact, partial } = this.#redaction;
    let end = text.length - partial(text);
    if (end === text.length || end === 0) return end;
    const whole = redact(text);
    while (end > 0 && redact(text.slice(0, end)) + redact(text.slice(end)) !== whole) end -= 1;
    return end;
  }
}
