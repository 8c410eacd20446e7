/** What we use of Node's HTTP parser beyond its documentation: `_http_common.js`, `_http_server.js` and `node_http_parser.cc` of Node. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

export interface Received extends IncomingMessage {
  /** Whether its headers ask for another protocol; later whether the server goes along. */
  readonly upgrade?: boolean | null;
}

export interface Parser {
  /** The newest request. */
  readonly incoming?: Received | null;
  /** Called with the headers of a request; what it returns llhttp takes for its own `on_headers_complete`. */
  onIncoming(incoming: Received, keepAlive: boolean): number;
  resume(): void;
  /** A copy of what was read last, within `kOnExecute` and what happens before it. */
  getCurrentBuffer(): Buffer;
  readonly constructor: { readonly kOnBody: 3; readonly kOnExecute: 5 };
  /** `kOnBody`: a piece of the body of `incoming`. */
  3: (bytes: Buffer) => void;
  /** `kOnExecute`: of what Node has read by itself so much is parsed. */
  5: (result: number | (Error & { readonly bytesParsed: number })) => void;
}

/** Undefined once the connection has left HTTP, or is closed. */
export const parserOf = (socket: Socket): Parser | undefined =>
  (socket as Socket & { parser?: Parser | null }).parser ?? undefined;

export const hasParser = (socket: Socket): boolean => parserOf(socket) !== undefined;

/** Node's server pauses a connection whose answers pile up, and its parser with it: fed meanwhile, it throws. */
export const isPausedByNode = (socket: Socket): boolean => (socket as Socket & { _paused?: boolean })._paused === true;
