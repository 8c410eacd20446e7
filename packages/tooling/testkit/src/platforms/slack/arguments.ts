/**
 * What a method is asked with: a form, in which lists and objects are JSON, or JSON.
 * https://docs.slack.dev/apis/web-api/#basics
 */
import type { Json } from "@svc/contract";
import type { PlatformRequest } from "../base.ts";
import { badArguments, SlackRefusal } from "./refusal.ts";

/** Reads arguments by name; each throws the refusal that the platform would answer. */
export interface Arguments {
  /** Undefined if it is missing or blank. */
  text(name: string): string | undefined;
  /** Throws `missing` for a missing argument. */
  needed(name: string, missing?: string): string;
  flag(name: string, standard: boolean): boolean;
  whole(name: string, standard: number, least: number, most: number): number;
  /** A list or an object. */
  json(name: string): Json | undefined;
  /** As it is, blank too. */
  raw(name: string): string | undefined;
}

/** `allowed`: a name that the method does not document is a mistake of ours that the platform would not tell. */
export function argumentsOf(request: PlatformRequest, allowed: readonly string[]): Arguments {
  const given = valuesOf(request);
  for (const name of given.keys()) {
    if (name !== "token" && !allowed.includes(name)) throw badArguments(`no such argument: ${name}`);
  }
  const raw = (name: string): string | undefined => given.get(name);
  const text = (name: string): string | undefined => raw(name) || undefined;
  return {
    raw,
    text,
    needed(name, missing) {
      const value = text(name);
      if (value !== undefined) return value;
      throw missing === undefined ? badArguments(`missing required field: ${name}`) : new SlackRefusal(missing);
    },
    flag(name, standard) {
      const value = text(name);
      if (value !== undefined && !["true", "false", "1", "0"].includes(value))
        throw badArguments(`${name} is no boolean`);
      return value === undefined ? standard : value === "true" || value === "1";
    },
    whole(name, standard, least, most) {
      const value = text(name) ?? String(standard);
      const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
      if (!(number >= least && number <= most)) throw badArguments(`${name} is out of range`);
      return number;
    },
    json(name) {
      const value = text(name);
      if (value === undefined) return undefined;
      try {
        return JSON.parse(value) as Json;
      } catch {
        throw badArguments(`${name} is no JSON`);
      }
    },
  };
}

function valuesOf({ method, query, headers, body, json }: PlatformRequest): Map<string, string> {
  if (method === "GET") return new Map(query);
  const type = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (type === "application/x-www-form-urlencoded") return new Map(new URLSearchParams(Buffer.from(body).toString()));
  if (type !== "application/json")
    throw new SlackRefusal(body.length === 0 ? "missing_post_type" : "invalid_post_type");
  if (json === undefined) throw new SlackRefusal("invalid_json");
  if (typeof json !== "object" || json === null || Array.isArray(json)) throw new SlackRefusal("json_not_object");
  return new Map(
    Object.entries(json).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}

/** The credential: a header, or, where a method takes it so, an argument. */
export function tokenOf(request: PlatformRequest): { token: string | undefined; isHeader: boolean } {
  const header = /^Bearer (\S+)$/.exec(request.headers["authorization"] ?? "")?.[1];
  if (header !== undefined) return { token: header, isHeader: true };
  const isForm = request.headers["content-type"]?.startsWith("application/x-www-form-urlencoded") === true;
  const form = new URLSearchParams(isForm ? Buffer.from(request.body).toString() : "");
  return { token: form.get("token") ?? request.query.get("token") ?? undefined, isHeader: false };
}
