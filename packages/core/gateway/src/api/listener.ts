/** Hono behind Node's own request and response. The one module that loads it, so that it can be loaded late. */
import type { RequestListener } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { errorReply } from "../http/reply.ts";
import { apiApp, type ApiDeps, type ApiRoute } from "./app.ts";

export function apiListener(routes: readonly ApiRoute[], deps: ApiDeps): RequestListener {
  const adapted = getRequestListener(apiApp(routes, deps).fetch, {
    // The adapter's own Request and Response would replace the global ones, for every part of the process.
    overrideGlobalObjects: false,
    autoCleanupIncoming: false,
    // Called for a target that is no URL (a backslash in the path); answering nothing leaves the answer to us.
    errorHandler: () => undefined,
  });
  return (incoming, outgoing) => {
    // Does nothing where something was sent.
    const answer = () => deps.send(incoming, outgoing, errorReply("BAD_REQUEST"));
    adapted(incoming, outgoing).then(answer, answer);
  };
}
