/** Routes of features, asked by an operator; by them, the passkeys of every device for `svc passkeys`. */
import {
  DEVICE_NAME_PATTERN,
  type FeatureQuestion,
  type Json,
  type Route,
  type RouteEvent,
  type RouteRequest,
  SvcError,
} from "@svc/contract";
import type { ControlHandlers, ControlRequest } from "@svc/gateway/control";
import * as v from "valibot";
import type { Service } from "../service.ts";
import { byPrefix, text } from "./input.ts";
import { featurePathsOf } from "../features.ts";

const CREDENTIALS = "/api/webauthn/credentials";
const CREDENTIAL = "/api/webauthn/credentials/{id}";

export function passkeyHandlers(service: Service): ControlHandlers {
  const ask = (question: RouteQuestion): Promise<Json> => askRoute(service, question);

  const list = async ({ body, signal }: ControlRequest): Promise<readonly Passkey[]> => {
    const userId = text(body["user_id"]);
    const query = userId === undefined ? {} : { user_id: userId };
    const told = await ask({ method: "GET", path: CREDENTIALS, query, signal });
    return (told as unknown as { credentials: readonly Told[] }).credentials.map((one) => shown(service, one));
  };
  const find = async (request: ControlRequest): Promise<Passkey> =>
    byPrefix(await list(request), text(request.body["id"]) ?? "", "PASSKEY_UNKNOWN", ({ name }) => text(name));

  return {
    passkeys: async (request) => ({ passkeys: (await list(request)) as unknown as Json }),
    "passkey-rename": async (request) => {
      const name = passkeyName(request.body["name"]);
      const { id, device } = await find(request);
      const params = { id };
      const renamed = await ask({
        method: "PUT",
        path: `${CREDENTIAL}/name`,
        params,
        body: { name },
        signal: request.signal,
      });
      return { ...(renamed as { readonly [key: string]: Json }), device };
    },
    "passkey-remove": async (request) => {
      const passkey = await find(request);
      const { id, user_id: userId } = passkey;
      await ask({ method: "DELETE", path: CREDENTIAL, params: { id }, signal: request.signal });
      const left = (await list({ ...request, body: {} })).filter((other) => other.user_id === userId).length;
      return { ...passkey, left_of_user: left };
    },
  };
}

interface Told {
  readonly id: string;
  readonly user_id: string;
  readonly client_id: string;
  readonly [key: string]: Json;
}

interface Passkey {
  readonly id: string;
  readonly user_id: string;
  readonly device: { readonly id: string; readonly name: string } | null;
  readonly [key: string]: Json;
}

/** With the device in place of its ClientId, which stays inside. */
function shown({ store }: Service, { client_id: clientId, ...passkey }: Told): Passkey {
  const device = store.devices.all().find((one) => one.clientId === clientId);
  return { ...passkey, device: device === undefined ? null : { id: device.id, name: device.name } } as Passkey;
}

/** Throws USAGE. */
function passkeyName(name: Json | undefined): string {
  if (typeof name === "string" && DEVICE_NAME_PATTERN.test(name)) return name.trim();
  throw new SvcError("USAGE", "A passkey's name is 1 to 64 printable characters.");
}

export function featureRouteHandlers(service: Service): ControlHandlers {
  return {
    "feature-route": ({ body, signal }) => askRoute(service, { ...(body as unknown as FeatureQuestion), signal }),
    "feature-stream": async ({ body, signal, send }) => {
      const question = { ...(body as unknown as FeatureQuestion), signal };
      await followRoute(service, question, (event) => send({ type: "event", event: event as unknown as Json }));
      return null;
    },
  };
}

/** A route of a feature, asked by an operator: whoever has the control socket. */
interface RouteQuestion extends FeatureQuestion {
  readonly signal: AbortSignal;
}

/**
 * What it answers. Throws what it throws; NOT_CONFIGURED, saying what to do, where the feature is not in the build or is off;
 * FEATURE_DOWN where it failed; USAGE for what does not fit the route's schemas.
 */
async function askRoute(service: Service, question: RouteQuestion): Promise<Json> {
  const { route } = findRoute(service, question);
  return (await route.handle(requestOf(route, question))).body;
}

/** Its events as they come. Resolves when there are no more. Throws as `askRoute`, and NOT_FOUND for a route that does not stream. */
async function followRoute(
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
