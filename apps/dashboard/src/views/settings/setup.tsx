/** What a new service still needs, in order: each step says whether it is done, and leads to where it is done. */
import type { Channel, Status } from "../../api/shapes.ts";
import { Command } from "../../parts/empty.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Shown } from "../../parts/shown.tsx";
import { hrefOf } from "../../route/route.ts";
import { useList } from "../../state/use-reader.ts";

interface Step {
  readonly title: string;
  /** Undefined: the page can't know. */
  readonly isDone: boolean | undefined;
  readonly text: string;
  readonly href?: string;
  readonly action?: string;
  readonly command?: string;
}

export function Setup() {
  const status = useList<Status>("/api/status", ["status"]);
  return (
    <>
      <Heading title="Set up" />
      <Shown read={status}>{(shown) => <Steps steps={stepsOf(shown)} />}</Shown>
    </>
  );
}

function Steps({ steps }: { readonly steps: readonly Step[] }) {
  const next = steps.find(({ isDone }) => isDone === false)?.title;
  return (
    <ol class="checklist">
      {steps.map(({ title, isDone, text, href, action, command }) => (
        <li key={title} class={isDone ? "done" : "open"}>
          <div>
            <h2>
              {title}{" "}
              {isDone !== undefined && (
                <span class={isDone ? "badge good" : "badge wait"}>{isDone ? "done" : "to do"}</span>
              )}
            </h2>
            <p class="hint">{text}</p>
            {command !== undefined && <Command>{command}</Command>}
          </div>
          {href !== undefined && (
            <a class={title === next ? "button main" : "button"} href={href}>
              {action}
            </a>
          )}
        </li>
      ))}
    </ol>
  );
}

function stepsOf({ model, channels, sandbox }: Status): Step[] {
  const isEcho = model.provider === "builtin";
  const isUp = (channel: Channel): boolean => channel.state === "running" && channel.reason === null;
  return [
    {
      title: "Connect a model",
      isDone: !isEcho,
      text: isEcho ? "Only the built-in echo answers: it repeats what it is told." : `${model.name} answers.`,
      href: hrefOf("model"),
      action: isEcho ? "Connect a model" : "Change",
    },
    {
      title: "Connect a channel",
      isDone: channels.some(isUp),
      text:
        channels.length === 0
          ? "Until then the agent is in this page only."
          : `${channels.map(({ id }) => id).join(", ")}.`,
      href: hrefOf("channels"),
      action: "Channels",
    },
    {
      title: "Try a tool",
      isDone: undefined,
      text: "Ask the agent to write a note. The call shows up in the conversation, and asks first where the policy says so.",
      href: hrefOf("chat"),
      action: "New chat",
    },
    {
      title: "Turn on a sandbox",
      isDone: sandbox.confined,
      text: sandbox.summary,
      href: hrefOf("settings", "security.sandbox"),
      action: "Sandbox",
      ...(sandbox.fix !== null && { command: sandbox.fix }),
    },
    {
      title: "Start with the machine",
      isDone: undefined,
      text: "Installed as a service of the system, it starts again after a restart of the machine.",
      command: "svc service install",
    },
    {
      title: "Back up",
      isDone: undefined,
      text: "One file holds conversations, settings and keys. Keep it on another machine.",
      command: "svc backup",
    },
  ];
}
