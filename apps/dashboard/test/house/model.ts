/** What the fake model says: enough for a conversation, a call that must be asked about, and answers that come too late. */
import type { ModelRequest } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";

const KNOWN: readonly (readonly [asked: string, answer: string])[] = [
  ["Are you open on Saturday", "Yes, from ten to four. Shall I keep a slot for you?"],
  ["The invoice of last month", "Of course. It is on its way again, this time with the address."],
  ["Is the blue one back in stock", "Three of them came in this morning."],
  ["What is on today", "The stand-up at ten, and the release of 1.4 in the afternoon."],
  ["Sum up the last three tickets", "A slow search, a wrong date on an invoice, and a request for a dark theme."],
  ["Read the notes", "The search is three times as fast, and there is a dark theme."],
  ["Tell the team", "Release 1.4 is out: a faster search and a dark theme. Thank you all."],
];

/** All that Markdown has, and what must not become more than words. */
const EVERYTHING = `## Release 1.4

It is **out**, with *two* changes and ~~three~~ no open bugs. See [the notes](https://notes.example/1.4) or https://bank.example.

1. Faster search
2. A dark theme
   - on phones
   - on the desktop

- [x] tested
- [ ] announced

| Query | Before | After |
| ----- | -----: | ----: |
| one word | 900 ms | 300 ms |
| a phrase | 2 s | 0.7 s |

> Searching was never this fast.

\`\`\`ts
// Three times as fast.
export const search = (words: string): number => words.length * 3;
\`\`\`

\`\`\`sh
svc sessions list --limit 5 && echo "a line that is longer than any phone is wide, so that it has to scroll sideways"
\`\`\`

![a cat](https://pictures.example/cat.png) [https://bank.example](https://evil.example/login)

<img src=x onerror="window.hacked=1"> [click](javascript:window.hacked=1) <script>window.hacked=1</script>`;

const LONG = Array.from({ length: 60 }, (_, n) => `Paragraph ${n + 1} of the story.`).join("\n\n");

/** Of the test's provider; a server that echoes it must not show it to a page. */
export const KEY = "sk-planted-Zx81Qw7Lm204";

export function answers({ body }: ModelRequest): ModelStep {
  const messages = (body["messages"] ?? []) as readonly { readonly role: string; readonly content: unknown }[];
  const last = messages.at(-1);
  const text = textOf(last?.content);
  if (last?.role === "tool") return { text: "There are three files, and none of them is large." };
  if (text.includes("which files")) {
    return { text: "Let me look.", calls: [{ name: "shell", input: { command: "ls" } }] };
  }
  if (text.includes("list my workspace")) return { calls: [{ name: "file_list", input: {} }] };
  if (text.includes("with the wrong key"))
    return { status: 401, message: `Incorrect key ${KEY} <img src=x onerror=alert(1)>` };
  if (text.includes("while you are busy"))
    return { status: 429, message: "slow down", headers: { "retry-after": "30" } };
  if (text.includes("while you are broken")) return { status: 500, message: "the model <b>fell over</b>" };
  if (text.includes("never answer")) return { fault: "hang" };
  if (text.includes("exactly where it broke off")) return { text: "and the second half." };
  if (text.includes("only half"))
    return { text: "This is the first half and then some more", midway: () => new Promise(() => {}) };
  if (text.includes("a long story")) return { text: LONG };
  if (text.includes("begin and hang"))
    return { text: "This much is said.", calls: [{ name: "shell", input: { command: "ls" } }] };
  if (text.includes("Show everything")) return { text: EVERYTHING };
  const known = KNOWN.find(([asked]) => text.includes(asked));
  if (known) return { text: known[1] };
  return { text: `You said: ${text}` };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return (content as readonly { readonly text?: string }[]).map(({ text = "" }) => text).join(" ");
}
