/** A run, drawn as a line of steps: where it is, where it waits, how long each took. */
import { path } from "../../api/client.ts";
import type { RunDetail } from "../../api/governed-shapes.ts";
import { Actor } from "../../parts/actor.tsx";
import { Badge } from "../../parts/badge.tsx";
import { Confirmed } from "../../parts/confirmed.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Json } from "../../parts/json.tsx";
import { Name } from "../../parts/name.tsx";
import { Section } from "../../parts/section.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Ago, Took } from "../../parts/time.tsx";
import { hrefOf } from "../../route/route.ts";
import { useServices } from "../../services.ts";
import { useList } from "../../state/use-reader.ts";
import { RunLine } from "./run-line.tsx";
import { rich, t, wordOf } from "../../texts/texts.ts";
import { ServiceText } from "../../parts/service-text.tsx";

export function Run({ id }: { readonly id: string }) {
  const { api, live } = useServices();
  const run = useList<RunDetail>(path`/api/sop-runs/${id}`, ["procedures", "approvals"]);
  const cancel = (): Promise<unknown> =>
    api
      .call(path`/api/sop-runs/${id}/cancel`, { method: "POST" })
      .finally(() => live.markStale(["procedures", "approvals"]));
  return (
    <>
      <Heading
        title={
          run.data
            ? t(run.data.test ? "procedures.test-run-of" : "procedures.run-of", {
                n: String(run.data.n),
                sop: run.data.sop,
              })
            : t("procedures.run")
        }
      >
        {run.data?.ended_at === null && (
          <Confirmed text={t("procedures.cancel-the-run")} question={t("procedures.cancel-this-run")} act={cancel}>
            <p>{t("procedures.the-step-that-runs-is")}</p>
          </Confirmed>
        )}
      </Heading>
      <Shown read={run}>
        {(shown) => (
          <>
            <About run={shown} />
            <Section title={t("common.steps")}>
              <RunLine run={shown} />
            </Section>
          </>
        )}
      </Shown>
      <p>
        <a href={run.data ? hrefOf("procedures", run.data.sop) : hrefOf("procedures")}>
          {t("procedures.the-procedure")}
        </a>
      </p>
    </>
  );
}

function About({ run }: { readonly run: RunDetail }) {
  return (
    <>
      <Facts
        facts={[
          [t("common.state"), <Badge state={run.status} busy={run.status === "running"} />],
          [t("procedures.why"), run.reason === null ? undefined : <ServiceText>{run.reason}</ServiceText>],
          [t("common.problem"), run.error === null ? undefined : <code>{run.error}</code>],
          [t("common.mode"), wordOf(run.mode)],
          [t("procedures.test-fact"), run.test ? t("procedures.a-test-run") : undefined],
          [
            t("procedures.goes-on-from"),
            run.retry_of === null ? undefined : (
              <>
                {rich("procedures.from-step", {
                  run: <a href={hrefOf("runs", run.retry_of)}>{t("procedures.the-run-before")}</a>,
                  step: run.first_step,
                })}
              </>
            ),
          ],
          [t("common.started-by"), <Actor>{run.started_by}</Actor>],
          [
            t("procedures.through"),
            <Name>{run.topic === run.sop ? wordOf(run.source) : `${wordOf(run.source)} ${run.topic}`}</Name>,
          ],
          [t("common.when"), <Ago at={run.started_at} />],
          [t("common.took"), <Took from={run.started_at} to={run.ended_at} />],
        ]}
      />
      {run.payload === null ? null : <Json label={t("procedures.payload")} value={run.payload} />}
    </>
  );
}
