/** A run, drawn as a line of steps: where it is, where it waits, how long each took. */
import { path } from "../../api/client.ts";
import type { RunDetail } from "../../api/governed-shapes.ts";
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
import { plain } from "../../text/words.ts";
import { RunLine } from "./run-line.tsx";

export function Run({ id }: { readonly id: string }) {
  const { api, live } = useServices();
  const run = useList<RunDetail>(path`/api/sop-runs/${id}`, ["procedures", "approvals"]);
  const cancel = (): Promise<unknown> =>
    api
      .call(path`/api/sop-runs/${id}/cancel`, { method: "POST" })
      .finally(() => live.markStale(["procedures", "approvals"]));
  return (
    <>
      <Heading title={run.data ? `${run.data.test ? "Test run" : "Run"} #${run.data.n} of ${run.data.sop}` : "Run"}>
        {run.data?.ended_at === null && (
          <Confirmed text="Cancel the run" question="Cancel this run?" act={cancel}>
            <p>The step that runs is called off. The steps that are done stay done.</p>
          </Confirmed>
        )}
      </Heading>
      <Shown read={run}>
        {(shown) => (
          <>
            <About run={shown} />
            <Section title="Steps">
              <RunLine run={shown} />
            </Section>
          </>
        )}
      </Shown>
      <p>
        <a href={run.data ? hrefOf("procedures", run.data.sop) : hrefOf("procedures")}>The procedure</a>
      </p>
    </>
  );
}

function About({ run }: { readonly run: RunDetail }) {
  return (
    <>
      <Facts
        facts={[
          ["State", <Badge state={run.status} busy={run.status === "running"} />],
          ["Why", run.reason === null ? undefined : <Name>{run.reason}</Name>],
          ["Problem", run.error === null ? undefined : <code>{run.error}</code>],
          ["Mode", plain(run.mode)],
          ["Test", run.test ? "A test run" : undefined],
          [
            "Goes on from",
            run.retry_of === null ? undefined : (
              <>
                <a href={hrefOf("runs", run.retry_of)}>the run before</a>, from step {run.first_step}
              </>
            ),
          ],
          ["Started by", <Name>{run.started_by}</Name>],
          ["Through", <Name>{`${plain(run.source)} ${run.topic}`}</Name>],
          ["When", <Ago at={run.started_at} />],
          ["Took", <Took from={run.started_at} to={run.ended_at} />],
        ]}
      />
      {run.payload === null ? null : <Json label="Payload" value={run.payload} />}
    </>
  );
}
