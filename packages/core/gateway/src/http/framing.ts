/**
 * Requests whose end two readers would see in two places. Node's parser refuses most of them and lets these through: a
 * transfer coding beside `chunked` that nobody here undoes, and any in HTTP/1.0, which knows none (RFC 9112 section 6.1).
 * What a proxy took for the next request could be this one's body, or the other way round.
 */
import type { IncomingMessage, RequestListener } from "node:http";
import type { Socket } from "node:net";
import { OTHER, type Watch } from "../observe/requests.ts";
import { errorReply } from "./reply.ts";

/** Such a request is answered 400, and its connection ends: nothing that follows on it is read as a request. */
export function refuseAmbiguous(watch: Watch): (listener: RequestListener) => RequestListener {
  const { status, headers, body } = errorReply("BAD_REQUEST");
  const refused = new WeakSet<Socket>();
  return (listener) => (incoming, outgoing) => {
    // Sent in one piece with the refused one, it was parsed before the connection could be closed.
    if (refused.has(incoming.socket)) return;
    if (!isAmbiguous(incoming)) {
      listener(incoming, outgoing);
      return;
    }
    refused.add(incoming.socket);
    outgoing.shouldKeepAlive = false;
    watch(
      incoming,
      outgoing,
      () => OTHER,
      () => {
        outgoing.writeHead(status, headers as string[]);
        outgoing.end(body);
      },
    );
  };
}

function isAmbiguous(incoming: IncomingMessage): boolean {
  // The parser takes HTTP/0.9 and HTTP/2.0 too; the one ends with its first line, and the other is not text.
  if (incoming.httpVersion !== "1.1" && incoming.httpVersion !== "1.0") return true;
  const coding = incoming.headers["transfer-encoding"];
  return coding !== undefined && (coding.toLowerCase() !== "chunked" || incoming.httpVersion !== "1.1");
}
