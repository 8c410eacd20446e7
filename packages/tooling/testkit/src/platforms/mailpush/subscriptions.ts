/** Pub/Sub's subscriptions, as far as the set-up goes. */
import type { Json } from "@svc/contract";
import type { PlatformReply, PlatformRequest } from "../base.ts";
import { ok, refused } from "./errors.ts";

export interface Subscription {
  readonly topic: string;
  readonly pushConfig: Json;
}

export interface Subscriptions {
  readonly all: ReadonlyMap<string, Subscription>;
  /** Below /v1/. */
  answer(path: string, request: PlatformRequest): PlatformReply;
}

export function createSubscriptions(topics: readonly string[], mayManage: boolean): Subscriptions {
  const all = new Map<string, Subscription>();
  return {
    all,
    answer(path, { method, json }) {
      if (!mayManage) return refused(403, "forbidden", "Request had insufficient authentication scopes.");
      const [name = "", action] = path.split(":");
      const { topic = "", pushConfig = {} } = (json ?? {}) as Partial<Subscription>;
      if (method === "PUT") {
        if (!/^projects\/[^/]+\/subscriptions\/[A-Za-z][\w.~+%-]{2,254}$/.test(name)) return refused(400, "invalid");
        if (!topics.includes(topic)) return refused(404, "notFound", "Resource not found");
        if (!isHttps(pushConfig)) return refused(400, "invalid", "Invalid push endpoint");
        if (all.has(name)) return refused(409, "alreadyExists");
        all.set(name, { topic, pushConfig });
        return ok({ name, ...(json as Record<string, Json>), state: "ACTIVE" });
      }
      const there = all.get(name);
      if (there === undefined) return refused(404, "notFound");
      if (method === "GET") return ok({ name, ...there });
      if (method !== "POST" || action !== "modifyPushConfig" || !isHttps(pushConfig)) return refused(400, "invalid");
      all.set(name, { ...there, pushConfig });
      return ok({});
    },
  };
}

const isHttps = (pushConfig: Json): boolean =>
  String((pushConfig as { pushEndpoint?: unknown } | null)?.pushEndpoint).startsWith("https://");
