/** Routes of features, asked by an operator; by them, the passkeys of every device for `svc passkeys`. */
import type { PasskeyLine } from "@svc/api/control";
import {
  type FeatureQuestion,
  type Json,
  type Route,
  type RouteEvent,
  type RouteRequest,
  SvcError,
} from "@svc/contract";
import * as v from "valibot";
import type { Handlers } from "../control.ts";
import type { Service } from "../service.ts";
import { byPrefix } from "./input.ts";
import { featurePathsOf } from "../features.ts";

const CREDENTIALS = "/api/webauthn/credentials";
const CREDENTIAL = "/api/webauthn/credentials/{id}";

type Names = "passkeys" | "passkey-rename" | "passkey-remove";

export function passkeyHandlers(service: Service): Pick<Handlers, Names> {
  const list = async (signal: AbortSignal, userId?: string): Promise<readonly PasskeyLine[]> => {
    const query = userId === undefined ? {} : { user_id: userId };
    const answer = await askRoute(service, { method: "GET", path: CREDENTIALS, query, signal });
    const { credentials } = v.parse(v.object({ credentials: v.array(await credentialSchema()) }), answer);
    return credentials.map(({ client_id: clientId, ...credential }) => {
      const device = service.store.devices.all().find((one) => one.clientId === clientId);
      return { ...credential, device: device === undefined ? null : { id: device.id, name: device.name } };
    });
  };
  const find = async (id: string, signal: AbortSignal): Promise<PasskeyLine> =>
    byPrefix(await list(signal), id, "PASSKEY_UNKNOWN", ({ name }) => name);

  return {
    passkeys: async ({ body, signal }) => ({ passkeys: await list(signal, body.user_id) }),
    "passkey-rename": async ({ body: { id: given, name }, signal }) => {
      const { id, device } = await find(given, signal);
      const question = { path: `${CREDENTIAL}/name`, params: { id }, body: { name }, signal };
      const renamed = await askRoute(service, { method: "PUT", ...question });
      return { ...v.parse(await credentialSchema(), renamed), device };
    },
    "passkey-remove": async ({ body, signal }) => {
      const passkey = await find(body.id, signal);
      const { id, user_id: userId } = passkey;
      await askRoute(service, { method: "DELETE", path: CREDENTIAL, params: { id }, signal });
      const left = (await list(signal)).filter((other) => other.user_id === userId).length;
      return { ...passkey, left_of_user: left };
    },
  };
}

/** As the feature tells it to an operator: the device is named by its ClientId, which stays inside. */
const credentialSchema = async () => v.omit((await import("@svc/api/control")).PasskeyLine, ["device"]);

export function featureRouteHandlers(service: Service): Pick<Handlers, "feature-route" | "feature-stream"> {
  return {
    "feature-route": ({ body, signal }) => askRoute(service, { ...body, signal }),
    "feature-stream": async ({ body, signal, send }) => {
      await followRoute(service, { ...body, signal }, (event) => send({ type: "event", event }));
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
