/** Hono behind Node's own request and response, with all routes below /api/. The one module that loads them, so that it can be late. */
import type { RequestListener } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { errorReply } from "../http/reply.ts";
import { type AnyRoute, apiApp, type ApiDeps } from "./app.ts";
import { type CoreRouteDeps, coreRoutes } from "./core-routes.ts";

export interface ApiParts {
  readonly core: CoreRouteDeps;
  readonly features: readonly AnyRoute[];
}

export function apiListener({ core, features }: ApiParts, deps: ApiDeps): RequestListener {
  const routes = [...coreRoutes(core), ...features];
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
