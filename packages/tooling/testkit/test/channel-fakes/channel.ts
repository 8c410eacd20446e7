/** A channel that breaks no rule; the tests break one at a time. */
import {
  apiUrl,
  type Channel,
  type Contributions,
  type FeatureContext,
  type Ingress,
  secret,
  streamKeys,
  SvcError,
} from "@svc/contract";
import {
  asCheckFailure,
  downloadMedia,
  hmacSha256Hex,
  parseJson,
  platformCall,
  type PlatformCall,
  runChannel,
  senderGate,
  verifyHmacSha256,
} from "@svc/kit";
import * as v from "valibot";
import { inboundOf, UPDATE } from "./inbound.ts";
import { MAX_CHARS, MAX_LABEL_CHARS } from "./platform.ts";

export const config = v.strictObject({
  api_url: apiUrl("https://chat.example.org"),
  token: secret(),
  signing_secret: v.optional(secret()),
  allowed: v.array(v.string()),
  ...streamKeys(1000),
});

type Config = v.InferOutput<typeof config>;

export type Deps = { channel: Channel; ingress: Ingress } & Omit<Contributions, "channel" | "ingress">;
export type Context = FeatureContext<Config>;

export function soundParts(context: Context): Deps {
  const { config, clock, fetch, log } = context;
  const down = new AbortController();
  const authorization = { authorization: `Bearer ${config.token}` };
  const call = (path: string, caller: AbortSignal, more: Partial<PlatformCall> = {}) => {
    const signal = AbortSignal.any([caller, down.signal]);
    const headers = { ...authorization, ...more.headers };
    return platformCall(fetch, { url: `${config.api_url}${path}`, signal, nowMs: clock.now(), ...more, headers });
  };
  const check = async (signal: AbortSignal) => {
    const { json } = await call("/me", signal).catch(asCheckFailure);
    return v.parse(v.object({ name: v.string() }), json).name;
  };

  const send: Channel["send"] = async ({ conversation, text, deliveryId, files = [] }, signal) => {
    signal.throwIfAborted();
    const [file] = files;
    const uploaded = file && (await call("/files", signal, { body: await file.read() })).json;
    const fileId = v.is(ID, uploaded) ? uploaded.id : undefined;
    const json = { room: conversation.id, text, ...(fileId !== undefined && { file: fileId }) };
    const answer = await call("/messages", signal, { json, headers: { "idempotency-key": deliveryId } });
    return v.is(ID, answer.json) ? { platformId: answer.json.id } : {};
  };
  const channel: Channel = {
    text: { maxChars: MAX_CHARS },
    check,
    send,
    prompts: {
      async post(message, prompt, signal) {
        signal.throwIfAborted();
        const text = `${prompt.title}\n${prompt.message}`;
        const isLong = [prompt.approve, prompt.reject].some((label) => label.length > MAX_LABEL_CHARS);
        if (isLong || text.length > MAX_CHARS) return send(message, signal);
        const buttons = [
          { id: `${prompt.id} yes`, label: prompt.approve },
          { id: `${prompt.id} no`, label: prompt.reject },
        ];
        const json = { room: message.conversation.id, text, buttons };
        const answer = await call("/messages", signal, { json, headers: { "idempotency-key": message.deliveryId } });
        return v.is(ID, answer.json) ? { platformId: answer.json.id } : {};
      },
      async close({ platformId, text }, outcome, signal) {
        if (platformId === undefined) return;
        const json = { text: `${text}\n${outcome}` };
        await call(`/messages/${platformId}`, signal, { method: "PATCH", json });
      },
    },
    ...(config.stream_mode !== "off" && {
      drafts: {
        mode: config.stream_mode,
        intervalMs: () => config.draft_update_interval_ms,
        async edit({ platformId }, text, signal) {
          signal.throwIfAborted();
          if (!/^platform-\d+$/.test(platformId)) throw new SvcError("DELIVERY_REFUSED");
          // 409: it says so already.
          const json = { text, keepButtons: true };
          await call(`/messages/${platformId}`, signal, { method: "PATCH", json, answers: [409] });
        },
      },
    }),
    readMarks: {
      mark: async (_, id, signal) => void (await call(`/marks/${encodeURIComponent(id)}`, signal, { method: "PUT" })),
      clear: async (_, id, signal) =>
        void (await call(`/marks/${encodeURIComponent(id)}`, signal, { method: "DELETE" })),
    },
    typing: {
      lastsMs: 5000,
      start: async ({ id }, _, signal) => void (await call("/typing", signal, { json: { id } })),
    },
    media: {
      maxBytes: 1_000_000,
      sends: ["image"],
      fetch: ({ ref }, write, signal) => {
        if (!/^[0-9a-f-]{36}$/.test(ref)) throw new SvcError("MEDIA_REFUSED");
        const url = `${config.api_url}/files/${ref}`;
        return downloadMedia(fetch, {
          url,
          headers: authorization,
          maxBytes: 1_000_000,
          write,
          signal,
          nowMs: clock.now(),
        });
      },
    },
  };
  return {
    channel,
    ingress: ingressOf(config, senderGate({ allowed: config.allowed, mode: "exact", log, channel: "chat" })),
    run: (signal) => runChannel(check, log, signal),
    shutdown: async () => down.abort(new SvcError("DRAINING")),
  };
}

const ID = v.object({ id: v.pipe(v.string(), v.nonEmpty()) });

function ingressOf({ signing_secret: secret, allowed }: Config, mayWrite: (sender: string) => boolean): Ingress {
  return {
    path: "/fake-chat",
    methods: ["POST", "GET"],
    signed: secret !== undefined,
    verify({ headers, body, receivedAtMs }) {
      const refused = (why: string) => ({ ok: false, code: "BAD_SIGNATURE", why }) as const;
      if (secret === undefined) return { ok: true };
      const timestamp = headers["x-time"] ?? "";
      const header = headers["x-signature"];
      const isFresh = /^\d{1,12}$/.test(timestamp) && Math.abs(Number(timestamp) * 1000 - receivedAtMs) <= 300_000;
      if (!isFresh) return refused("stale");
      const isRight = verifyHmacSha256({ secret, parts: [timestamp, ".", body], header, prefix: "optional" });
      return isRight ? { ok: true, once: header?.toLowerCase() ?? "" } : refused("the signature does not fit");
    },
    parse({ method, body, query }) {
      if (method === "GET") {
        const challenge = query.get("hub.challenge");
        if (challenge === null) throw new SvcError("BAD_REQUEST");
        return { reply: { status: 200, contentType: "text/plain", body: challenge } };
      }
      const json = parseJson(body);
      if (json === undefined) throw new SvcError("BAD_JSON");
      return v.is(UPDATE, json) ? { inbound: inboundOf(json, mayWrite) } : {};
    },
    sample({ text, from = allowed[0] ?? "somebody", id, atMs }) {
      const body = Buffer.from(JSON.stringify({ id, text, from, room: "room-1", atMs }));
      const timestamp = String(Math.floor(atMs / 1000));
      const signed = secret === undefined ? {} : { "x-signature": hmacSha256Hex(secret, [timestamp, ".", body]) };
      return { method: "POST", query: "", headers: { "x-time": timestamp, ...signed }, body };
    },
  };
}
