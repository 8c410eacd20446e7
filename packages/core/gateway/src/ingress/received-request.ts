/** A delivery as it is handed to a channel. Query and headers are taken apart only for those who look at them. */
import type { IncomingMessage } from "node:http";
import type { RawRequest } from "@svc/contract";
import { queryOf } from "../routes/fields.ts";

export class ReceivedRequest implements RawRequest {
  readonly method: string;
  readonly body: Uint8Array;
  readonly receivedAtMs: number;
  readonly #incoming: IncomingMessage;
  #query: URLSearchParams | undefined;
  #headers: RawRequest["headers"] | undefined;

  constructor(incoming: IncomingMessage, method: string, body: Uint8Array, receivedAtMs: number) {
    this.#incoming = incoming;
    this.method = method;
    this.body = body;
    this.receivedAtMs = receivedAtMs;
  }

  get query(): URLSearchParams {
    return (this.#query ??= queryOf(this.#incoming));
  }

  get target(): string {
    return this.#incoming.url ?? "/";
  }

  get headers(): RawRequest["headers"] {
    return (this.#headers ??= firstOfEach(this.#incoming.rawHeaders));
  }
}

/** Node joins what came twice, so that "a, b" would be a value that nobody sent. */
function firstOfEach(raw: readonly string[]): RawRequest["headers"] {
  const headers: Record<string, string> = Object.create(null);
  for (let index = 0; index < raw.length; index += 2) headers[raw[index]!.toLowerCase()] ??= raw[index + 1]!;
  return headers;
}
