/**
 * What is known of a request beside its bytes: the id that its answer and its lines of the log have, and, where somebody
 * watches, the piece of work that it is.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { isTraceparent } from "@svc/contract";
import { fromOutside, type Instruments, type OpenWork } from "@svc/kernel";

/** The header of an answer of 500 and more that says which lines of the log are about it. A client's own is not taken. */
export const REQUEST_ID = "x-request-id";
/** The route of whatever is none's. */
export const OTHER = "other";

/** Of one process. Ids are `<boot>-<n>`, so that those of two starts in one log are different. */
export class Requests {
  readonly #boot: string;
  readonly #instruments: Instruments;
  #count = 0;

  /** `instance`: random per start. */
  constructor(instance: string, instruments: Instruments) {
    this.#boot = instance.slice(0, 8);
    this.#instruments = instruments;
  }

  /** The next one. */
  open(): OpenRequest {
    this.#count += 1;
    return new OpenRequest(`${this.#boot}-${this.#count}`, this.#instruments);
  }

  /** Serves each with an id of its own, which is kept on its response: whoever answers it, wherever, answers with that. */
  each(listener: RequestListener): RequestListener {
    return (incoming, outgoing) => {
      const request = this.open();
      (outgoing as Tagged)[REQUEST] = request;
      fromOutside({ request: request.id }, () => listener(incoming, outgoing));
    };
  }
}

export class OpenRequest {
  readonly id: string;
  readonly #instruments: Instruments;
  #work: OpenWork<"request"> | undefined;

  constructor(id: string, instruments: Instruments) {
    this.id = id;
    this.#instruments = instruments;
  }

  get isWatched(): boolean {
    return this.#instruments.isWatched;
  }

  /** Runs what serves it as a piece of work; not twice, where it is served anew. Call where `isWatched` only. */
  during(incoming: IncomingMessage, route: string, run: () => void): void {
    if (this.#work !== undefined) {
      run();
      return;
    }
    this.#work = this.#instruments.begin(
      "request",
      { method: METHODS.has(incoming.method) ? incoming.method! : OTHER, route },
      { parent: parentOf(incoming) },
    );
    this.#work.during(run);
  }

  /** Its answer is handed over, or its client gone. Only the first time counts. */
  end(status: number | undefined): void {
    this.#work?.end({ status });
  }
}

const REQUEST = Symbol("request");

interface Tagged extends ServerResponse {
  [REQUEST]?: OpenRequest;
}

/** Undefined: of a response that is nobody's, as in a test. */
export const requestOf = (outgoing: ServerResponse): OpenRequest | undefined => (outgoing as Tagged)[REQUEST];

/** There are dozens that the parser takes, and anybody may send them. */
const METHODS: ReadonlySet<string | undefined> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Two of them Node joins with a comma, and then it is none. */
function parentOf({ headers }: IncomingMessage): string | undefined {
  const sent = headers["traceparent"];
  return typeof sent === "string" && isTraceparent(sent) ? sent : undefined;
}
