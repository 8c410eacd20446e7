/** Speech that waits to be played, in memory: of one call each, by an id that nobody guesses. */
import { randomBytes } from "node:crypto";
import type { SpokenText } from "@svc/contract";

/** A phone may ring for ten minutes. */
const KEPT_MS = 1_200_000;
const MOST_BYTES = 64 * 1_048_576;

interface Audio extends SpokenText {
  readonly untilMs: number;
}

export class AudioShelf {
  readonly #audio = new Map<string, Audio>();
  #bytes = 0;

  /** The id that it is fetched by. What was put there first goes when there is no room. */
  put(spoken: SpokenText, nowMs: number, keptMs: number = KEPT_MS): string {
    this.#bytes += spoken.bytes.byteLength;
    const id = randomBytes(24).toString("base64url");
    this.#audio.set(id, { ...spoken, untilMs: nowMs + keptMs });
    for (const [oldest, { untilMs }] of this.#audio) {
      if (oldest !== id && (this.#bytes > MOST_BYTES || untilMs <= nowMs)) this.drop(oldest);
    }
    return id;
  }

  get(id: string, nowMs: number): SpokenText | undefined {
    const audio = this.#audio.get(id);
    return audio && audio.untilMs > nowMs ? audio : undefined;
  }

  drop(id: string): void {
    this.#bytes -= this.#audio.get(id)?.bytes.byteLength ?? 0;
    this.#audio.delete(id);
  }

  get count(): number {
    return this.#audio.size;
  }
}
