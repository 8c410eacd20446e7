/** Conversations as years leave them, and a model that answers at a pace. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { ClientId } from "@svc/contract";
import { systemClock } from "@svc/kit/system-clock";
import { openStore, type SessionPlace } from "@svc/store";

const CONVERSATIONS = 10_000;
/** Of a question and an answer each. */
const TURNS_EACH = 5;
const LONG_TURNS = 250;
/** Title of the conversation of 500 messages. */
export const LONG = "The long conversation";

const TOPICS = ["invoice", "backup", "garden", "printer", "holiday", "boiler", "recipe", "router"] as const;
const OWNER = "bench" as ClientId;
const DAY_MS = 86_400_000;

/** Writes 100 000 messages and one long conversation into the home of a daemon that does not run. */
export async function seedConversations(home: string): Promise<void> {
  const file = join(home, "state", "svc.db");
  const store = openStore({ file, clock: systemClock, idempotency: { ttlMs: 300_000, maxKeys: 100 } });
  const nowMs = systemClock.now();
  const add = (n: number, turns: number, title?: string): void => {
    let place: SessionPlace | undefined;
    for (let turn = 0; turn < turns; turn += 1) {
      const topic = TOPICS[(n + turn) % TOPICS.length]!;
      const asked = `What about the ${topic} number ${n} of ${turn}?`;
      const said = `The ${topic} is **settled**: it was paid on Monday, and \`${topic}-${n}\` is closed.\n\n- one\n- two\n`;
      const messages = [
        { role: "user", content: [{ type: "text", text: asked }] },
        { role: "assistant", content: [{ type: "text", text: said }] },
      ];
      const at = nowMs - (CONVERSATIONS - n) * 60_000 - DAY_MS + turn;
      const used = { tokens: 60, inputTokens: 30, outputTokens: 30, costUsd: 0 };
      const id = `t-${n}-${turn}`;
      const named = { id: `c-${n}`, clientId: OWNER, name: `c-${n}` };
      place = store.sessions.append(named, place, { id, at, model: "m", messages, ...used, ...(title && { title }) });
    }
  };
  for (let from = 0; from < CONVERSATIONS; from += 500) {
    await store.write(() => {
      for (let n = from; n < from + 500; n += 1) add(n, TURNS_EACH);
    });
  }
  await store.write(() => add(CONVERSATIONS, LONG_TURNS, LONG));
  store.close();
}

interface PacedModel {
  readonly url: string;
  close(): void;
}

/** `pieces`: of each answer. `perSecond`: undefined: as fast as they are taken. */
export async function pacedModel(
  pace: () => { readonly pieces: number; readonly perSecond?: number },
): Promise<PacedModel> {
  const server = createServer((request, response) => {
    request.resume();
    const { pieces, perSecond } = pace();
    response.writeHead(200, { "content-type": "text/event-stream" });
    let sent = 0;
    const chunk = (delta: object, reason: string | null = null): string =>
      `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
    const send = (count: number): boolean => {
      let text = "";
      for (const end = Math.min(pieces, sent + count); sent < end; sent += 1) {
        text += chunk({ content: sent % 40 === 39 ? "end.\n\n" : sent % 13 === 5 ? "**bold** " : "word " });
      }
      if (sent < pieces) return response.write(text);
      clearInterval(timer);
      response.end(`${text}${chunk({}, "stop")}data: [DONE]\n\n`);
      return false;
    };
    let timer: ReturnType<typeof setInterval> | undefined;
    if (perSecond !== undefined) timer = setInterval(() => send(perSecond / 50), 20);
    else {
      const fill = (): void => {
        while (send(200));
      };
      response.on("drain", () => sent < pieces && fill());
      fill();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
