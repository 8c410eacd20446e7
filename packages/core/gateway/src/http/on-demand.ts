/** A request listener whose code is loaded by the first request that needs it. */
import type { RequestListener } from "node:http";
import { errorReply } from "./reply.ts";
import type { Send } from "./send.ts";

export function onDemand(send: Send, load: () => Promise<RequestListener>): RequestListener {
  let listener: RequestListener | undefined;
  let loading: Promise<RequestListener> | undefined;
  return (incoming, outgoing) => {
    if (listener) {
      listener(incoming, outgoing);
      return;
    }
    loading ??= load();
    loading.then(
      (loaded) => {
        listener = loaded;
        loaded(incoming, outgoing);
      },
      () => send(incoming, outgoing, errorReply("INTERNAL")),
    );
  };
}
