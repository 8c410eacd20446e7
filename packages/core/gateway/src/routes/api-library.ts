/**
 * Loads hono and the routes on it with the first request they are for: the start, and a daemon that only takes webhooks, do
 * without them. Shared by all versions of the settings, so that they are loaded once.
 */
import type { RequestListener } from "node:http";
import { errorReply } from "../http/reply.ts";
import type { Send } from "../http/send.ts";
import type { ApiDeps, ApiRoutes } from "./api.ts";

type MakeListener = (parts: ApiRoutes, deps: ApiDeps) => RequestListener;

export class ApiLibrary {
  readonly #send: Send;
  readonly #again: RequestListener;
  #apiListener: MakeListener | undefined;
  #loading: Promise<void> | undefined;

  /** `again`: takes a request that waited for the library, by the settings of that moment. */
  constructor(send: Send, again: RequestListener) {
    this.#send = send;
    this.#again = again;
  }

  listener(parts: ApiRoutes, deps: ApiDeps): RequestListener {
    let listener: RequestListener | undefined;
    return (incoming, outgoing) => {
      if (this.#apiListener === undefined) {
        this.#load().then(
          () => this.#again(incoming, outgoing),
          () => this.#send(incoming, outgoing, errorReply("INTERNAL")),
        );
        return;
      }
      listener ??= this.#apiListener(parts, deps);
      listener(incoming, outgoing);
    };
  }

  #load(): Promise<void> {
    this.#loading ??= import("./api.ts").then(
      ({ apiListener }) => void (this.#apiListener = apiListener),
      (cause: unknown) => {
        // Out of file descriptors, say: the next request tries again.
        this.#loading = undefined;
        throw cause;
      },
    );
    return this.#loading;
  }
}
