/** `/api/session` on the wire. */
import { declaredBytes } from "../http/body.ts";
import type { Handle, OwnRoute } from "../http/listener.ts";
import { Reply } from "../http/reply.ts";
import { withBody, type WithBodyDeps } from "../http/with-body.ts";
import { MAX_PAIR_BYTES } from "../pairing/route.ts";
import type { SessionRoute } from "./session-route.ts";
import { SIGN_IN, SIGN_OUT, SIGNED_IN, WAYS } from "./session-specs.ts";

export function sessionRoutes(session: SessionRoute, deps: WithBodyDeps): OwnRoute[] {
  const signIn: Handle = (incoming, outgoing, peer) => {
    const { headers } = incoming;
    const admitted = session.admit(headers, peer, declaredBytes(incoming) > 0);
    if (admitted instanceof Reply) return admitted;
    return withBody(deps, incoming, outgoing, MAX_PAIR_BYTES, (body) => session.signIn(admitted, headers, body));
  };
  const signOut: Handle = (incoming, outgoing, peer) => {
    const reply = session.signOut(incoming.headers, peer);
    if (reply instanceof Reply) return reply;
    void reply.then((signedOut) => deps.send(incoming, outgoing, signedOut));
    return undefined;
  };
  return [
    { ...SIGN_IN, handle: signIn },
    { ...SIGNED_IN, handle: (incoming, _outgoing, peer) => session.signedIn(incoming.headers, peer) },
    { ...SIGN_OUT, handle: signOut },
    { ...WAYS, handle: () => session.ways() },
  ];
}
