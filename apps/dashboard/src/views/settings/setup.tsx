/** The set-up steps of a new service: whether each is done, and a link to its view. */
import type { SetupReport, StatusReport } from "@svc/api";
import type { ComponentChildren } from "preact";
import { Button, CopyButton } from "../../components/button.tsx";
import { Command, Heading } from "../../components/layout.tsx";
import { Problem, Shown } from "../../components/shown.tsx";
import { Name } from "../../components/text.tsx";
import { Ago } from "../../components/values.tsx";
import { useServices } from "../../services.ts";
import { hrefOf } from "../../state/route.ts";
import { useAction } from "../../state/use-action.ts";
import { useList } from "../../state/use-reader.ts";
import { bytes } from "../../texts/format.ts";
import { t, wordOf } from "../../texts/texts.ts";

interface Step {
  readonly title: string;
  readonly isDone: boolean;
  readonly text: string;
  readonly href?: string;
  readonly action?: string;
  readonly command?: string;
}

export function Setup() {
  const status = useList<StatusReport>("/api/status", ["status"]);
  const done = useList<SetupReport>("/api/setup", ["status"]);
  return (
    <>
      <Heading title={t("common.set-up")} />
      <Shown read={status}>
        {(shown) => (
          <Shown read={done}>
            {(steps) => (
              <Steps steps={stepsOf(shown, steps)}>
                <BackUp backup={steps.backup} onDone={() => void done.refresh()} />
              </Steps>
            )}
          </Shown>
        )}
      </Shown>
    </>
  );
}

function BackUp({ backup, onDone }: { readonly backup: SetupReport["backup"]; readonly onDone: () => void }) {
  const { api } = useServices();
  const make = useAction(async () => {
    await api.call("/api/backups", { method: "POST", body: {} });
    onDone();
  });
  return (
    <li class={backup === null ? "open" : "done"}>
      <div>
        <h2>
          {t("setup.back-up")} <State isDone={backup !== null} />
        </h2>
        <p class="hint">{t("setup.one-file-holds-conversations-settings")}</p>
        {backup !== null && (
          <p class="hint">
            <code>
              <Name>{backup.file}</Name>
            </code>
            , {bytes(backup.bytes)}, <Ago at={backup.at} />
          </p>
        )}
        <Problem error={make.error} />
      </div>
      <Button busy={make.isRunning} onPress={() => void make.run()}>
        {t("setup.back-up-now")}
      </Button>
    </li>
  );
}

const State = ({ isDone }: { readonly isDone: boolean }) => (
  <span class={isDone ? "badge good" : "badge wait"}>{isDone ? t("setup.done") : t("setup.to-do")}</span>
);

function Steps({ steps, children }: { readonly steps: readonly Step[]; readonly children: ComponentChildren }) {
  const next = steps.find(({ isDone }) => !isDone)?.title;
  return (
    <ol class="checklist">
      {steps.map(({ title, isDone, text, href, action, command }) => (
        <li key={title} class={isDone ? "done" : "open"}>
          <div>
            <h2>
              {title} <State isDone={isDone} />
            </h2>
            <p class="hint">{text}</p>
            {command !== undefined && (
              <p>
                <Command>{command}</Command> <CopyButton text={command}>{t("common.copy")}</CopyButton>
              </p>
            )}
          </div>
          {href !== undefined && (
            <a class={title === next ? "button main" : "button"} href={href}>
              {action}
            </a>
          )}
        </li>
      ))}
      {children}
    </ol>
  );
}

function stepsOf({ model, channels, sandbox }: StatusReport, done: SetupReport): Step[] {
  return [
    {
      title: t("common.connect-a-model"),
      isDone: done.model,
      text: done.model ? `${model.provider} / ${model.name}` : t("setup.only-the-built-in-echo"),
      href: hrefOf("model"),
      action: done.model ? t("common.change") : t("common.connect-a-model"),
    },
    {
      title: t("setup.connect-a-channel"),
      isDone: done.channel,
      text:
        channels.length === 0
          ? t("setup.until-then-you-reach-the")
          : channels.map(({ id, state }) => `${id}: ${wordOf(state)}`).join(" · "),
      href: hrefOf("channels"),
      action: t("common.channels"),
    },
    {
      title: t("setup.try-a-tool"),
      isDone: done.tool,
      text: t("setup.ask-the-agent-to-write"),
      href: hrefOf("chat"),
      action: t("common.new-chat"),
    },
    {
      title: t("setup.turn-on-a-sandbox"),
      isDone: done.sandbox,
      text: done.sandbox ? t("setup.commands-run-in", { name: sandbox.effective }) : sandbox.summary,
      href: hrefOf("settings", "security.sandbox"),
      action: t("common.sandbox"),
      ...(sandbox.fix !== null && !done.sandbox && { command: sandbox.fix }),
    },
    {
      title: t("setup.start-with-the-machine"),
      isDone: done.service === "installed",
      text:
        done.service === "unsupported"
          ? t("setup.let-the-systems-own-scheduler")
          : t("setup.installed-as-a-service-of"),
      ...(done.service !== "installed" && {
        command: done.service === "unsupported" ? "svc daemon" : "svc service install",
      }),
    },
  ];
}
