/** A route of a feature, asked by an operator: whoever has the control socket. */
import {
  type FeatureQuestion,
  type Json,
  type Route,
  type RouteEvent,
  type RouteRequest,
  SvcError,
} from "@svc/contract";
import * as v from "valibot";
import { featurePathsOf } from "../feature-paths.ts";
import type { Service } from "../service.ts";

export interface RouteQuestion extends FeatureQuestion {
  readonly signal: AbortSignal;
}

/**
 * What it answers. Throws what it throws; NOT_CONFIGURED, saying what to do, where the feature is not in the build or is off;
 * FEATURE_DOWN where it failed; USAGE for what does not fit the route's schemas.
 */
export async function askRoute(service: Service, question: RouteQuestion): Promise<Json> {
  const { route } = findRoute(service, question);
  return (await route.handle(requestOf(route, question))).body;
}

/** Its events as they come. Resolves when there are no more. Throws as `askRoute`, and NOT_FOUND for a route that does not stream. */
export async function followRoute(
  service: Service,
  question: RouteQuestion,
  onEvent: (event: RouteEvent) => void,
): Promise<void> {
  const { route } = findRoute(service, question);
  if (!route.stream) throw new SvcError("NOT_FOUND", "This does not stream.");
  const events = await route.stream({ ...requestOf(route, question), lastEventId: undefined });
  for await (const event of events) onEvent(event);
}

function requestOf(route: Route, { params = {}, query = {}, body = null, signal }: RouteQuestion): RouteRequest {
  const fits =
    (route.doc.body === undefined || v.is(route.doc.body, body)) &&
    Object.entries(route.doc.query ?? {}).every(([name, schema]) => v.is(schema, query[name]));
  if (!fits) throw new SvcError("USAGE", "The feature does not take this.");
  return {
    caller: { kind: "operator" },
    params,
    query: new URLSearchParams(query),
    body: route.doc.body === undefined ? body : (v.parse(route.doc.body, body) as Json),
    origin: undefined,
    signal,
  };
}

function findRoute({ context, config, generation }: Service, { method, path }: FeatureQuestion) {
  const found = generation.registry.routes.find(({ route }) => route.method === method && route.path === path);
  if (found !== undefined) return found;
  const missing = featurePathsOf(context.composition, config).get(path)?.missing;
  if (missing === undefined) throw new SvcError("FEATURE_DOWN");
  throw new SvcError("NOT_CONFIGURED", `${missing.charAt(0).toUpperCase()}${missing.slice(1)}.`);
}
