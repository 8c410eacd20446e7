/** One hostile exchange on a separate connection: the bytes sent, the end, and the allowed answers. */

export type Step = { readonly write: Buffer } | { readonly pauseMs: number };

/** What the attacker does after the last step. */
export type Ending =
  /** Waits for the answers; a server that gives none hangs. */
  | "answer"
  /** Sends no more, and says so: it must be answered or closed. */
  | "fin"
  /** Is gone: in order, or with a reset. Nothing needs to come back. */
  | "close"
  | "reset"
  /** Sends no more and keeps the connection: the server must end it, by its own limits. */
  | "silence";

export interface Attack {
  /** Name of the generator. */
  readonly kind: string;
  readonly steps: readonly Step[];
  readonly ending: Ending;
  /** Requests in it as the strictest reader counts them: further answers would belong to a smuggled request. */
  readonly requests: number;
  /**
   * Two readers could see different requests in these bytes. `refused`: it must be answered 4xx. `last`: it may be
   * answered, because the fault comes after the headers. Either way that answer is the only one, and the connection ends
   * with it: readers would split the following bytes differently.
   */
  readonly broken?: "refused" | "last";
  /** The path is not the endpoint's own, however it is normalised: nothing may be served for it. */
  readonly elsewhere?: boolean;
  /** Texts that must not come back in an error. */
  readonly marks: readonly string[];
  /** Answers to HEAD have a length and no body. */
  readonly head?: boolean;
  /** It may be ended without a word: there was no request in it. */
  readonly mute?: boolean;
  /** Texts that the answers hold, one each and in this order, where they are 200. */
  readonly inOrder?: readonly string[];
  /**
   * What follows a handshake that opens a WebSocket. `sound`: it is answered, and its end is; `broken`: it ends the
   * connection, which is told why.
   */
  readonly frames?: "sound" | "broken";
  /** The timeout that applies when the server must end the exchange. */
  readonly slow?: "headers" | "body";
  /** Never reads: what the server has to say piles up. */
  readonly deaf?: boolean;
}

/** What came of it. */
export interface Exchange {
  readonly received: Buffer;
  /** Who ended it; "late": neither side within the time limit. */
  readonly endedBy: "server" | "client" | "late";
  readonly tookMs: number;
  /** Error of the socket, as its code. */
  readonly error?: string;
}
