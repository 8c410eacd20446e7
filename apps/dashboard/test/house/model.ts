/** What the fake model says: enough for a conversation, a call that must be asked about, and answers that come too late. */
import type { ModelRequest, ModelStep } from "@svc/testkit";

export function answers({ body }: ModelRequest): ModelStep {
  const messages = (body["messages"] ?? []) as readonly { readonly role: string; readonly content: unknown }[];
  const last = messages.at(-1);
  const text = textOf(last?.content);
  if (last?.role === "tool") return { text: "There are three files, and none of them is large." };
  if (text.includes("which files")) {
    return { text: "Let me look.", calls: [{ name: "shell", input: { command: "ls" } }] };
  }
  if (text.includes("never answer")) return { fault: "hang" };
  return { text: `You said: ${text}` };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return (content as readonly { readonly text?: string }[]).map(({ text = "" }) => text).join(" ");
}
