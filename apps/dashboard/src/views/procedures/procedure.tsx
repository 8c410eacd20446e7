import type { Procedure as Defined, Procedures } from "../../api/governed-shapes.ts";
import { Facts } from "../../parts/facts.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { Name } from "../../parts/name.tsx";
import { Section } from "../../parts/section.tsx";
import { Shown } from "../../parts/shown.tsx";
import { hrefOf } from "../../route/route.ts";
import { useMayOperate } from "../../session/use-device.ts";
import { useList } from "../../state/use-reader.ts";
import { duration } from "../../text/time.ts";
import { Times } from "./calendar.tsx";
import { ProcedureActions } from "./procedure-actions.tsx";
import { RunByHand } from "./run-by-hand.tsx";
import { Runs } from "./runs.tsx";
import { TestRun } from "./test-run.tsx";
import { Triggers } from "./triggers.tsx";
import { rich, t, wordOf } from "../../texts/texts.ts";
import { ServiceText } from "../../parts/service-text.tsx";

export function Procedure({ id: name }: { readonly id: string }) {
  const procedures = useList<Procedures>("/api/sops", ["procedures"]);
  const mayOperate = useMayOperate();
  return (
    <>
      <Heading title={name} />
      <Shown read={procedures}>
        {({ sops, broken }) => {
          const found = sops.find((one) => one.name === name);
          if (found) return <Definition procedure={found} />;
          const wrong = broken.find((one) => one.name === name);
          return wrong ? (
            <Wrong name={name} problem={wrong.problem} />
          ) : (
            <p>{t("procedures.no-procedure-has-this-name")}</p>
          );
        }}
      </Shown>
      {mayOperate && (
        <Section title={t("common.runs")}>
          <Runs sop={name} />
        </Section>
      )}
      <p>
        <a href={hrefOf("procedures")}>{t("procedures.all-procedures")}</a>
      </p>
    </>
  );
}

function Wrong({ name, problem }: { readonly name: string; readonly problem: string }) {
  const mayOperate = useMayOperate();
  return (
    <div class="problem" role="alert">
      <p>{rich("procedures.its-files-are-wrong-so", { problem: <ServiceText>{problem}</ServiceText> })}</p>
      {mayOperate && (
        <div class="buttons">
          <a class="button" href={hrefOf("edit-procedure", name)}>
            {t("procedures.correct-them")}
          </a>
          <a class="button" href={hrefOf("procedure-changes", name)}>
            {t("common.saved-changes")}
          </a>
        </div>
      )}
    </div>
  );
}

function Definition({ procedure }: { readonly procedure: Defined }) {
  const mayOperate = useMayOperate();
  const { description, version, priority, execution_mode: mode, agent, steps, triggers, problem } = procedure;
  return (
    <>
      {problem === null ? null : (
        <p class="problem" role="alert">
          {rich("procedures.the-files-are-wrong-since", { problem: <ServiceText>{problem}</ServiceText> })}
        </p>
      )}
      {!procedure.enabled && <p class="notice">{t("procedures.disabled-nothing-starts-it-but")}</p>}
      <Markdown text={description} />
      {mayOperate && <ProcedureActions procedure={procedure} />}
      <Facts
        facts={[
          [t("procedures.version"), <Name>{version}</Name>],
          [t("common.mode"), wordOf(mode)],
          [t("procedures.priority"), wordOf(priority)],
          [t("common.agent"), agent === null ? t("procedures.the-default-one") : <Name>{agent}</Name>],
          [t("procedures.at-once"), t("procedures.n-runs", { n: procedure.max_concurrent })],
          [
            t("procedures.pause-after-a-run"),
            procedure.cooldown_secs === 0 ? t("common.none") : duration(procedure.cooldown_secs * 1000),
          ],
          [t("common.started-by"), <Triggers triggers={triggers} />],
        ]}
      />
      {mayOperate && procedure.enabled && triggers.some(({ type }) => type === "manual") && (
        <RunByHand name={procedure.name} />
      )}
      {mayOperate && <TestRun key={procedure.name} procedure={procedure} />}
      <Section title={t("common.steps")}>
        <ol>
          {steps.map(({ number, title, tools, requires_confirmation: asks, kind }) => (
            <li key={number}>
              <Name>{title}</Name> {kind === "checkpoint" && <span class="mark">{t("procedures.checkpoint")}</span>}{" "}
              {asks && <span class="mark">{t("procedures.asks-first")}</span>}{" "}
              {tools.length > 0 && <span class="hint">{t("procedures.uses", { tools: tools.join(", ") })}</span>}
            </li>
          ))}
        </ol>
      </Section>
      {procedure.enabled && triggers.some(({ type }) => type === "cron") && (
        <Section title={t("procedures.the-clock-starts-it")}>
          <Times days="7" sop={procedure.name} />
        </Section>
      )}
    </>
  );
}
