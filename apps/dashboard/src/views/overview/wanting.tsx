/** What waits for a person: approvals, and messages that did not get through. */
import type { Status } from "../../api/shapes.ts";
import { Section } from "../../parts/section.tsx";
import { hrefOf } from "../../route/route.ts";
import { duration } from "../../text/time.ts";
import { WaitingApprovals } from "../approvals/waiting-approvals.tsx";
import { t } from "../../texts/texts.ts";

export function Wanting({ messages }: { readonly messages: Status["messages"] }) {
  const { dead, failed, waiting, outgoing, oldest_waiting_secs: oldest } = messages;
  return (
    <div class="pair">
      <Section
        title={t("overview.waiting-approvals")}
        aside={<a href={hrefOf("approvals")}>{t("overview.all-approvals")}</a>}
      >
        <WaitingApprovals most={3} />
      </Section>
      <Section title={t("common.messages")} aside={<a href={hrefOf("inbox")}>{t("overview.the-inbox")}</a>}>
        <ul class="figures">
          <Figure n={dead} what={t("overview.could-not-be-delivered")} state="dead" alarming />
          <Figure n={failed} what={t("overview.could-not-be-answered")} state="failed" alarming />
          <Figure n={waiting + outgoing} what={t("overview.on-their-way")} state="waiting" />
        </ul>
        {oldest === null ? null : (
          <p class="hint">{t("overview.the-oldest-has-waited-for", { duration: duration(oldest * 1000) })}</p>
        )}
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
