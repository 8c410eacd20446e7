/** A feature's routes, asked as the gateway asks them: path, caller and schemas first, the route after that. */
import {
  type ClientId,
  type Contributions,
  type Json,
  type Route,
  type RouteCaller,
  type RouteResult,
  SvcError,
} from "@svc/contract";
import * as v from "valibot";
import { demand } from "../../check.ts";

export interface RouteCall {
  /** Default: POST. */
  readonly method?: Route["method"];
  /** With its query, e.g. `/api/cards?user_id=ann`. */
  readonly path: string;
  /** Default: a stranger. */
  readonly caller?: RouteCaller;
  readonly body?: unknown;
  readonly origin?: string;
  readonly signal?: AbortSignal;
}

export type CallRoute = (call: RouteCall) => Promise<RouteResult>;

export const device = (clientId: string, proof: "token" | "page" = "token"): RouteCaller => ({
  kind: "device",
  clientId: clientId as ClientId,
  proof,
});

/**
 * Throws what the route throws; NOT_FOUND, UNAUTHORIZED and BAD_REQUEST as the gateway does, for what never reaches a route;
 * and for an answer that its own documentation does not describe, which is no SvcError.
 */
export function routeCaller({ routes = [] }: Pick<Contributions, "routes">): CallRoute {
  return async ({ method = "POST", path: asked, caller = { kind: "stranger" }, body = null, origin, signal }) => {
    const url = new URL(asked, "http://localhost");
    const found = routes
      .filter((route) => route.method === method)
      .map((route) => ({ route, params: paramsOf(route.path, url.pathname) }))
      .find(({ params }) => params !== undefined);
    if (found?.params === undefined) throw new SvcError("NOT_FOUND");
    const { route, params } = found;
    if (caller.kind === "stranger" && route.access !== "open") throw new SvcError("UNAUTHORIZED");
    const query = url.searchParams;
    checkQuery(route, query);
    const result = await route.handle({
      caller,
      params,
      query,
      body: bodyFor(route, body),
      origin,
      signal: signal ?? new AbortController().signal,
    });
    checkAnswer(route, result);
    return result;
  };
}

function paramsOf(pattern: string, path: string): Record<string, string> | undefined {
  const names = [...pattern.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const source = pattern.split(/\{\w+\}/).map((text) => RegExp.escape(text));
  const values = new RegExp(`^${source.join("([^/]+)")}$`).exec(path)?.slice(1);
  return values && Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(values[index] ?? "")]));
}

function checkQuery({ doc }: Route, query: URLSearchParams): void {
  for (const [name, schema] of Object.entries(doc.query ?? {})) {
    if (!v.safeParse(schema, query.get(name) ?? undefined).success) throw new SvcError("BAD_REQUEST");
  }
}

/** What came went over the wire: what JSON does not know is not there. */
function bodyFor({ doc }: Route, body: unknown): Json {
  const sent = JSON.parse(JSON.stringify(body ?? null)) as Json;
  if (doc.body === undefined) return sent;
  const parsed = v.safeParse(doc.body, sent);
  if (!parsed.success || Array.isArray(sent)) throw new SvcError("BAD_REQUEST");
  return parsed.output as Json;
}

function checkAnswer({ method, path, doc }: Route, { status, body }: RouteResult): void {
  const schema = doc.answers[status]?.body;
  demand(schema !== undefined, `${method} ${path} answers ${status}, which its documentation does not know`);
  const { issues } = v.safeParse(schema, JSON.parse(JSON.stringify(body)));
  const where = issues?.map((issue) => v.getDotPath(issue)).join(", ");
  demand(issues === undefined, `${method} ${path} answers what its documentation does not say: ${where}`);
}
