/** What waits for a person: approvals, and messages that did not get through. */
import type { Status } from "../../api/shapes.ts";
import { Section } from "../../parts/section.tsx";
import { hrefOf } from "../../route/route.ts";
import { duration } from "../../text/time.ts";
import { WaitingApprovals } from "../approvals/waiting-approvals.tsx";

export function Wanting({ messages }: { readonly messages: Status["messages"] }) {
  const { dead, failed, waiting, outgoing, oldest_waiting_secs: oldest } = messages;
  return (
    <div class="pair">
      <Section title="Waiting approvals" aside={<a href={hrefOf("approvals")}>All approvals</a>}>
        <WaitingApprovals most={3} />
      </Section>
      <Section title="Messages" aside={<a href={hrefOf("inbox")}>The inbox</a>}>
        <ul class="figures">
          <Figure n={dead} what="could not be delivered" state="dead" alarming />
          <Figure n={failed} what="could not be answered" state="failed" alarming />
          <Figure n={waiting + outgoing} what="on their way" state="waiting" />
        </ul>
        {oldest === null ? null : <p class="hint">The oldest has waited for {duration(oldest * 1000)}.</p>}
      </Section>
    </div>
  );
}

interface FigureProps {
  readonly n: number;
  readonly what: string;
  readonly state: string;
  readonly alarming?: boolean;
}

function Figure({ n, what, state, alarming = false }: FigureProps) {
  return (
    <li class={alarming && n > 0 ? "figure alarming" : "figure"}>
      <a href={hrefOf("inbox", undefined, { state })}>
        <strong>{n}</strong> {what}
      </a>
    </li>
  );
}
