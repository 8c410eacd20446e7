import type { ComponentChildren } from "preact";
import type { Message as Kept, ToolCall } from "../../api/shapes.ts";
import { Badge } from "../../parts/badge.tsx";
import { Json } from "../../parts/json.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { Prose } from "../../parts/name.tsx";
import { Ago } from "../../parts/time.tsx";
import type { LivePart, LiveTurn } from "./live-turns.ts";

export function Message({ message: { role, text, at, calls } }: { readonly message: Kept }) {
  return (
    <Bubble role={role} aside={<Ago at={at} />}>
      {calls.map((call) => (
        <Call key={call.call_id} call={call} />
      ))}
      {text === "" ? null : role === "user" ? <Prose>{text}</Prose> : <Markdown text={text} />}
    </Bubble>
  );
}

interface BubbleProps {
  readonly role: Kept["role"];
  readonly aside: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Bubble({ role, aside, children }: BubbleProps) {
  return (
    <li class={`bubble ${role}`}>
      <p class="bubble-head">
        <strong>{role === "user" ? "Person" : "Agent"}</strong> <span class="hint">{aside}</span>
      </p>
      {children}
    </li>
  );
}

function Call({ call: { tool, ok, input, output } }: { readonly call: ToolCall }) {
  return (
    <div class="call">
      <Badge state={ok ? "done" : "failed"} /> <code>{tool}</code>
      <Json label="Input and output" value={{ input, output }} />
    </div>
  );
}

/** An answer that is being given. */
export function Answering({ turn: { parts } }: { readonly turn: LiveTurn }) {
  return (
    <Bubble role="assistant" aside={<span class="working">answers</span>}>
      {parts.map((part, index) =>
        part.kind === "text" ? <Markdown key={index} text={part.text} /> : <LiveCall key={index} call={part} />,
      )}
    </Bubble>
  );
}

function LiveCall({ call: { tool, ok } }: { readonly call: Extract<LivePart, { kind: "call" }> }) {
  const state = ok === undefined ? "works" : ok ? "done" : "failed";
  return (
    <p class="call">
      <Badge state={state} busy={ok === undefined} /> <code>{tool}</code>
    </p>
  );
}
