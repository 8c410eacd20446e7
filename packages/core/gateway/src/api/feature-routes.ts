/** Routes that features contribute: checked at start, then served like core's own. Reading is `read`, the rest `operator`. */
import { SvcError, type Json, type Route } from "@svc/contract";
import type { Ongoing } from "@svc/kernel";
import * as v from "valibot";
import { jsonReply, Reply } from "../http/reply.ts";
import { queryOf } from "../routes/fields.ts";
import { CORE_PATHS } from "../routes/core-paths.ts";
import { pathPattern } from "../routes/path-pattern.ts";
import type { ApiRequest, ApiRoute } from "./app.ts";
import { jsonBody } from "./body.ts";

export interface FeatureRouteOptions {
  readonly maxBodyBytes: number;
  /** Counts the requests: a feature may be taken down when none of them is left. */
  readonly ongoing: Ongoing;
}

/** Throws FEATURE_CONFLICT naming every path that is not below /api/ or is taken. */
export function featureRoutes(routes: readonly Route[], options: FeatureRouteOptions): ApiRoute[] {
  const taken = CORE_PATHS.map(pathPattern);
  const known = new Set<string>();
  const problems: string[] = [];
  for (const { method, path } of routes) {
    const name = `${method} ${path}`;
    if (!/^\/api\/[A-Za-z0-9/_.-]+$/.test(path)) problems.push(`${name} is not a literal path below /api/`);
    else if (taken.some((pattern) => pattern.test(path))) problems.push(`${name} is on a path of core`);
    else if (known.has(name)) problems.push(`${name} is claimed twice`);
    known.add(name);
  }
  if (problems.length > 0) throw new SvcError("FEATURE_CONFLICT", `${problems.join("; ")}.`);
  return routes.map((route) => served(route, options));
}

function served(route: Route, { maxBodyBytes, ongoing }: FeatureRouteOptions): ApiRoute {
  const { method, path, doc } = route;
  const takesBody = method !== "GET";
  return {
    ...doc,
    method,
    path,
    access: takesBody ? "operate" : "read",
    ...(takesBody && doc.body === undefined && { body: v.unknown(), bodyOptional: true }),
    handle: (request) =>
      ongoing.during(async () => {
        const body = await jsonBody(request, doc.body, maxBodyBytes);
        return body instanceof Reply ? body : answer(route, request, body);
      }),
  };
}

async function answer(route: Route, { device, principal, params, env }: ApiRequest, body: Json): Promise<Reply> {
  const gone = new AbortController();
  const onClose = () => gone.abort(new SvcError("TURN_CANCELLED", "The client closed its connection."));
  env.outgoing.once("close", onClose);
  try {
    const query = queryOf(env.incoming);
    const caller = {
      kind: "device",
      clientId: device.clientId,
      proof: principal.signIn === undefined ? "token" : "page",
    } as const;
    const { origin } = env.incoming.headers;
    const answer = await route.handle({ caller, params, query, body, origin, signal: gone.signal });
    return jsonReply(answer.status, answer.body);
  } finally {
    env.outgoing.off("close", onClose);
  }
}
