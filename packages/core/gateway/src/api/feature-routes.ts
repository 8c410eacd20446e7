/** Routes that features contribute: checked at start, then served like core's own. Reading is `read`, the rest `operator`. */
import { SvcError, type Json, type Route } from "@svc/contract";
import { readBody } from "../http/body.ts";
import { parseJson, refuseContentType } from "../http/json.ts";
import { errorReply, jsonReply, Reply } from "../http/reply.ts";
import type { ApiContext, ApiRoute } from "./app.ts";

/** Throws FEATURE_CONFLICT naming every path that is not below /api/ or is taken. */
export function featureRoutes(routes: readonly Route[], taken: readonly ApiRoute[], maxBodyBytes: number): ApiRoute[] {
  const known = new Set(taken.map((route) => `${route.method} ${route.path}`));
  const problems: string[] = [];
  for (const { method, path } of routes) {
    const name = `${method} ${path}`;
    if (!/^\/api\/[A-Za-z0-9/_.-]+$/.test(path)) problems.push(`${name} is not a literal path below /api/`);
    else if (known.has(name)) problems.push(`${name} is claimed twice`);
    known.add(name);
  }
  if (problems.length > 0) throw new SvcError("FEATURE_CONFLICT", `${problems.join("; ")}.`);
  return routes.map((route) => served(route, maxBodyBytes));
}

function served(route: Route, maxBodyBytes: number): ApiRoute {
  return {
    method: route.method,
    path: route.path,
    need: route.method === "GET" ? "read" : "operate",
    async handle(context, device) {
      const body = await jsonBody(context, maxBodyBytes);
      if (body instanceof Reply) return body;
      const gone = new AbortController();
      const onClose = () => gone.abort(new SvcError("TURN_CANCELLED", "The client closed its connection."));
      context.env.outgoing.once("close", onClose);
      try {
        const query = new URL(context.req.url).searchParams;
        const answer = await route.handle({ clientId: device.clientId, query, body, signal: gone.signal });
        return jsonReply(answer.status, answer.body);
      } finally {
        context.env.outgoing.off("close", onClose);
      }
    },
  };
}

/** The parsed body, null without one. */
async function jsonBody(context: ApiContext, maxBodyBytes: number): Promise<Json | Reply> {
  const { incoming, outgoing } = context.env;
  const { headers } = incoming;
  if (headers["transfer-encoding"] === undefined && (headers["content-length"] ?? "0") === "0") return null;
  const refused = refuseContentType(headers);
  if (refused) return refused;
  const body = await readBody(incoming, outgoing, maxBodyBytes);
  if (body === "too-large") return errorReply("TOO_LARGE");
  if (body === "gone") return errorReply("BAD_REQUEST");
  return body.length === 0 ? null : (parseJson(body) ?? errorReply("BAD_JSON"));
}
