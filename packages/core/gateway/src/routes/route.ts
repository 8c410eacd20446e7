/** A route: its spec, from which /openapi.json is generated and input is validated; its handler; its parameters and body. */
import type { HttpBindings } from "@hono/node-server";
import { DEFAULT_LIMIT, type Output, type ParameterSchemas, type ParametersOutput } from "@svc/api";
import { type ErrorCode, type Json, type RouteDoc, SvcError } from "@svc/contract";
import { parseJson } from "@svc/kit";
import type { Device } from "@svc/store";
import * as v from "valibot";
import type { GenericSchema } from "valibot";
import type { Need, Principal } from "../auth/authenticator.ts";
import { MEMORY_FULL, type MemoryBudget, readBody, refuseContentType } from "../http/request.ts";
import { errorReply, jsonReply, Reply } from "../http/reply.ts";
import type { Handle } from "../pipeline.ts";

export interface RouteSpec extends Omit<RouteDoc, "answers"> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Literal, except for segments `{name}`. */
  readonly path: string;
  /** Every caller, every caller without wrong credentials, programs on this machine, or the scope a token needs. */
  readonly access: "public" | "open" | "local" | Need;
  /** What the summary has no room for. */
  readonly details?: string;
  readonly params?: ParameterSchemas;
  readonly headers?: ParameterSchemas;
  /** The body is no JSON but bytes: which. */
  readonly bytes?: string;
  /** A body may be missing. */
  readonly bodyOptional?: true;
  /** By status, below 400. */
  readonly answers: Readonly<Record<number, AnswerSpec>>;
}

export interface AnswerSpec {
  readonly description: string;
  /** Without one the answer has no body. */
  readonly body?: GenericSchema;
  /** The content type of a body that is not JSON. */
  readonly type?: string;
  /** Other content types of the body. */
  readonly moreTypes?: readonly string[];
  readonly headers?: ParameterSchemas;
}

/** Too many unauthenticated callers send a body at the same time. */
const BUSY = ["BUSY"] as const;

/** Every code the route can answer with: its own, and those of its access, method and body. */
export function errorsOf(spec: RouteSpec): ErrorCode[] {
  const codes = new Set<ErrorCode>(spec.errors);
  const add = (...more: ErrorCode[]): void => more.forEach((code) => codes.add(code));
  // /health answers every caller, with any Host.
  if (spec.path !== "/health") add("BAD_REQUEST", "BAD_HOST", "BAD_ORIGIN");
  if (spec.access === "local") add("NOT_LOCAL");
  else if (spec.access === "open") add("UNAUTHORIZED", "RATE_LIMITED", "LOCKED_OUT", ...(spec.body ? BUSY : []));
  else if (spec.access !== "public") add("UNAUTHORIZED", "FORBIDDEN_SCOPE", "LOCKED_OUT");
  if (spec.method !== "GET") add("DRAINING");
  if (spec.body) add("BAD_CONTENT_TYPE", "TOO_LARGE", "BAD_JSON");
  if (spec.path.startsWith("/api/")) add("INTERNAL");
  return [...codes];
}

/** A route that is answered on the raw response, without hono. */
export interface OwnRoute extends RouteSpec {
  readonly handle: Handle;
}

export interface ApiRoute extends RouteSpec {
  readonly access: Need;
  /** Throws `SvcError` for what the caller did wrong. */
  handle(request: ApiRequest): Reply | Promise<Reply>;
}

/** A route of a feature, which may be public. */
export interface AnyRoute extends RouteSpec {
  readonly access: Need | "open";
  /** False: every caller gets 503. */
  isUp(): boolean;
  /** Undefined: it has answered by itself. Throws `SvcError` for what the caller did wrong. */
  handle(request: AnyRequest): Promise<Reply | undefined>;
}

export interface ApiRequest<Query = Fields> extends AnyRequest<Query> {
  readonly device: Device;
  /** Streams opened by the request end with its principal. */
  readonly principal: Principal;
}

/** What the schemas of `query` make of the parameters they name. */
export type Fields = Readonly<Record<string, unknown>>;

export interface AnyRequest<Query = Fields> {
  /** undefined: a stranger, on a route that is open. */
  readonly principal: Principal | undefined;
  /** By `{name}` of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** What the schemas make of the parameters they name. */
  readonly query: Query;
  readonly env: HttpBindings;
  /** From here on the device's revocation does not end this request. */
  release(): void;
}

/** A route as data: what the handler is added to. */
export type ApiSpec = Omit<ApiRoute, "handle">;

/** The spec with its handler, which gets the query as the spec's schemas make it. */
export const apiRoute = <const Spec extends ApiSpec>(
  spec: Spec,
  handle: (request: ApiRequest<QueryOf<Spec>>) => Reply | Promise<Reply>,
): ApiRoute => ({ ...spec, handle: (request) => handle(request as ApiRequest<QueryOf<Spec>>) });

type QueryOf<Spec extends ApiSpec> = Spec extends { readonly query: infer Query extends ParameterSchemas }
  ? ParametersOutput<Query>
  : Fields;

/** An answer of the route. A body that is not as its spec says does not compile. */
export const respond = <const Spec extends RouteSpec, const Status extends keyof Spec["answers"] & number>(
  _spec: Spec,
  status: Status,
  body: BodyOf<Spec["answers"][Status]> & object,
  extraHeaders?: readonly string[],
): Reply => jsonReply(status, body, extraHeaders);

type BodyOf<Answer> = Answer extends { readonly body: infer Body extends GenericSchema } ? Output<Body> : never;

// Query parameters.

/** What the schemas make of the parameters they name; others pass unread. Throws BAD_REQUEST. */
export function fieldsOf(schemas: ParameterSchemas | undefined, query: URLSearchParams): Fields {
  const fields: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(schemas ?? {})) {
    const sent = query.getAll(name);
    // A repeated field is refused: a proxy on the way may have read the other value.
    const parsed = v.safeParse(schema, sent.length > 1 ? sent : sent[0]);
    if (!parsed.success) throw new SvcError("BAD_REQUEST", `${name} must be ${descriptionOf(schema)}.`);
    fields[name] = parsed.output;
  }
  return fields;
}

/** Looks inside optional schemas, too. */
function descriptionOf(schema: v.GenericSchema): string {
  const text = v.getDescription(schema);
  if (text !== undefined) return text;
  return "wrapped" in schema ? descriptionOf(schema.wrapped as v.GenericSchema) : "as /openapi.json says";
}

export const limitOf = ({ limit }: { readonly limit: number | undefined }): number => limit ?? DEFAULT_LIMIT;

// Bodies of requests below `/api/`.

export interface BodyLimits {
  readonly maxBytes: number;
  /** Shared with others while the body comes in. */
  readonly memory: MemoryBudget;
}

/** All of it; empty without one. 415, 413, or 401 for a device that was shut out while it came in. */
export async function bodyBytes(
  { env: { incoming, outgoing } }: Pick<ApiRequest, "env">,
  { maxBytes, memory }: BodyLimits,
): Promise<Buffer | Reply> {
  const { headers } = incoming;
  const hasBody = headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
  const refused = hasBody ? refuseContentType(headers) : undefined;
  if (refused) return refused;
  const body = await readBody(incoming, outgoing, maxBytes, memory);
  if (body === "too-large") return errorReply("TOO_LARGE");
  if (body === "memory-full") return MEMORY_FULL;
  if (body === "gone") return errorReply("BAD_REQUEST");
  // It has its answer already, and must not have its way.
  return outgoing.headersSent ? errorReply("UNAUTHORIZED") : body;
}

/** What the schema makes of the parsed body. */
export async function jsonBody<Schema extends v.GenericSchema>(
  request: Pick<ApiRequest, "env">,
  schema: Schema,
  limits: BodyLimits,
): Promise<Output<Schema> | Reply> {
  const value = await anyBody(request, limits);
  if (value instanceof Reply) return value;
  const parsed = v.safeParse(schema, value, { abortEarly: true });
  // To valibot a list is an object too.
  const isList = Array.isArray(value) && "entries" in schema;
  return parsed.success && !isList ? (parsed.output as Output<Schema>) : BAD_BODY;
}

const BAD_BODY = errorReply("BAD_REQUEST", { message: "The body is not as /openapi.json says." });

/** The parsed body; null without one. */
export async function anyBody(request: Pick<ApiRequest, "env">, limits: BodyLimits): Promise<Json | Reply> {
  const body = await bodyBytes(request, limits);
  if (body instanceof Reply) return body;
  const value = body.length === 0 ? null : parseJson(body);
  return value === undefined ? errorReply("BAD_JSON") : value;
}
