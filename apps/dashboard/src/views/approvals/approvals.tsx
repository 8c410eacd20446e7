/** Pending and answered approvals, and the rules of lasting ones. */
import type { Approval, ApprovalPage, PolicyRule, PolicyRuleList } from "@svc/api";
import { useState } from "preact/hooks";
import { path } from "../../client/api.ts";
import { NotificationSwitch } from "../../components/browser-settings.tsx";
import { Button } from "../../components/button.tsx";
import { Choice } from "../../components/fields.tsx";
import { Command, Empty, Heading, Section } from "../../components/layout.tsx";
import { Pager, Problem, Shown } from "../../components/shown.tsx";
import { visible } from "../../components/text.tsx";
import { useServices } from "../../services.ts";
import { hrefOf } from "../../state/route.ts";
import { useAction } from "../../state/use-action.ts";
import { useList, usePaged } from "../../state/use-reader.ts";
import { rich, t } from "../../texts/texts.ts";
import { ApprovalCard } from "./approval-card.tsx";

const SETTLED = ["", "approved", "rejected", "expired", "cancelled"] as const;

export function Approvals() {
  const [status, setStatus] = useState<(typeof SETTLED)[number]>("");
  const page = usePaged<ApprovalPage>("/api/approvals", ["approvals"], { status, limit: 50 });
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

/** @param most Only the newest of them. */
export function WaitingApprovals({ most }: { readonly most?: number }) {
  const page = usePaged<ApprovalPage>("/api/approvals", ["approvals"], { status: "waiting", limit: 50 });
  return (
    <>
      <Shown read={page}>
        {({ approvals }) =>
          approvals.length === 0 ? (
            <Empty title={t("approvals.no-pending-approvals")}>
              {rich("approvals.in-a-terminal", { command: <Command>svc approvals list</Command> })}
            </Empty>
          ) : (
            <>
              <ul class="cards">
                {approvals.slice(0, most).map((approval) => (
                  <li key={approval.n}>
                    <ApprovalCard approval={approval} />
                  </li>
                ))}
              </ul>
              {most !== undefined && approvals.length > most && (
                <p>
                  <a href={hrefOf("approvals")}>{t("approvals.more", { n: approvals.length - most })}</a>
                </p>
              )}
            </>
          )
        }
      </Shown>
      {most === undefined && <Pager older={page.older} newer={page.newer} label={t("approvals.pages-of-waiting")} />}
    </>
  );
}

function Settled({ approvals }: { readonly approvals: readonly Approval[] }) {
  // Pending approvals are listed above; the API can't exclude them.
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

/** Rules for calls that run without approval, each with a button that revokes it. */
function AlwaysRules() {
  const read = useList<PolicyRuleList>("/api/policy-rules", ["rules"]);
  return (
    <Shown read={read}>
      {({ rules }) =>
        rules.length === 0 ? (
          <Empty title={t("approvals.no-standing-permissions")}>
            {rich("approvals.in-a-terminal", { command: <Command>svc approvals rules</Command> })}
          </Empty>
        ) : (
          <ul class="cards">
            {rules.map((rule) => (
              <li key={rule.id}>
                <Rule rule={rule} />
              </li>
            ))}
          </ul>
        )
      }
    </Shown>
  );
}

function Rule({ rule: { id, agent, tool, pattern } }: { readonly rule: PolicyRule }) {
  const { api, live, announcer } = useServices();
  const revoke = useAction(async () => {
    await api.call(path`/api/policy-rules/${id}`, { method: "DELETE" });
    announcer.say(t("approvals.revoked-such-calls-ask-again"));
    live.markStale(["rules", "audit"]);
  });
  return (
    <article class="card approval" aria-label={t("approvals.always-allowed", { pattern })}>
      <p class="hint">
        {rich("approvals.the-agent-may-use-without", {
          agent: <code>{visible(agent)}</code>,
          tool: <code>{visible(tool)}</code>,
        })}
      </p>
      <pre class="command" tabIndex={0} role="group" aria-label={t("approvals.pattern", { pattern })}>
        <code dir="ltr">{visible(pattern)}</code>
      </pre>
      <Problem error={revoke.error} />
      <div class="buttons">
        <Button label={t("approvals.revoke-2", { pattern })} busy={revoke.isRunning} onPress={() => void revoke.run()}>
          {t("approvals.revoke")}
        </Button>
      </div>
    </article>
  );
}
