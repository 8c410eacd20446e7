/** What a route is, as data: /openapi.json is made of it, and what comes in is checked by the same schemas. */
import type { ErrorCode, RouteDoc } from "@svc/contract";
import type { GenericSchema } from "valibot";
import type { Need } from "../auth/authenticator.ts";

export interface RouteSpec extends Omit<RouteDoc, "answers"> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Literal, but for segments `{name}`. */
  readonly path: string;
  /** Everybody, everybody who presents nothing wrong, programs on this machine, or whose bearer it takes. */
  readonly access: "public" | "open" | "local" | Need;
  /** What the summary has no room for. */
  readonly details?: string;
  readonly params?: Strings;
  readonly headers?: Strings;
  /** The body is no JSON but bytes: which. */
  readonly bytes?: string;
  /** A body may be missing. */
  readonly bodyOptional?: true;
  /** By status, below 400. */
  readonly answers: Readonly<Record<number, AnswerSpec>>;
}

/** Schemas of strings by name, `v.optional` where one may be missing. */
export type Strings = Readonly<Record<string, GenericSchema>>;

export interface AnswerSpec {
  readonly description: string;
  /** Without one the answer has no body. */
  readonly body?: GenericSchema;
  /** Of a body that is not JSON. */
  readonly type?: string;
  /** Others that it may have. */
  readonly moreTypes?: readonly string[];
  readonly headers?: Strings;
}

/** Too many who have proved nothing send something at the same time. */
const BUSY = ["BUSY"] as const;

/** Every code the route can answer with: its own, and those that come with what it is. */
export function errorsOf(spec: RouteSpec): ErrorCode[] {
  const codes = new Set<ErrorCode>(spec.errors);
  const add = (...more: ErrorCode[]): void => more.forEach((code) => codes.add(code));
  // /health answers whoever asks, whatever Host they name.
  if (spec.path !== "/health") add("BAD_REQUEST", "BAD_HOST", "BAD_ORIGIN");
  if (spec.access === "local") add("NOT_LOCAL");
  else if (spec.access === "open") add("UNAUTHORIZED", "RATE_LIMITED", "LOCKED_OUT", ...(spec.body ? BUSY : []));
  else if (spec.access !== "public") add("UNAUTHORIZED", "FORBIDDEN_SCOPE", "LOCKED_OUT");
  if (spec.method !== "GET") add("DRAINING");
  if (spec.body) add("BAD_CONTENT_TYPE", "TOO_LARGE", "BAD_JSON");
  if (spec.path.startsWith("/api/")) add("INTERNAL");
  return [...codes];
}
