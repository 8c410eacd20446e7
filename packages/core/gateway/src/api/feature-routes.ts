/** Routes that features contribute: checked at start, then served like core's own. Reading is `read`, the rest `operator`. */
import { SvcError, type Json, type Route } from "@svc/contract";
import type { Ongoing } from "@svc/kernel";
import { parseJson } from "@svc/kit";
import * as v from "valibot";
import { readBody } from "../http/body.ts";
import { refuseContentType } from "../http/json.ts";
import { errorReply, jsonReply, Reply } from "../http/reply.ts";
import { queryOf } from "../routes/fields.ts";
import { pathPattern } from "../routes/path-pattern.ts";
import type { ApiRequest, ApiRoute } from "./app.ts";

export interface FeatureRouteOptions {
  readonly maxBodyBytes: number;
  /** Counts the requests: a feature may be taken down when none of them is left. */
  readonly ongoing: Ongoing;
}

/** Throws FEATURE_CONFLICT naming every path that is not below /api/ or is taken. */
export function featureRoutes(
  routes: readonly Route[],
  core: readonly ApiRoute[],
  options: FeatureRouteOptions,
): ApiRoute[] {
  const taken = core.map(({ path }) => pathPattern(path));
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

async function answer(route: Route, { device, env }: ApiRequest, body: Json): Promise<Reply> {
  const gone = new AbortController();
  const onClose = () => gone.abort(new SvcError("TURN_CANCELLED", "The client closed its connection."));
  env.outgoing.once("close", onClose);
  try {
    const query = queryOf(env.incoming);
    const answer = await route.handle({ clientId: device.clientId, query, body, signal: gone.signal });
    return jsonReply(answer.status, answer.body);
  } finally {
    env.outgoing.off("close", onClose);
  }
}

/** What the schema makes of the parsed body; null without a body. */
async function jsonBody(
  { env: { incoming, outgoing } }: ApiRequest,
  schema: v.GenericSchema | undefined,
  maxBodyBytes: number,
): Promise<Json | Reply> {
  const { headers } = incoming;
  const hasBody = headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
  const refused = hasBody ? refuseContentType(headers) : undefined;
  if (refused) return refused;
  const body = await readBody(incoming, outgoing, maxBodyBytes);
  if (body === "too-large") return errorReply("TOO_LARGE");
  if (body === "gone") return errorReply("BAD_REQUEST");
  const value = body.length === 0 ? null : parseJson(body);
  if (value === undefined) return errorReply("BAD_JSON");
  return schema ? fitted(value, schema) : value;
}

function fitted(value: Json, schema: v.GenericSchema): Json | Reply {
  const parsed = v.safeParse(schema, value, { abortEarly: true });
  // To valibot a list is an object too.
  const isList = Array.isArray(value) && "entries" in schema;
  return parsed.success && !isList ? (parsed.output as Json) : BAD_BODY;
}

const BAD_BODY = errorReply("BAD_REQUEST", { message: "The body is not as /openapi.json says." });
