/** Bodies of requests as the platform reads them, and how it refuses them. */
import type { Json } from "@svc/contract";
import type { PlatformRequest } from "../base.ts";

export type Fields = Readonly<Record<string, Json>>;

/** A message of ours that people see. */
export interface WorkchatSent {
  readonly id: string;
  readonly chat: string;
  readonly type: string;
  readonly text: string;
  /** Labels. */
  readonly buttons: readonly string[];
  readonly values: readonly Json[];
  /** The message that it replies to, and whether in a thread. */
  readonly replyTo?: string;
  readonly inThread: boolean;
}

/** The code for a parameter that is none. */
export const INVALID = 230001;

/** What it answers instead of what it was asked for. */
export class Refusal extends Error {
  readonly status: number;
  readonly more: Fields;
  readonly code: number;
  constructor(code: number, status = 400, more: Fields = {}) {
    super(`code ${code}`);
    this.code = code;
    this.status = status;
    this.more = more;
  }
}

/** The JSON of a body that has no other keys than these. */
export function bodyOf(json: Json | undefined, names: readonly string[]): Fields {
  if (typeof json !== "object" || json === null || Array.isArray(json)) throw new Refusal(INVALID);
  if (Object.keys(json).some((name) => !names.includes(name))) throw new Refusal(INVALID);
  return json as Fields;
}

export function formOf({ body, headers }: PlatformRequest): {
  readonly fields: Readonly<Record<string, string>>;
  readonly size: number;
} {
  const [, boundary] = /^multipart\/form-data; boundary=(\S+)$/.exec(headers["content-type"] ?? "") ?? [];
  if (boundary === undefined) throw new Refusal(234001);
  const fields: Record<string, string> = {};
  let size = 0;
  for (const part of Buffer.from(body).toString("latin1").split(`--${boundary}`).slice(1, -1)) {
    const at = part.indexOf("\r\n\r\n");
    const content = part.slice(at + 4, -2);
    const [, name = ""] = /name="([^"]*)"/.exec(part.slice(0, at)) ?? [];
    if (name === "image" || name === "file") size = content.length;
    else fields[name] = Buffer.from(content, "latin1").toString();
  }
  return { fields, size };
}

/** Reactions of the bot on these messages. `<message id> <emoji type>`, in order. */
export function reactionsOn(heard: ReadonlyMap<string, string>) {
  const reactions: string[] = [];
  const reactionsTakenBack: string[] = [];
  return {
    reactions,
    reactionsTakenBack,
    react({ json }: PlatformRequest, id: string): Json {
      const { emoji_type: emoji } = bodyOf(json, ["reaction_type"])["reaction_type"] as Fields;
      if (!heard.has(id)) throw new Refusal(231003);
      if (typeof emoji !== "string" || !/^[A-Z][A-Za-z0-9_]*$/.test(emoji)) throw new Refusal(231001);
      reactions.push(`${id} ${emoji}`);
      return { data: { reaction_id: `ZCaCIjUBVVWSrm${reactions.length - 1}`, reaction_type: { emoji_type: emoji } } };
    },
    takeBack(_request: PlatformRequest, id: string, reaction: string): Json {
      const known = reactions[Number(/^ZCaCIjUBVVWSrm(\d+)$/.exec(reaction)?.[1])];
      if (known?.startsWith(`${id} `) !== true || reactionsTakenBack.includes(known)) throw new Refusal(231007);
      reactionsTakenBack.push(known);
      return { data: { reaction_id: reaction } };
    },
  };
}
