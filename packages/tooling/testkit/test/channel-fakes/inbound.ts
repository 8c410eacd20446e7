/** What somebody wrote, however it came in. */
import type { Inbound } from "@svc/contract";
import * as v from "valibot";

const word = v.pipe(v.string(), v.trim(), v.nonEmpty(), v.maxLength(200));

export const UPDATE = v.object({
  id: word,
  text: v.pipe(v.string(), v.trim(), v.nonEmpty()),
  from: word,
  room: word,
  atMs: v.pipe(v.number(), v.minValue(0), v.maxValue(8.64e15)),
  button: v.optional(v.string()),
});

export function inboundOf(update: v.InferOutput<typeof UPDATE>, mayWrite: (sender: string) => boolean): Inbound[] {
  const { id, text, from, room, atMs, button } = update;
  if (from === "bot" || !mayWrite(from)) return [];
  const [, prompt, answer] = /^([a-z0-9-]{1,32}) (yes|no)$/.exec(button ?? "") ?? [];
  const choice = prompt !== undefined && { choice: { prompt, approved: answer === "yes" } };
  const said = { id, text, sender: from, conversation: { channel: "chat", id: room }, sentAtMs: atMs };
  return [{ ...said, ...choice }];
}
