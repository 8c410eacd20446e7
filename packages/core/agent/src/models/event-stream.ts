/**
 * Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) in one loop, cut between any two bytes.
 * Only their data is read: the providers' names of events are in the data as well.
 */

/** No provider sends a line near this. */
const MAX_EVENT_CHARS = 16 * 1024 * 1024;

export class EventTooLong extends Error {
  override readonly name = "EventTooLong";
}

export class EventStreamReader {
  readonly #onData: (data: string) => void;
  /** Also takes away the mark of the byte order at the start. */
  readonly #decoder = new TextDecoder();
  /** The beginning of a line. Pieces are joined once: a line that comes byte by byte must not be copied for each. */
  #pieces: string[] = [];
  #pieceChars = 0;
  #data: string | undefined;
  #endedInCr = false;

  constructor(onData: (data: string) => void) {
    this.#onData = onData;
  }

  /** Throws EventTooLong, and what `onData` throws. An event without its blank line at the end of the stream is none. */
  push(bytes: Uint8Array): void {
    let text = this.#decoder.decode(bytes, { stream: true });
    if (text === "") return;
    if (this.#endedInCr && text.startsWith("\n")) text = text.slice(1);
    this.#endedInCr = text.endsWith("\r");
    let from = 0;
    let nextCr = text.indexOf("\r");
    let nextLf = text.indexOf("\n");
    while (nextLf >= 0 || nextCr >= 0) {
      const isCr = nextCr >= 0 && (nextLf < 0 || nextCr < nextLf);
      const end = isCr ? nextCr : nextLf;
      this.#line(text.slice(from, end));
      from = isCr && nextLf === end + 1 ? end + 2 : end + 1;
      if (nextCr >= 0 && nextCr < from) nextCr = text.indexOf("\r", from);
      if (nextLf >= 0 && nextLf < from) nextLf = text.indexOf("\n", from);
    }
    if (from < text.length) this.#keep(from === 0 ? text : text.slice(from));
  }

  #keep(piece: string): void {
    this.#pieces.push(piece);
    this.#pieceChars += piece.length;
    if (this.#pieceChars + (this.#data?.length ?? 0) > MAX_EVENT_CHARS) throw new EventTooLong();
  }

  #line(end: string): void {
    let line = end;
    if (this.#pieces.length > 0) {
      this.#pieces.push(end);
      line = this.#pieces.join("");
      this.#pieces = [];
      this.#pieceChars = 0;
    }
    if (line === "") {
      const data = this.#data;
      this.#data = undefined;
      if (data !== undefined) this.#onData(data);
    } else if (line.startsWith("data:")) {
      const value = line.slice(line.charCodeAt(5) === SPACE ? 6 : 5);
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
      if (this.#data.length > MAX_EVENT_CHARS) throw new EventTooLong();
    } else if (line === "data") {
      this.#data = this.#data === undefined ? "" : `${this.#data}\n`;
    }
  }
}

const SPACE = 32;
