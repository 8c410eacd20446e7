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
import { count, plain } from "../../text/words.ts";
import { Times } from "./calendar.tsx";
import { ProcedureActions } from "./procedure-actions.tsx";
import { RunByHand } from "./run-by-hand.tsx";
import { Runs } from "./runs.tsx";
import { TestRun } from "./test-run.tsx";
import { Triggers } from "./triggers.tsx";

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
          return wrong ? <Wrong name={name} problem={wrong.problem} /> : <p>No procedure has this name.</p>;
        }}
      </Shown>
      {mayOperate && (
        <Section title="Runs">
          <Runs sop={name} />
        </Section>
      )}
      <p>
        <a href={hrefOf("procedures")}>All procedures</a>
      </p>
    </>
  );
}

function Wrong({ name, problem }: { readonly name: string; readonly problem: string }) {
  const mayOperate = useMayOperate();
  return (
    <div class="problem" role="alert">
      <p>
        Its files are wrong, so it is not loaded. <Name>{problem}</Name>
      </p>
      {mayOperate && (
        <div class="buttons">
          <a class="button" href={hrefOf("edit-procedure", name)}>
            Correct them
          </a>
          <a class="button" href={hrefOf("procedure-changes", name)}>
            Saved changes
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
          The files are wrong since they were changed; the version before counts. <Name>{problem}</Name>
        </p>
      )}
      {!procedure.enabled && (
        <p class="notice">Disabled: nothing starts it but a test run. Requests to its path list it as skipped.</p>
      )}
      <Markdown text={description} />
      {mayOperate && <ProcedureActions procedure={procedure} />}
      <Facts
        facts={[
          ["Version", <Name>{version}</Name>],
          ["Mode", plain(mode)],
          ["Priority", priority],
          ["Agent", agent === null ? "the default one" : <Name>{agent}</Name>],
          ["At once", count(procedure.max_concurrent, "run")],
          ["Pause after a run", procedure.cooldown_secs === 0 ? "none" : duration(procedure.cooldown_secs * 1000)],
          ["Started by", <Triggers triggers={triggers} />],
        ]}
      />
      {mayOperate && procedure.enabled && triggers.some(({ type }) => type === "manual") && (
        <RunByHand name={procedure.name} />
      )}
      {mayOperate && <TestRun key={procedure.name} procedure={procedure} />}
      <Section title="Steps">
        <ol>
          {steps.map(({ number, title, tools, requires_confirmation: asks, kind }) => (
            <li key={number}>
              <Name>{title}</Name> {kind === "checkpoint" && <span class="mark">checkpoint</span>}{" "}
              {asks && <span class="mark">asks first</span>}{" "}
              {tools.length > 0 && <span class="hint">uses {tools.join(", ")}</span>}
            </li>
          ))}
        </ol>
      </Section>
      {procedure.enabled && triggers.some(({ type }) => type === "cron") && (
        <Section title="The clock starts it">
          <Times days="7" sop={procedure.name} />
        </Section>
      )}
    </>
  );
}
