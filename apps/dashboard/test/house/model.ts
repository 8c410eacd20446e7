/** What the fake model says: enough for a conversation, a call that must be asked about, and answers that come too late. */
import type { ModelRequest, ModelStep } from "@svc/testkit";

const KNOWN: readonly (readonly [asked: string, answer: string])[] = [
  ["Are you open on Saturday", "Yes, from ten to four. Shall I keep a slot for you?"],
  ["The invoice of last month", "Of course. It is on its way again, this time with the address."],
  ["Is the blue one back in stock", "Three of them came in this morning."],
  ["What is on today", "The stand-up at ten, and the release of 1.4 in the afternoon."],
  ["Sum up the last three tickets", "A slow search, a wrong date on an invoice, and a request for a dark theme."],
  ["Read the notes", "The search is three times as fast, and there is a dark theme."],
  ["Tell the team", "Release 1.4 is out: a faster search and a dark theme. Thank you all."],
];

export function answers({ body }: ModelRequest): ModelStep {
  const messages = (body["messages"] ?? []) as readonly { readonly role: string; readonly content: unknown }[];
  const last = messages.at(-1);
  const text = textOf(last?.content);
  if (last?.role === "tool") return { text: "There are three files, and none of them is large." };
  if (text.includes("which files")) {
    return { text: "Let me look.", calls: [{ name: "shell", input: { command: "ls" } }] };
  }
  if (text.includes("never answer")) return { fault: "hang" };
  const known = KNOWN.find(([asked]) => text.includes(asked));
  if (known) return { text: known[1] };
  return { text: `You said: ${text}` };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return (content as readonly { readonly text?: string }[]).map(({ text = "" }) => text).join(" ");
}
