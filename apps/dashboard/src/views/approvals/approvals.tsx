/** What waits for a person's yes, and who said what to the rest. */
import { useState } from "preact/hooks";
import type { Approval } from "../../api/governed-shapes.ts";
import { Choice } from "../../parts/choice.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Pager } from "../../parts/pager.tsx";
import { Section } from "../../parts/section.tsx";
import { Shown } from "../../parts/shown.tsx";
import { usePaged } from "../../state/use-paged.ts";
import { ApprovalCard } from "./approval-card.tsx";
import { NotificationSwitch } from "../../notify/notification-switch.tsx";
import { AlwaysRules } from "./always-rules.tsx";
import { WaitingApprovals } from "./waiting-approvals.tsx";
import { t } from "../../texts/texts.ts";

interface Page {
  readonly approvals: readonly Approval[];
  readonly before: number | null;
}

const SETTLED = ["", "approved", "rejected", "expired", "cancelled"] as const;

export function Approvals() {
  const [status, setStatus] = useState<(typeof SETTLED)[number]>("");
  const page = usePaged<Page>("/api/approvals", ["approvals"], { status, limit: 50 });
  return (
    <>
      <Heading title={t("common.approvals")} />
      <Section title={t("approvals.waiting")}>
        <WaitingApprovals />
        <NotificationSwitch />
      </Section>
      <Section title={t("approvals.always-allowed-2")}>
        <AlwaysRules />
      </Section>
      <Section
        title={t("approvals.settled")}
        aside={<Choice label={t("approvals.show")} options={SETTLED} value={status} onChoose={setStatus} />}
      >
        <Shown read={page}>{({ approvals }) => <Settled approvals={approvals} />}</Shown>
        <Pager older={page.older} newer={page.newer} label={t("approvals.pages-of-settled")} />
      </Section>
    </>
  );
}

function Settled({ approvals }: { readonly approvals: readonly Approval[] }) {
  // Those that wait are above; the service can't leave them out of a list of all.
  const settled = approvals.filter(({ status }) => status !== "waiting");
  if (settled.length === 0) return <Empty title={t("approvals.no-answered-approvals-yet")} />;
  return (
    <ul class="cards">
      {settled.map((approval) => (
        <li key={approval.n}>
          <ApprovalCard approval={approval} />
        </li>
      ))}
    </ul>
  );
}
